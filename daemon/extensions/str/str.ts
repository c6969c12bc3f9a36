// The str extension: looking at and cutting strings. It counts bytes, and an unset string is neither equal to
// nor contained in anything. Positions may be negative: they count from the end.

import type { Extension } from '../../contract/extension.ts';
import { split, take } from './cutting.ts';

type Text = string | null;

function both(test: (a: string, b: string) => boolean) {
  return (_c: unknown, a: Text, b: Text): boolean => a !== null && b !== null && test(a, b);
}

export const str: Extension = {
  name: 'str',
  help: 'parts of texts',
  functions: {
    count: {
      signature: 'INT count(STRING s)',
      help: 'Bytes of the text; -1 for an unset one.',
      call: (_c, s: Text) => (s === null ? -1 : s.length),
    },
    startswith: {
      signature: 'BOOL startswith(STRING s1, STRING s2)',
      help: 'Whether s1 begins with s2.',
      call: both((a, b) => a.startsWith(b)),
    },
    endswith: {
      signature: 'BOOL endswith(STRING s1, STRING s2)',
      help: 'Whether s1 ends with s2.',
      call: both((a, b) => a.endsWith(b)),
    },
    contains: {
      signature: 'BOOL contains(STRING s1, STRING s2)',
      help: 'Whether s2 is in s1.',
      call: both((a, b) => a.includes(b)),
    },
    take: {
      signature: 'STRING take(STRING s, INT n, INT offset=0)',
      help: 'n bytes from the offset on, or before it where n is negative; a negative offset counts from the end.',
      call: (_c, s: Text, n: number, offset: number) => (s === null ? null : take(s, n, offset)),
    },
    reverse: {
      signature: 'STRING reverse(STRING s)',
      help: 'The bytes in reverse order.',
      // A string here is one of bytes: there are no pairs that must stay together.
      call: (_c, s: Text) => (s === null ? null : s.split('').reverse().join('')),
    },
    split: {
      signature: 'STRING split(STRING s, INT n, STRING sep=" \\t")',
      help: 'The n-th part of the text between bytes of sep; negative numbers count from the end. Unset when there is none.',
      call: (_c, s: Text, n: number, sep: Text) => (s === null ? null : split(s, n, sep ?? '')),
    },
  },
};
