// The manners of the tools' outputs: a reader that has gone away is no error, a terminal that has gone is a hangup, and
// whatever else keeps output from being written ends the tool with status 1, the place and the reason.

import { writeAll } from '../../protocol/files/own-file.ts';
import { isOutputFile } from '../../protocol/files/stdout-writer.ts';
import { systemText } from '../../protocol/system-text.ts';
import { HUNG_UP, leave } from './leave.ts';

let name = 'proxyd';

/** To be called once, by the tool's main program. */
export function keepOutputManners(tool: string): void {
  name = tool;
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EIO' && process.stdout.isTTY) leave(HUNG_UP);
    else outputFailed('standard output', cause);
  });
  // There is no place left to report it.
  process.stderr.on('error', () => {});
}

/** Ends the process; quietly where the reader has gone. */
export function outputFailed(where: string, cause: unknown): never {
  const closed = (cause as NodeJS.ErrnoException).code === 'EPIPE';
  if (!closed) process.stderr.write(`${name}: cannot write to ${where}: ${systemText(cause)}\n`);
  process.exit(closed ? 0 : 1);
}

/** Writes it; false when the caller should wait for `drain`. */
export function writeOut(data: string | Uint8Array): boolean {
  if (!isOutputFile()) return process.stdout.write(data);
  try {
    writeAll(1, typeof data === 'string' ? Buffer.from(data) : data);
  } catch (cause) {
    outputFailed('standard output', cause);
  }
  return true;
}

/** Resolves when everything is out. */
export function flushOut(): Promise<void> {
  if (process.stdout.writableLength === 0) return Promise.resolve();
  return new Promise((done) => process.stdout.write('', () => done()));
}
