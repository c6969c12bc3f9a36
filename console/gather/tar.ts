// Plain tar archives (ustar) of small text files, in memory. Names are short ASCII paths; nothing else of the format is
// needed here, and nothing else is written.

export interface TarEntry {
  /** At most 99 bytes, relative, with forward slashes. */
  name: string;
  data: Buffer;
}

const BLOCK = 512;

/** @param mtime seconds since 1970, of all entries */
export function tarArchive(entries: readonly TarEntry[], mtime: number): Buffer {
  const parts: Buffer[] = [];
  for (const { name, data } of entries) {
    parts.push(tarHead(name, data.length, mtime), data, Buffer.alloc(-data.length & (BLOCK - 1)));
  }
  // Two empty blocks end an archive.
  parts.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(parts);
}

function tarHead(name: string, size: number, mtime: number): Buffer {
  if (name === '' || name.length > 99 || /[^\x21-\x7e]/.test(name))
    throw new Error(`no name for tar: ${name}`);
  const head = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number): void => {
    head.write(Math.floor(value).toString(8).padStart(digits, '0'), at, 'latin1');
  };
  head.write(name, 0, 'latin1');
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(mtime, 136, 11);
  head.write('        0', 148, 'latin1');
  head.write('ustar\x0000', 257, 'latin1');
  let sum = 0;
  for (const byte of head) sum += byte;
  octal(sum, 148, 6);
  head[154] = 0;
  return head;
}
