// Where proxylog's groups go: text, NDJSON or the field's binary file, on standard output or in a file. A file
// is written at once and whole; standard output may be a slow pipe, and the source is then asked to wait.

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { LOG_FILE_MAGIC } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { groupJson } from '../format/log-json.ts';
import { groupText } from '../format/log-text.ts';
import { systemText } from './attach.ts';
import { ArgumentError, type LogArguments } from './log-arguments.ts';

export class LogOutput {
  private readonly verbose: boolean;
  private readonly form: 'text' | 'json' | 'binary';
  private readonly path: string | undefined;
  private readonly append: boolean;
  private fd = -1;

  private constructor(a: LogArguments) {
    this.verbose = a.verbose;
    this.path = a.output === undefined || a.output === '-' ? undefined : resolve(a.output);
    this.append = a.append;
    this.form = a.json ? 'json' : a.output === undefined || a.ascii ? 'text' : 'binary';
    this.reopen(this.append);
    if (this.path === undefined && this.form === 'binary') process.stdout.write(LOG_FILE_MAGIC);
  }

  static open(a: LogArguments): LogOutput | ArgumentError {
    try {
      return new LogOutput(a);
    } catch (error) {
      return new ArgumentError(`Cannot open output file (${systemText(error)})`);
    }
  }

  /** Goes over to a new file of the same name, after the old one was moved away; or what is wrong. */
  rotate(): ArgumentError | null {
    try {
      this.reopen(true);
      return null;
    } catch (error) {
      return new ArgumentError(`Cannot open output file (${systemText(error)})`);
    }
  }

  /** Writes groups; false when the source should wait for drain(). */
  write(groups: readonly LogTransaction[][]): boolean {
    const data = this.encode(groups);
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
    return new Promise((resolve) => process.stdout.write('', () => resolve()));
  }

  private reopen(append: boolean): void {
    if (this.path === undefined) return;
    const fd = openSync(this.path, append ? 'a' : 'w', 0o644);
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = fd;
    if (this.form === 'binary' && fstatSync(this.fd).size === 0) writeSync(this.fd, LOG_FILE_MAGIC);
  }

  private encode(groups: readonly LogTransaction[][]): Buffer {
    if (this.form === 'binary') return Buffer.concat(groups.flat().map((tx) => tx.records));
    if (this.form === 'json') return Buffer.from(groups.map(groupJson).join(''), 'utf8');
    return Buffer.from(groups.map((group) => groupText(group, this.verbose)).join(''), 'latin1');
  }
}
