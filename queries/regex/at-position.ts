// Tests at a position of a subject: zero-width assertions and back-references.

import { ASSERT_KINDS } from './instructions.ts';

const [START, LINE_START, END, END_NEWLINE, LINE_END, WORD, NOT_WORD, SEARCH_START] = ASSERT_KINDS.map(
  (_, i) => i,
) as [number, number, number, number, number, number, number, number];

function isWordAt(s: Uint8Array, i: number): boolean {
  if (i < 0 || i >= s.length) return false;
  const c = s[i] as number;
  return (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || c === 95 || (c >= 97 && c <= 122);
}

export function holds(kind: number, s: Uint8Array, pos: number, from: number): boolean {
  switch (kind) {
    case START:
      return pos === 0;
    case LINE_START:
      // Not after a newline that ends the subject.
      return pos === 0 || (s[pos - 1] === 10 && pos < s.length);
    case END:
      return pos === s.length;
    case END_NEWLINE:
      return pos === s.length || (pos === s.length - 1 && s[pos] === 10);
    case LINE_END:
      return pos === s.length || s[pos] === 10;
    case WORD:
      return isWordAt(s, pos - 1) !== isWordAt(s, pos);
    case NOT_WORD:
      return isWordAt(s, pos - 1) === isWordAt(s, pos);
    case SEARCH_START:
      return pos === from;
    default:
      return false;
  }
}

/** End of a repetition of s[a..b] at `pos`, or -1. */
export function repeated(s: Uint8Array, a: number, b: number, pos: number, caseless: boolean): number {
  const length = b - a;
  if (pos + length > s.length) return -1;
  for (let i = 0; i < length; i++) {
    const x = s[a + i] as number;
    const y = s[pos + i] as number;
    if (x !== y && !(caseless && lower(x) === lower(y))) return -1;
  }
  return pos + length;
}

function lower(c: number): number {
  return c >= 65 && c <= 90 ? c + 32 : c;
}
