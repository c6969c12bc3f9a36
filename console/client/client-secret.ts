// The secret of -S, as a tool reads it: a file that others can write is refused, one that others can read is reported.

import { readSecretFile } from '../../protocol/files/secret-file.ts';
import { systemText } from '../../protocol/system-text.ts';

/** Throws an Error with the file, the problem and the remedy. */
export function readSecret(path: string): Buffer {
  try {
    const { bytes, warning } = readSecretFile(path, false);
    if (warning !== '') process.stderr.write(`Warning: the secret ${path}: ${warning}\n`);
    return bytes;
  } catch (cause) {
    throw new Error(`cannot read the secret ${path}: ${systemText(cause)}`, { cause });
  }
}
