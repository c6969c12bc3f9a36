// The output of a log tool: standard output, or a file that can be moved and reopened. Files are written
// synchronously; standard output may be a slow pipe, which applies backpressure. A write error on a file ends the
// tool, as it ends varnishlog: a recording with a truncated record cannot be continued.

import { closeSync, fstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { openOutput, writeAll } from '../../protocol/files/own-file.ts';
import { Untrusted } from '../../protocol/files/trust.ts';
import { flushOut, outputFailed, writeOut } from './standard-output.ts';

export class OutputFile {
  private readonly path: string | undefined;
  private readonly mode: number;
  private readonly head: Uint8Array | null;
  private fd = -1;

  /**
   * Throws the system's error if the file cannot be opened.
   * @param path a file, or `-` or undefined for standard output
   * @param mode of a new file
   * @param head first bytes of an empty file and of standard output
   */
  constructor(path: string | undefined, append: boolean, mode: number, head: Uint8Array | null = null) {
    this.path = path === undefined || path === '-' ? undefined : resolve(path);
    this.mode = mode;
    this.head = head;
    this.reopen(append);
    if (this.path === undefined && head !== null) writeOut(head);
  }

  /** Switches to a new file of the same name after the old one was moved. */
  reopen(append = true): void {
    if (this.path === undefined) return;
    const fd = this.open(this.path, append);
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = fd;
    if (this.head !== null && fstatSync(fd).size === 0) this.append(this.head);
  }

  private open(path: string, append: boolean): number {
    try {
      return openOutput(path, this.mode, append);
    } catch (cause) {
      throw cause instanceof Untrusted ? new Untrusted(`${path}: ${cause.message}`, { cause }) : cause;
    }
  }

  /** False if the caller should wait for drain(). */
  write(data: Buffer): boolean {
    if (data.length === 0) return true;
    if (this.fd < 0) return writeOut(data);
    this.append(data);
    return true;
  }

  private append(data: Uint8Array): void {
    try {
      writeAll(this.fd, data);
    } catch (cause) {
      outputFailed(this.path as string, cause);
    }
  }

  drain(then: () => void): void {
    process.stdout.once('drain', then);
  }

  /** Resolves when all output is flushed. */
  finish(): Promise<void> {
    if (this.fd >= 0) closeSync(this.fd);
    return this.path === undefined ? flushOut() : Promise.resolve();
  }
}
