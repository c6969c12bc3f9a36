// The key that signs readers' cookies. Whoever can read it can write any cookie, so the file has to be its owner's
// alone; it is read once, when the program is loaded, and no message shows anything of it.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { ExtensionError } from '../../contract/failure.ts';

/** Bytes: as many as the hash gives, and far more than anybody writes. */
const SHORTEST = 32;
const LONGEST = 4096;

/**
 * The bytes of a key file, without a line end after them.
 * @throws ExtensionError when it cannot be read, others could read it, or it is too short
 */
export function readSigningKey(path: string): Buffer {
  const refuse = (why: string): never => {
    throw new ExtensionError(`the key file "${path}" ${why}`);
  };
  let bytes: Buffer;
  try {
    const fd = openSync(path, 'r');
    try {
      // Asked of what is open: the name may mean another file by now.
      const stat = fstatSync(fd);
      if (!stat.isFile()) refuse('is no regular file');
      if ((stat.mode & 0o077) !== 0) refuse('may be used by its owner alone: chmod 600');
      if (stat.size > LONGEST) refuse(`has more than ${LONGEST} bytes`);
      bytes = Buffer.alloc(LONGEST);
      bytes = bytes.subarray(0, readSync(fd, bytes, 0, LONGEST, 0));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof ExtensionError) throw error;
    return refuse(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (bytes[end - 1] === 0x0d) end--;
  if (end < SHORTEST) refuse(`has to hold ${SHORTEST} bytes or more`);
  return bytes.subarray(0, end);
}
