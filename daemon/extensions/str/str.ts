// The str extension: inspects and slices strings. It counts bytes, and an unset string neither equals nor contains
// anything. Negative positions count from the end.

import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';

type Text = string | null;

function both(test: (a: string, b: string) => boolean) {
  return (_c: unknown, a: Text, b: Text): boolean => a !== null && b !== null && test(a, b);
}

function part(_ctx: VclContext, s: Text, n: number, sep: Text): string | null {
  return s === null ? null : split(s, n, sep ?? '');
}

function intersect(_ctx: VclContext, a: Text, b: Text, separators?: Text): boolean {
  const between = separators ?? ' ,';
  const known = new Set(tokens(a ?? '', between));
  return tokens(b ?? '', between).some((token) => known.has(token));
}

export const str: Extension = {
  name: 'str',
  help: 'parts of texts',
  // biome-ignore format: a row is a line
  functions: byName(
    row('INT count(STRING s)', (_c, s: Text) => (s === null ? -1 : s.length), 'Bytes of the text; -1 for an unset one.'),
    row('BOOL startswith(STRING s1, STRING s2)', both((a, b) => a.startsWith(b)), 'Whether s1 begins with s2.'),
    row('BOOL endswith(STRING s1, STRING s2)', both((a, b) => a.endsWith(b)), 'Whether s1 ends with s2.'),
    row('BOOL contains(STRING s1, STRING s2)', both((a, b) => a.includes(b)), 'Whether s2 is in s1.'),
    row('STRING take(STRING s, INT n, INT offset=0)', (_c, s: Text, n: number, offset: number) => (s === null ? null : take(s, n, offset)),
      'n bytes from the offset on, or before it where n is negative; a negative offset counts from the end.'),
    // Strings are byte strings: there are no surrogate pairs to keep together.
    row('STRING reverse(STRING s)', (_c, s: Text) => (s === null ? null : s.split('').reverse().join('')), 'The bytes in reverse order.'),
    row('STRING split(STRING S, INT n, STRING sep=" \\t")', part,
      'The n-th part of the text between bytes of sep; negative numbers count from the end. Unset when there is none.'),
    row('BOOL token_intersect(STRING str1, STRING str2, [STRING separators])', intersect,
      'Whether a part of one text is also one of the other. Parts lie between bytes of separators, which are space and comma unless given; empty ones do not count.'),
  ),
};

// take() slices by position, the others by token.

/** `n` characters from `offset` on, or those before it if `n` is negative, clipped to the string. A negative
 * offset counts from the end, and so does 0 if `n` is negative. */
export function take(s: string, n: number, offset: number): string {
  const from = offset < 0 || (offset === 0 && n < 0) ? offset + s.length : offset;
  const [start, end] = n < 0 ? [from + n, from] : [from, from + n];
  return s.slice(Math.max(0, start), Math.max(0, end));
}

/** All tokens that are not empty. */
function tokens(s: string, separators: string): string[] {
  const between = new Set(separators);
  const out: string[] = [];
  let start = 0;
  for (let at = 0; at <= s.length; at++) {
    if (at < s.length && !between.has(s.charAt(at))) continue;
    if (at > start) out.push(s.slice(start, at));
    start = at + 1;
  }
  return out;
}

/** The n-th token, from 1, or from the end if negative; null if there is none. Consecutive separators count as
 * one, and leading ones are ignored, but a trailing one is followed by an empty token, as in Varnish. Counted
 * from the end, tokens are never empty. */
export function split(s: string, n: number, separators: string): string | null {
  const tokens: string[] = [];
  let at = 0;
  const skip = (separating: boolean): void => {
    while (at < s.length && separators.includes(s.charAt(at)) === separating) at++;
  };
  skip(true);
  for (;;) {
    const start = at;
    skip(false);
    tokens.push(s.slice(start, at));
    if (at >= s.length || tokens.length === n) break;
    skip(true);
  }
  if (n >= 0) return tokens[n - 1] ?? null;
  return tokens.filter((t) => t !== '').at(n) ?? null;
}
