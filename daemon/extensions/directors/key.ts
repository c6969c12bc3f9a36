// The number a string stands for in a hash or shard director: the last four bytes of its SHA-256, read as Varnish
// reads them (little-endian), so that a mixed fleet sends a key to the same backend.

import { createHash, hash } from 'node:crypto';

/** One more than the largest key. */
export const KEYS = 2 ** 32;

/** Where the last four bytes begin among the digits of a digest. */
const LAST = 56;
/** Characters that are the same byte in Latin-1 and UTF-8. */
const PLAIN = /^[\0-\x7f]*$/;

/** 0 to 2^32 - 1. The string's characters are bytes; an unset one counts as empty. */
export function stringKey(text: string | null): number {
  const bytes = text ?? '';
  const digest = hash('sha256', PLAIN.test(bytes) ? bytes : Buffer.from(bytes, 'latin1'));
  const word = Number.parseInt(digest.slice(LAST), 16);
  // The digits stand for the highest byte first.
  const swapped = ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
  return swapped >>> 0;
}

/** The key of a lookup hash: its first four bytes. */
export function lookupKey(hashKey: string): number {
  return createHash('sha256').update(hashKey, 'latin1').digest().readUInt32BE(0);
}

/** The key of a blob: its first four bytes, with zeros before a shorter one; null for none. */
export function blobKey(blob: Uint8Array | null | undefined): number | null {
  if (blob === null || blob === undefined || blob.length === 0) return null;
  let key = 0;
  for (const byte of blob.subarray(0, 4)) key = key * 256 + byte;
  return key;
}
