// Latin-1 reads and writes through the buffer's own native methods, which its published type omits. They skip the
// encoding lookup and bounds normalisation of toString() and write(), which are most of the cost of a short text.

import type { LentBytes } from './lent-bytes.ts';

interface NativeLatin1 {
  latin1Slice(start: number, end: number): string;
  latin1Write(text: string, at: number, length: number): number;
}

/** The bytes [start, end) as a string, one character per byte. */
export function latin1Text(buf: LentBytes, start: number, end: number): string {
  return (buf as unknown as NativeLatin1).latin1Slice(start, end);
}

/** Writes `text` at `at`; returns the bytes written, fewer than its length when the buffer ends before. */
export function latin1Put(buf: Buffer, at: number, text: string): number {
  return (buf as unknown as NativeLatin1).latin1Write(text, at, text.length);
}

/** The same text as one flat string: V8 keeps a concatenation as a tree that each reader has to walk or flatten. */
export function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
