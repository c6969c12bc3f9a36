// The frame of a multipart/byteranges body (RFC 9110 section 14.6): what stands around its parts.

import { randomBytes } from 'node:crypto';
import type { Span } from './range.ts';

/** Parts of a body in the order in which they are sent, none empty. */
export interface ByteParts {
  readonly spans: readonly Span[];
  readonly boundary: string;
  /** In front of each part. */
  readonly heads: readonly Buffer[];
  readonly end: Buffer;
  /** Bytes of all parts with what stands around them. */
  readonly length: number;
}

/** @param type the whole body's Content-Type; `length` are its bytes */
export function byteParts(type: string | null, spans: readonly Span[], length: number): ByteParts {
  // Not to be guessed: nobody can have a body stored that holds it.
  const boundary = randomBytes(15).toString('hex');
  const ofType = type === null ? '' : `Content-Type: ${type}\r\n`;
  const heads = spans.map(({ from, to }, i) => {
    const range = `Content-Range: bytes ${from}-${to - 1}/${length}\r\n`;
    return Buffer.from(`${i === 0 ? '' : '\r\n'}--${boundary}\r\n${ofType}${range}\r\n`, 'latin1');
  });
  const end = Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1');
  let bytes = end.length;
  for (const head of heads) bytes += head.length;
  for (const { from, to } of spans) bytes += to - from;
  return { spans, boundary, heads, end, length: bytes };
}
