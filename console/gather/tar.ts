// A tar archive of texts, in memory.

import { pack } from 'tar-stream';

export interface TarEntry {
  /** Relative, with forward slashes. */
  name: string;
  data: Buffer;
}

/**
 * Entries are readable by the owner only.
 * @param mtime of all entries
 */
export async function tarArchive(entries: readonly TarEntry[], mtime: Date): Promise<Buffer> {
  const archive = pack();
  for (const { name, data } of entries) archive.entry({ name, mtime, mode: 0o600 }, data);
  archive.finalize();
  const parts: Buffer[] = [];
  for await (const part of archive) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
