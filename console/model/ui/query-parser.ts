// The query language for the query bar: the verdict on a text, the words expected at a place, and the completion of tag
// names. Token kinds are shown in the operator's words, not the grammar's.

import { TAGS } from '../../../protocol/tables/tags.ts';
import { expectedAfter, parseQuery } from '../../../queries/parse-query.ts';
import type { TokenType } from '../../../queries/tokens.ts';
import { unwrittenTags, unwrittenText } from '../../../queries/unwritten-tags.ts';
import type { Candidate } from './completion.ts';
import type { QueryCheck } from './field.ts';

const WORDS: Readonly<Record<TokenType, string>> = {
  word: 'a value',
  string: 'a quoted value',
  vxid: 'vxid',
  and: 'and',
  or: 'or',
  not: 'not',
  eq: 'eq',
  ne: 'ne',
  cmp: '== != < <= > >=',
  re: '~ !~',
  lp: '(',
  rp: ')',
  lb: '[field]',
  rb: ']',
  lc: '{level}',
  rc: '}',
  comma: '',
  colon: ':header',
  nl: '',
  eoi: '',
};

/** Sorted to the front, the last of these first. */
const FIRST: readonly string[] = ['ne', 'eq', '~ !~', '== != < <= > >=', 'a tag', 'a value'];

export function checkQuery(text: string): QueryCheck {
  const parsed = parseQuery(text);
  if (parsed.ok) {
    const note = unwrittenText(unwrittenTags({ query: text }));
    return note === null ? { ok: true } : { ok: true, note };
  }
  const { error } = parsed;
  const tag = parsed.expected.includes('vxid');
  const expected = parsed.expected
    // Where a tag is expected a plain word is one.
    .map((type) => (tag && type === 'word' ? 'a tag' : WORDS[type]))
    .filter((word, i, all) => word !== '' && all.indexOf(word) === i)
    // The most likely first: the end of the list may not fit on the screen.
    .sort((a, b) => FIRST.indexOf(b) - FIRST.indexOf(a));
  return {
    ok: false,
    from: error.from,
    to: Math.max(error.from + 1, error.to),
    message: error.message,
    expected,
  };
}

/** Tag names that begin with the word before the cursor, where the language expects a tag. */
export function completeQuery(text: string, cursor: number): { from: number; candidates: Candidate[] } {
  const head = text.slice(0, cursor);
  const word = /[A-Za-z_]*$/.exec(head)?.[0] ?? '';
  const from = cursor - word.length;
  const { kinds } = expectedAfter(head.slice(0, from));
  if (!kinds.includes('vxid')) return { from, candidates: [] };
  const lower = word.toLowerCase();
  const candidates = TAGS.filter(
    (row) => !(row.flags as readonly string[]).includes('unused') && row.name.toLowerCase().startsWith(lower),
  ).map((row) => ({ text: row.name, help: row.help }));
  return { from, candidates: word === '' ? [] : candidates };
}
