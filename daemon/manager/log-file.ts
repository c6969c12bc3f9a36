// --log-file: what the manager logs, a line a message with its time, appended to a file.
//
// The file is trusted like every other that is written to for long (protocol/files/): ours or root's, out of others'
// reach, never a device or a pipe, which could make the manager wait. One that was renamed or removed, as logrotate
// does it, is opened again before the next line. A write that fails (a full disk) is reported once, counted, and tried
// again with every line.

import { closeSync, fstatSync, statSync, writeSync } from 'node:fs';
import { openOutput } from '../../protocol/files/own-file.ts';
import { kindOf, Untrusted } from '../../protocol/files/trust.ts';
import { localStamp } from '../../protocol/local-time.ts';
import { systemText } from '../../protocol/system-text.ts';

const MODE = 0o640;

/** As writeSync: returns how many bytes were written. */
export type WriteSome = (fd: number, bytes: Uint8Array, from?: number) => number;

export class LogFile {
  readonly #path: string;
  /** Reports the trouble of this file somewhere else. */
  readonly #trouble: (text: string) => void;
  readonly #writeSome: WriteSome;
  #fd: number;
  #lost = 0;
  /** The last line was cut short. */
  #cut = false;
  /** What was reported of the last failure to open the file again, so that it is reported once. */
  #reported = '';

  /** Throws Untrusted, or the system's error. */
  constructor(path: string, trouble: (text: string) => void, writeSome: WriteSome = writeSync) {
    this.#path = path;
    this.#trouble = trouble;
    this.#writeSome = writeSome;
    this.#fd = openLog(path);
  }

  /** Lines within a message follow indented. */
  write(line: string): void {
    if (this.#hasMoved()) this.reopen();
    const missing =
      this.#lost === 0
        ? ''
        : `${localStamp(new Date())} Warning: ${this.#lost} lines could not be written here\n`;
    const bytes = Buffer.from(
      `${this.#cut ? '\n' : ''}${missing}${localStamp(new Date())} ${line.replaceAll('\n', '\n\t')}\n`,
    );
    try {
      const written = this.#writeSome(this.#fd, bytes);
      this.#cut = written < bytes.length;
      // What remains tells the reason, where there still is one.
      if (this.#cut) this.#writeSome(this.#fd, bytes, written);
      this.#cut = false;
      this.#lost = 0;
    } catch (cause) {
      if (this.#lost++ === 0) {
        this.#trouble(
          `Cannot write to the log file ${this.#path}: ${systemText(cause)}; lines are lost and counted until it can be written to again: make room`,
        );
      }
    }
  }

  /** Opens what is at the path now; where that fails, goes on with the file that is open. */
  reopen(): void {
    try {
      const fd = openLog(this.#path);
      closeSync(this.#fd);
      this.#fd = fd;
      this.#cut = false;
      this.#reported = '';
    } catch (cause) {
      const why = systemText(cause);
      if (why === this.#reported) return;
      this.#reported = why;
      this.#trouble(
        `Cannot open the log file ${this.#path} again: ${why}; the log goes on in the file that was there before`,
      );
    }
  }

  #hasMoved(): boolean {
    try {
      const there = statSync(this.#path, { throwIfNoEntry: false });
      const open = fstatSync(this.#fd);
      return there === undefined || there.ino !== open.ino || there.dev !== open.dev;
    } catch {
      return true;
    }
  }
}

function openLog(path: string): number {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile()) {
    throw new Untrusted(
      `It is ${kindOf(there)} and no file: name a file, which is made when it is not there`,
    );
  }
  return openOutput(path, MODE, true);
}
