// Hints for the parser when it finds another token than the one it needs: rows of the needed token, the found one, and
// what to write. A missing semicolon is distinguished from a missing plus sign by the line and by the construct that is
// being read.

import type { Token } from './lexer.ts';

/** The construct that is being read: an operator can only be missing where a value ends. */
export type Place = 'value' | 'other';

/** The needed token, in the words of the errors; `operator` names single operators. */
export const NEEDED = {
  value: 'a value',
  assignment: "'=' or another assignment",
  afterDot: 'a name after the dot',
  method: 'the name of a method',
} as const;

/** An operator in the words of errors. */
export function operator(text: string): string {
  return `'${text}'`;
}

interface Row {
  /** The needed token, in the words of errors; absent is any. */
  readonly needed?: string;
  /** Texts that came instead. */
  readonly got?: readonly string[];
  /** Texts of the token before it. */
  readonly after?: readonly string[];
  readonly place?: Place;
  readonly hint: string;
}

const ROWS: readonly Row[] = [
  {
    needed: operator(')'),
    got: ['='],
    place: 'value',
    hint: "Did you mean '=='? A single '=' only stands in set.",
  },
  { needed: operator(')'), got: ['&'], hint: "Did you mean '&&'?" },
  { needed: operator(')'), got: ['|'], hint: "Did you mean '||'?" },
  { got: ['and', 'AND'], place: 'value', hint: "Did you mean '&&'?" },
  { got: ['or', 'OR'], place: 'value', hint: "Did you mean '||'?" },
  { got: ['eq', 'is', 'equals'], place: 'value', hint: "Did you mean '=='?" },
  { got: ['ne'], place: 'value', hint: "Did you mean '!='?" },
  { got: ['matches', 'like', 'contains', 'in'], place: 'value', hint: "Did you mean '~'?" },
  { after: ['not', 'NOT'], place: 'value', hint: "Did you mean '!'?" },
  { needed: NEEDED.value, got: ['='], after: ['=='], hint: "'==' is enough." },
  { needed: NEEDED.value, got: ['='], after: ['!='], hint: "'!=' is enough." },
  { needed: NEEDED.value, got: ['>'], after: ['<'], hint: "Did you mean '!='?" },
  { needed: NEEDED.value, got: ['/'], hint: 'Strings and regular expressions stand in double quotes.' },
  {
    needed: operator('('),
    after: ['if', 'elseif', 'elsif', 'elif'],
    hint: 'The condition stands in parentheses.',
  },
  {
    needed: operator('('),
    after: ['return'],
    hint: 'The action stands in parentheses, as in: return (pass);',
  },
  { needed: operator('{'), got: ['('], hint: 'A sub takes no arguments: sub name { … }' },
  {
    needed: operator('{'),
    after: [')'],
    hint: 'The block of an if stands in braces, even a single statement.',
  },
  { needed: operator('.'), hint: 'Fields begin with a dot: .host = "192.0.2.1";' },
  { needed: NEEDED.assignment, got: ['=='], hint: "Did you mean '='?" },
  { needed: NEEDED.assignment, got: ['['], hint: 'A header is written like req.http.Accept-Language.' },
  { needed: NEEDED.assignment, got: ['++', '--'], hint: "Did you mean '+= 1' or '-= 1'?" },
  { needed: NEEDED.afterDot, got: ['='], hint: "Did you mean '+='?" },
];

const SEMICOLON = operator(';');
const CLOSE = operator(')');
const PLUS = 'Strings are joined with "+".';

/** @param before the token read last, if there is one */
export function tokenHint(
  needed: string,
  before: Token | null,
  got: Token,
  place: Place,
): string | undefined {
  if (got.text === '=' && got.kind === 'op' && place === 'value' && isTilde(got)) return "Did you mean '~'?";
  const row = ROWS.find(
    (r) =>
      (r.needed === undefined || r.needed === needed) &&
      (r.got === undefined || (got.kind !== 'string' && r.got.includes(got.text))) &&
      (r.after === undefined ||
        (before !== null && before.kind !== 'string' && r.after.includes(before.text))) &&
      (r.place === undefined || r.place === place),
  );
  if (row !== undefined) return row.hint;
  if (needed === NEEDED.method && got.kind === 'string') return PLUS;
  return missing(needed, before, got, place);
}

/** `=~` of other languages. */
function isTilde(got: Token): boolean {
  return got.file.text.charAt(got.end) === '~';
}

/** A missing plus sign or semicolon. */
function missing(needed: string, before: Token | null, got: Token, place: Place): string | undefined {
  if (needed !== SEMICOLON && !(needed === CLOSE && place === 'value')) return undefined;
  const sameLine = before !== null && before.file === got.file && lineOf(before) === lineOf(got);
  if (place === 'value') {
    // No statement begins with a string or a number.
    if (got.kind === 'string' || got.kind === 'int' || got.kind === 'real') return PLUS;
    if (got.kind === 'id' && (sameLine || needed === CLOSE)) return PLUS;
    if (got.text === ',' && needed === SEMICOLON) return PLUS;
  }
  if (needed !== SEMICOLON || sameLine || before === null) return undefined;
  return `A ';' is missing at the end of line ${lineOf(before)}.`;
}

function lineOf(token: Token): number {
  return token.file.locate(token.kind === 'string' ? token.end - 1 : token.start).line;
}
