// The manager's log: standard error in the foreground, syslog in the background, and a file with --log-file, instead of
// syslog or in addition to standard error.
//
// Under systemd standard error is the journal's, which takes a priority before each line (sd-daemon(3)). Multi-line
// messages such as panics are logged whole.

import { closeSync, fstatSync, statSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { openOutput } from '../../../protocol/files/own-file.ts';
import { kindOf, Untrusted } from '../../../protocol/files/trust.ts';
import { localStamp } from '../../../protocol/local-time.ts';
import { systemText } from '../../../protocol/system-text.ts';
import { Syslog, type SyslogSettings } from '../../syslog.ts';
import { OptionError } from '../options/option-error.ts';
import type { Options } from '../options/options.ts';

type Level = 'debug' | 'info' | 'warning' | 'error';

export type Log = (level: Level, text: string) => void;

/** Severities of syslog(3). */
const SEVERITY: Readonly<Record<Level, number>> = { error: 3, warning: 4, info: 6, debug: 7 };
/** Varnish's syslog facility. */
const LOG_LOCAL0 = 16 << 3;

export interface DaemonLogParts {
  /** Standard error of the process. */
  stderr: (text: string) => void;
  /** In the background: standard error of the starting process, while it waits. */
  starter: (text: string) => void;
  /** A different socket or program, for tests. */
  syslog?: SyslogSettings;
}

export interface DaemonLog {
  write: Log;
  /** Reopens --log-file. */
  reopen(): void;
  /** Resolves when all messages have been handed over, or after a time limit. */
  close(): Promise<void>;
}

/** Throws OptionError if --log-file cannot be opened. */
export function openDaemonLog(o: Pick<Options, 'mode' | 'logFile'>, parts: DaemonLogParts): DaemonLog {
  const background = o.mode === 'daemon';
  const syslog = background ? new Syslog(parts.syslog) : null;
  const toSyslog: Log = (level, text) => syslog?.send(LOG_LOCAL0 | SEVERITY[level], text);
  const journal = isJournal(process.env.JOURNAL_STREAM);
  const toStderr: Log = (level, text) => {
    const line = labelled(level, text);
    parts.stderr(`${journal ? line.replace(/^/gm, `<${SEVERITY[level]}>`) : line}\n`);
  };
  const first = background ? toSyslog : toStderr;
  let file: LogFile | null = null;
  if (o.logFile !== null) {
    const path = resolve(o.logFile);
    try {
      file = new LogFile(path, (text) => first('error', text));
    } catch (cause) {
      const remedy = cause instanceof Untrusted ? '' : ' (name a file in an existing, writable directory)';
      throw new OptionError(`--log-file: Cannot open '${path}': ${systemText(cause)}${remedy}`, false);
    }
  }
  const write: Log = (level, given) => {
    const text = readable(given);
    file?.write(labelled(level, text));
    if (file === null || !background) first(level, text);
    // The starting process shows warnings and errors until the daemon serves; afterwards it is gone.
    if (background && SEVERITY[level] < SEVERITY.info) parts.starter(`${labelled(level, text)}\n`);
  };
  const missing = file === null ? (syslog?.missing ?? null) : null;
  if (missing !== null) {
    write(
      'warning',
      `nothing can be logged in the background: ${missing}. Name a file with --log-file, or stay in the foreground with -F`,
    );
  }
  return { write, reopen: () => file?.reopen(), close: () => syslog?.close() ?? Promise.resolve() };
}

function labelled(level: Level, text: string): string {
  return `${level[0]?.toUpperCase()}${level.slice(1)}: ${text}`;
}

/** Escapes control characters: output of a worker may contain text of clients, which must not reach a terminal raw. */
function readable(text: string): string {
  const code = (c: string): string => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`;
  return text.replace(/\r\n/g, '\n').replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, code);
}

/** Whether standard error is the journal stream that systemd created for this service. */
export function isJournal(stream: string | undefined, fd = 2): boolean {
  if (stream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

const MODE = 0o640;

/** As writeSync(): returns the number of bytes written. */
export type WriteSome = (fd: number, bytes: Uint8Array, from?: number) => number;

export class LogFile {
  readonly #path: string;
  /** Reports problems of this file elsewhere. */
  readonly #trouble: (text: string) => void;
  readonly #writeSome: WriteSome;
  #fd: number;
  #lost = 0;
  /** The last line was truncated. */
  #cut = false;
  /** The last reported reopen error, to report it only once. */
  #reported = '';

  /** Throws Untrusted, or the system's error. */
  constructor(path: string, trouble: (text: string) => void, writeSome: WriteSome = writeSync) {
    this.#path = path;
    this.#trouble = trouble;
    this.#writeSome = writeSome;
    this.#fd = openLog(path);
  }

  /** Continuation lines of a message are indented. */
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
      // Writing the rest raises the error that cut it short, if it persists.
      if (this.#cut) this.#writeSome(this.#fd, bytes, written);
      this.#cut = false;
      this.#lost = 0;
    } catch (cause) {
      if (this.#lost++ === 0) {
        this.#trouble(
          `Cannot write to the log file ${this.#path}: ${systemText(cause)}; lines are lost and counted until writing succeeds again: free disk space`,
        );
      }
    }
  }

  /** Opens the file at the path; if that fails, continues with the open one. */
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
        `Cannot reopen the log file ${this.#path}: ${why}; logging continues in the previous file`,
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
