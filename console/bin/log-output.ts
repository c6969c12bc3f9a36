// Output of proxylog's groups: text, NDJSON or Varnish's binary format.

import { LOG_FILE_MAGIC } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { systemText } from '../../protocol/system-text.ts';
import { groupJson } from '../format/log-json.ts';
import { groupText } from '../format/log-text.ts';
import { OutputFile } from '../process/output-file.ts';
import { ArgumentError, type LogArguments } from './log-arguments.ts';

export class LogOutput {
  private readonly verbose: boolean;
  private readonly form: 'text' | 'json' | 'binary';
  private readonly file: OutputFile;

  private constructor(a: LogArguments) {
    this.verbose = a.verbose;
    this.form = a.json ? 'json' : a.output === undefined || a.ascii ? 'text' : 'binary';
    // Logs contain cookies and other client data.
    this.file = new OutputFile(a.output, a.append, 0o600, this.form === 'binary' ? LOG_FILE_MAGIC : null);
  }

  static open(a: LogArguments): LogOutput | ArgumentError {
    try {
      return new LogOutput(a);
    } catch (error) {
      return cannotOpen(error);
    }
  }

  /** Switches to a new file of the same name after the old one was moved; returns an error or null. */
  rotate(): ArgumentError | null {
    try {
      this.file.reopen();
      return null;
    } catch (error) {
      return cannotOpen(error);
    }
  }

  /** Writes groups; false if the source should wait for drain(). */
  write(groups: readonly LogTransaction[][]): boolean {
    return this.file.write(this.encode(groups));
  }

  drain(then: () => void): void {
    this.file.drain(then);
  }

  /** Resolves when all output is flushed. */
  finish(): Promise<void> {
    return this.file.finish();
  }

  private encode(groups: readonly LogTransaction[][]): Buffer {
    if (this.form === 'binary') return Buffer.concat(groups.flat().map((tx) => tx.records));
    if (this.form === 'json') return Buffer.from(groups.map(groupJson).join(''), 'utf8');
    return Buffer.from(groups.map((group) => groupText(group, this.verbose)).join(''), 'latin1');
  }
}

function cannotOpen(error: unknown): ArgumentError {
  return new ArgumentError(`Cannot open output file (${systemText(error)})`);
}
