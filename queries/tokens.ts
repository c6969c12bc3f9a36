// Splits a query into tokens with a moo lexer. Blanks, comments and backslash-newline are dropped; runs of newlines
// become one `nl`, and none is at the start or end. The first lexical error is returned: it takes precedence over
// errors of later passes, because the whole text is split before any of it is parsed. Special case: in a quoted
// string every backslash only protects the next character, so `"\d"` is `d`.

import moo from 'moo';
import { CONNECTIVES, OPERATORS, operatorTexts } from './query-words.ts';

export type TokenType =
  | 'word'
  | 'string'
  | 'vxid'
  | 'and'
  | 'or'
  | 'not'
  | 'eq'
  | 'ne'
  | 'cmp'
  | 're'
  | 'lp'
  | 'rp'
  | 'lb'
  | 'rb'
  | 'lc'
  | 'rc'
  | 'comma'
  | 'colon'
  | 'nl'
  | 'eoi';

export interface Token {
  type: TokenType;
  /** As written, quotes included. */
  text: string;
  /** Its value: quotes and escapes removed. */
  value: string;
  from: number;
  /** Exclusive. */
  to: number;
  /** Index in the list of tokens. */
  index: number;
}

/** An error and its position in the query. `caret`: the marker is a ^ at `at`, over the token's #. */
export interface QueryError {
  message: string;
  /** Column, from 0, for the message. */
  at: number;
  from: number;
  to: number;
  caret: boolean;
  /** Nothing but blanks and comments: there is no position to report. */
  empty?: boolean;
}

/** Words that cannot be a tag or an operand; each is a kind of token of its own. */
const KEYWORDS = Object.fromEntries(
  ['vxid', ...[...CONNECTIVES, ...OPERATORS].map((row) => row.text).filter((text) => /^\w/.test(text))].map(
    (word) => [word, word],
  ),
);

/** moo's types lack this method. */
type Cloneable = moo.Lexer & { clone(): moo.Lexer };

/** Never used itself: each text gets a clone. */
const LEXER = moo.compile({
  blank: { match: /[ \t]+|\\\n/, lineBreaks: true },
  comment: /#[^\n]*/,
  nl: { match: '\n', lineBreaks: true },
  word: { match: /[A-Za-z0-9+\-_.*]+/, type: moo.keywords(KEYWORDS) },
  string: [/"(?:\\[^\n]|[^"\\\n])*"/, /'(?:\\[^\n]|[^'\\\n])*'/],
  open: [/"(?:\\[^\n]|[^"\\\n])*\\?/, /'(?:\\[^\n]|[^'\\\n])*\\?/],
  cmp: operatorTexts('cmp'),
  re: operatorTexts('re'),
  lp: '(',
  rp: ')',
  lb: '[',
  rb: ']',
  lc: '{',
  rc: '}',
  comma: ',',
  colon: ':',
  bad: moo.error,
});

/** The tokens, ending with `eoi`; or the error. */
export function tokenize(text: string): Token[] | QueryError {
  const lexer = (LEXER as Cloneable).clone().reset(text);
  const tokens: Token[] = [];
  let after = -1;
  for (const t of lexer) {
    const from = t.offset;
    const type = t.type as string;
    if (type === 'blank' || type === 'comment') continue;
    if (type === 'bad') return syntaxError(from, from === after);
    if (type === 'open') return at('Unterminated string', from + t.text.length, from, from + t.text.length);
    after = from + t.text.length;
    if (type === 'nl' && (tokens.length === 0 || tokens.at(-1)?.type === 'nl')) continue;
    tokens.push({
      type: type as TokenType,
      text: t.text,
      value: type === 'string' ? t.text.slice(1, -1).replace(/\\(.)/gs, '$1') : t.text,
      from,
      to: after,
      index: tokens.length,
    });
  }
  if (tokens.every((t) => t.type === 'nl')) {
    return { message: '', at: 0, from: 0, to: 0, caret: false, empty: true };
  }
  const end = text.length;
  tokens.push({ type: 'eoi', text: '', value: '', from: end, to: end, index: tokens.length });
  return tokens;
}

/** A stray character right after a token is marked differently from one that stands alone. */
function syntaxError(from: number, attached: boolean): QueryError {
  return { message: 'Syntax error', at: from, from, to: attached ? from : from + 1, caret: attached };
}

function at(message: string, where: number, from: number, to: number): QueryError {
  return { message, at: where, from, to, caret: false };
}
