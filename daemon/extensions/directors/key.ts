// Keys of the hash and shard directors: the last four bytes of a string's SHA-256, little-endian as in Varnish, so
// that a mixed fleet sends a key to the same backend.

import { createHash, hash } from 'node:crypto';

/** One more than the largest key. */
export const KEYS = 2 ** 32;

/** Offset of the last four bytes in a hex digest. */
const LAST = 56;
/** Characters with the same encoding in Latin-1 and UTF-8. */
const PLAIN = /^[\0-\x7f]*$/;

/** The key of a string, 0 to 2^32 - 1. Its characters are bytes; an unset string counts as empty. */
export function stringKey(text: string | null): number {
  const bytes = text ?? '';
  const digest = hash('sha256', PLAIN.test(bytes) ? bytes : Buffer.from(bytes, 'latin1'));
  const word = Number.parseInt(digest.slice(LAST), 16);
  // Hex digits are big-endian.
  const swapped = ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
  return swapped >>> 0;
}

/** The key of a lookup hash: its first four bytes. */
export function lookupKey(hashKey: string): number {
  return createHash('sha256').update(hashKey, 'latin1').digest().readUInt32BE(0);
}

/** The key of a blob: its first four bytes, left-padded with zeros; null if empty. */
export function blobKey(blob: Uint8Array | null | undefined): number | null {
  if (blob === null || blob === undefined || blob.length === 0) return null;
  let key = 0;
  for (const byte of blob.subarray(0, 4)) key = key * 256 + byte;
  return key;
}
