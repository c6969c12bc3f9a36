// Standard output that may be a file. Node ignores short writes, so that a full disk would silently truncate the
// output: such output is written here instead.

import { fstatSync } from 'node:fs';
import { writeAll } from './own-file.ts';

let file: boolean | undefined;

/** A file, or a device other than a terminal. */
export function isOutputFile(): boolean {
  if (file === undefined) {
    const stat = fstatSync(1);
    file = stat.isFile() || (stat.isCharacterDevice() && process.stdout.isTTY !== true);
  }
  return file;
}

/** Resolves when written, rejects with the system's error; EPIPE is not an error. */
export async function writeOutput(text: string): Promise<void> {
  if (isOutputFile()) {
    writeAll(1, Buffer.from(text));
    return;
  }
  await new Promise<void>((resolve, reject) => {
    process.stdout.once('error', () => undefined);
    process.stdout.write(text, (cause) => {
      const { code } = (cause ?? {}) as NodeJS.ErrnoException;
      if (code === undefined || code === 'EPIPE') resolve();
      else reject(cause);
    });
  });
}
