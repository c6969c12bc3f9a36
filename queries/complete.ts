// Help while a query is typed: whether it stands, where it does not and what could stand there, and what may
// come next. Built on the parser's own table, so it never disagrees with the parser.

import { TAGS } from '../protocol/tables/tags.ts';
import { expectedAfter, parseQuery, type QueryOptions } from './parse.ts';
import type { TokenType } from './tokens.ts';

export type QueryCheck =
  | { ok: true }
  | {
      ok: false;
      /** Columns of the query from 0; `to` is exclusive. */
      from: number;
      to: number;
      message: string;
      /** What would have been accepted at `from`. */
      expected: readonly string[];
    };

const SHOWN: Partial<Record<TokenType, readonly string[]>> = {
  vxid: ['vxid'],
  and: ['and'],
  or: ['or'],
  not: ['not'],
  eq: ['eq'],
  ne: ['ne'],
  cmp: ['==', '!=', '<', '<=', '>', '>='],
  re: ['~', '!~'],
  lp: ['('],
  rp: [')'],
  lb: ['[field]'],
  rb: [']'],
  lc: ['{level}'],
  rc: ['}'],
  comma: [','],
  colon: [':prefix'],
};

/** Kinds of tokens as an operator would write them. */
export function describeKinds(kinds: readonly TokenType[]): string[] {
  const out = kinds.flatMap((kind) => SHOWN[kind] ?? []);
  if (kinds.includes('vxid')) out.unshift('tag');
  else if (kinds.includes('word')) out.unshift('value');
  return [...new Set(out)];
}

export function checkQuery(text: string, options: QueryOptions = {}): QueryCheck {
  const parsed = parseQuery(text, options);
  if (parsed.ok) return { ok: true };
  const { from, to, message, at, empty } = parsed.error;
  const expected = describeKinds(parsed.expected);
  if (empty === true)
    return {
      ok: false,
      from: 0,
      to: 0,
      message: 'Empty query',
      expected: describeKinds(expectedAfter('').kinds),
    };
  return { ok: false, from: Math.min(from, at), to: Math.max(to, from), message, expected };
}

export interface Completion {
  /** Column where the word under the cursor starts: what is chosen replaces it. */
  from: number;
  candidates: string[];
}

/** What may stand at the cursor. `headers`: field names seen in the log; `ids`: recent transactions. */
export function completeQuery(
  text: string,
  cursor: number,
  seen: { headers?: readonly string[]; ids?: readonly number[] } = {},
): Completion {
  const before = text.slice(0, cursor);
  const word = /[A-Za-z0-9+\-_.*]*$/.exec(before)?.[0] ?? '';
  const from = cursor - word.length;
  const { kinds, previous } = expectedAfter(before.slice(0, from));
  let candidates: string[] = [];
  if (kinds.includes('vxid')) {
    const tags = TAGS.filter((row) => !(row.flags as readonly string[]).includes('unused')).map(
      (row) => row.name as string,
    );
    candidates = [...tags, 'vxid', 'not'];
  } else if (kinds.includes('word')) {
    if (previous?.type === 'colon') candidates = [...(seen.headers ?? [])];
    else if (previous?.type === 'cmp') candidates = (seen.ids ?? []).map(String);
  } else
    candidates = describeKinds(kinds).filter((text) => !/[a-z]/.test(text[1] ?? '') || /^[a-z]+$/.test(text));
  const start = word.toLowerCase();
  return { from, candidates: candidates.filter((c) => c.toLowerCase().startsWith(start)) };
}
