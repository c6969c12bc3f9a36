// Error handling of tools' outputs: EPIPE is not an error, a vanished terminal is a hangup, and any other write error
// ends the tool with status 1 and a message.

import { writeAll } from '../../protocol/files/own-file.ts';
import { isOutputFile } from '../../protocol/files/stdout-writer.ts';
import { systemText } from '../../protocol/system-text.ts';
import { HUNG_UP, leave } from './leave.ts';

let name = 'proxyd';

/** Called once, by the tool's main program. */
export function keepOutputManners(tool: string): void {
  name = tool;
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EIO' && process.stdout.isTTY) leave(HUNG_UP);
    else outputFailed('standard output', cause);
  });
  // Nowhere left to report it.
  process.stderr.on('error', () => {});
}

/** Ends the process; silently after EPIPE. */
export function outputFailed(where: string, cause: unknown): never {
  const closed = (cause as NodeJS.ErrnoException).code === 'EPIPE';
  if (!closed) process.stderr.write(`${name}: cannot write to ${where}: ${systemText(cause)}\n`);
  process.exit(closed ? 0 : 1);
}

/** Writes it; false if the caller should wait for `drain`. */
export function writeOut(data: string | Uint8Array): boolean {
  if (!isOutputFile()) return process.stdout.write(data);
  try {
    writeAll(1, typeof data === 'string' ? Buffer.from(data) : data);
  } catch (cause) {
    outputFailed('standard output', cause);
  }
  return true;
}

/** Resolves when all output is flushed. */
export function flushOut(): Promise<void> {
  if (process.stdout.writableLength === 0) return Promise.resolve();
  return new Promise((done) => process.stdout.write('', () => done()));
}
