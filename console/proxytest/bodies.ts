// Generated bodies of a given length, and gzip bodies.

import { gunzipSync, gzipSync } from 'node:zlib';

const FIRST = 0x21;
const LAST = 0x7e;

/** Lines of 63 printable characters, each line one character further; `isRandom`: any printable ones. */
export function bodyOfLength(length: number, isRandom = false): Buffer {
  const out = Buffer.alloc(length);
  let [line, next] = [FIRST, FIRST];
  for (let i = 0; i < length; i++) {
    if (i % 64 === 63) {
      out[i] = 0x0a;
      if (++line === LAST) line = FIRST;
      next = line;
    } else if (isRandom) out[i] = 0x20 + Math.floor(Math.random() * 95);
    else {
      out[i] = next;
      if (++next === LAST) next = FIRST;
    }
  }
  if (length > 0) out[length - 1] = 0x0a;
  return out;
}

/** Digits from 0 to 7 over and over, as expect_pattern wants them. */
export function digits(length: number): Buffer {
  return Buffer.alloc(length, '01234567');
}

/** Decimal digits that count down to 0, for -hdrlen. */
export function countdown(length: number): string {
  let out = '';
  for (let i = length - 1; i >= 0; i--) out += i % 10;
  return out;
}

/** @param level 0 to 9, as zlib has it */
export function packed(body: Uint8Array, level: number): Buffer {
  return gzipSync(body, { level });
}

/** The decompressed body, or the error. */
export function unpacked(body: Uint8Array): Buffer | string {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return 'body does not begin as gzip does';
  try {
    return gunzipSync(body);
  } catch (cause) {
    return (cause as Error).message;
  }
}
