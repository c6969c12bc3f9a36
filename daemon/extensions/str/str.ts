// The str extension: looking at and cutting strings. It counts bytes, and an unset string is neither equal to
// nor contained in anything. Positions may be negative: they count from the end.

import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';
import { split, take } from './cutting.ts';

type Text = string | null;

function both(test: (a: string, b: string) => boolean) {
  return (_c: unknown, a: Text, b: Text): boolean => a !== null && b !== null && test(a, b);
}

function part(_ctx: VclContext, s: Text, n: number, sep: Text): string | null {
  return s === null ? null : split(s, n, sep ?? '');
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
    // A string here is one of bytes: there are no pairs that must stay together.
    row('STRING reverse(STRING s)', (_c, s: Text) => (s === null ? null : s.split('').reverse().join('')), 'The bytes in reverse order.'),
    row('STRING split(STRING s, INT n, STRING sep=" \\t")', part,
      'The n-th part of the text between bytes of sep; negative numbers count from the end. Unset when there is none.'),
  ),
};
