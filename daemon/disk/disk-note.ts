// A short text beside the objects, for the worker: one sector of one file, so that it is the old or the new one after a loss of power.

import { crc32 } from 'node:zlib';
import type { DiskFile, DiskFiles } from './disk-files.ts';

const NAME = 'note';
const SECTOR = 512;
/** A checksum in hexadecimal digits precedes the text. */
const SUM = 8;

/** Null when there is none, or it is damaged. */
export async function readNote(files: DiskFiles): Promise<string | null> {
  if (!(await files.names()).includes(NAME)) return null;
  const file = await files.open(NAME);
  try {
    const bytes = Buffer.alloc(SECTOR);
    await file.read(bytes, 0);
    const text = bytes.toString('latin1', SUM).replace(/\0+$/, '');
    return bytes.toString('latin1', 0, SUM) === sumOf(text) ? text : null;
  } finally {
    await file.close();
  }
}

/** @param text of ASCII, at most 500 characters */
export async function writeNote(files: DiskFiles, text: string): Promise<void> {
  const bytes = Buffer.alloc(SECTOR);
  bytes.write(sumOf(text) + text, 'latin1');
  const isThere = (await files.names()).includes(NAME);
  const file: DiskFile = isThere ? await files.open(NAME) : await files.create(NAME);
  try {
    await file.write(bytes, 0);
  } finally {
    await file.close();
  }
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(SUM, '0');
}
