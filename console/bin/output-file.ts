// Where a log tool writes: standard output, or a file that can be moved away and opened anew. A file is written at
// once and whole; standard output may be a slow pipe, and whoever writes is then asked to wait.

import { closeSync, fstatSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { openOutput } from '../../protocol/files/own-file.ts';
import { Untrusted } from '../../protocol/files/trust.ts';

export class OutputFile {
  private readonly path: string | undefined;
  private readonly mode: number;
  private readonly head: Uint8Array | null;
  private fd = -1;

  /**
   * Throws the system's error when the file cannot be opened.
   * @param path a file, or `-` or undefined for standard output
   * @param mode of a new file
   * @param head what a file that is empty begins with, and standard output
   */
  constructor(path: string | undefined, append: boolean, mode: number, head: Uint8Array | null = null) {
    this.path = path === undefined || path === '-' ? undefined : resolve(path);
    this.mode = mode;
    this.head = head;
    this.reopen(append);
    if (this.path === undefined && head !== null) process.stdout.write(head);
  }

  /** Goes over to a new file of the same name, after the old one was moved away. */
  reopen(append = true): void {
    if (this.path === undefined) return;
    const fd = this.open(this.path, append);
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = fd;
    if (this.head !== null && fstatSync(fd).size === 0) writeSync(fd, this.head);
  }

  private open(path: string, append: boolean): number {
    try {
      return openOutput(path, this.mode, append);
    } catch (cause) {
      throw cause instanceof Untrusted ? new Untrusted(`${path}: ${cause.message}`, { cause }) : cause;
    }
  }

  /** False when the caller should wait for drain(). */
  write(data: Buffer): boolean {
    if (data.length === 0) return true;
    if (this.fd < 0) return process.stdout.write(data);
    for (let at = 0; at < data.length; ) at += writeSync(this.fd, data, at);
    return true;
  }

  drain(then: () => void): void {
    process.stdout.once('drain', then);
  }

  /** Resolves when everything is out. */
  finish(): Promise<void> {
    if (this.fd >= 0) closeSync(this.fd);
    if (this.path !== undefined) return Promise.resolve();
    return new Promise((done) => process.stdout.write('', () => done()));
  }
}
