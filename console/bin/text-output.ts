// Lines of latin1 text on standard output or in a file that can be moved away and opened anew.

import { closeSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';

export class TextOutput {
  private readonly path: string | undefined;
  private fd = -1;

  /** Throws the system's error when the file cannot be opened. */
  constructor(path: string | undefined, append: boolean) {
    this.path = path === undefined || path === '-' ? undefined : resolve(path);
    this.reopen(append);
  }

  reopen(append = true): void {
    if (this.path === undefined) return;
    const fd = openSync(this.path, append ? 'a' : 'w', 0o644);
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = fd;
  }

  /** False when the caller should wait for drain(). */
  write(text: string): boolean {
    if (text === '') return true;
    const data = Buffer.from(text, 'latin1');
    if (this.fd < 0) return process.stdout.write(data);
    for (let at = 0; at < data.length; ) at += writeSync(this.fd, data, at);
    return true;
  }

  drain(then: () => void): void {
    process.stdout.once('drain', then);
  }

  finish(): Promise<void> {
    if (this.fd >= 0) closeSync(this.fd);
    if (this.path !== undefined) return Promise.resolve();
    return new Promise((done) => process.stdout.write('', () => done()));
  }
}
