// Parses a query: tokens, nearley's table, check. Reports the first error in reading order, with the texts and
// positions of Varnish's log tools. Special case: the meaning (tag names, numbers) is checked before a later syntax
// error, so at a syntax error the part before it is completed with filler and checked.

import nearley from 'nearley';
import { type CheckedQuery, check } from './check-query.ts';
import type { Expression } from './query-ast.ts';
import { Effort } from './text-pattern.ts';
import { type QueryError, type Token, type TokenType, tokenize } from './tokens.ts';
import grammar from './vsl-query.grammar.ts';

const GRAMMAR = nearley.Grammar.fromCompiled(grammar);

export interface QueryOptions {
  /** Regular expressions and string comparison ignore case (-C). */
  caseless?: boolean;
  /** Effort that regular expressions may take; a tool's own limit if absent. */
  effort?: Effort;
}

export type ParsedQuery =
  | { ok: true; query: CheckedQuery }
  | { ok: false; error: QueryError; expected: readonly TokenType[] };

export function parseQuery(text: string, options: QueryOptions = {}): ParsedQuery {
  return allOf(parsing(text, options));
}

/** The result of a generator whose steps need not be interrupted. */
export function allOf<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** parseQuery in steps of a token or a comparison each, since a query of some hundred terms takes tens of milliseconds. */
export function* parsing(text: string, given: QueryOptions = {}): Generator<void, ParsedQuery> {
  const options = { caseless: given.caseless === true, effort: given.effort ?? Effort.alone() };
  const tokens = tokenize(text);
  if (!Array.isArray(tokens)) return { ok: false, error: tokens, expected: [] };
  const beyond = tokens[options.effort.words];
  if (beyond !== undefined) {
    const message = `Query has more than ${options.effort.words} words`;
    const { from, to } = beyond;
    return { ok: false, error: { message, at: from, from, to, caret: false }, expected: [] };
  }
  const table = new Table();
  for (const token of tokens) {
    if (table.take(token)) {
      yield;
      continue;
    }
    const expected = [...table.expected()];
    const tree = complete(table, tokens[token.index - 1]);
    const earlier = tree === null ? null : yield* check(tree, tokens, options);
    if (earlier !== null && 'message' in earlier && earlier.from <= token.from) {
      return { ok: false, error: earlier, expected };
    }
    return { ok: false, error: misplaced(token, tokens[token.index - 1], new Set(expected)), expected };
  }
  const tree = table.results()[0];
  if (tree === undefined) throw new Error('query accepted by the grammar but without a tree');
  const checked = yield* check(tree, tokens, options);
  if ('message' in checked) return { ok: false, error: checked, expected: [] };
  return { ok: true, query: checked };
}

/** Number of trees that the grammar finds: 1 for every valid query (guarded by a test). */
export function countParses(text: string): number {
  const tokens = tokenize(text);
  if (!Array.isArray(tokens)) return 0;
  const table = new Table();
  return tokens.every((t) => table.take(t)) ? table.results().length : 0;
}

/** Kinds of tokens that may follow a prefix of a query, for completion. The prefix must end at a token boundary. */
export function expectedAfter(prefix: string): { kinds: TokenType[]; previous: Token | null } {
  const tokens = tokenize(prefix);
  const table = new Table();
  if (!Array.isArray(tokens))
    return { kinds: tokens.empty === true ? [...table.expected()] : [], previous: null };
  let previous: Token | null = null;
  for (const token of tokens) {
    if (token.type === 'eoi') break;
    if (!table.take(token)) return { kinds: [], previous };
    previous = token;
  }
  return { kinds: [...table.expected()], previous };
}

interface Terminal {
  type: TokenType;
  test(token: Token): boolean;
}

interface Column {
  scannable: { rule: { symbols: readonly unknown[] }; dot: number }[];
}

/** nearley's parser fed token by token, so that expected tokens can be queried before an error. */
class Table {
  private readonly parser: nearley.Parser;
  private queue: Token[] = [];

  constructor() {
    const lexer = {
      reset: () => lexer,
      next: () => this.queue.shift(),
      save: () => ({}),
      formatError: () => 'unexpected token',
      has: () => true,
    };
    this.parser = new nearley.Parser(GRAMMAR, {
      lexer: lexer as unknown as nearley.Lexer,
    });
  }

  private terminals(): Terminal[] {
    const columns = (this.parser as unknown as { table: Column[] }).table;
    const last = columns[columns.length - 1] as Column;
    return last.scannable.map((s) => s.rule.symbols[s.dot] as Terminal);
  }

  expected(): Set<TokenType> {
    return new Set(this.terminals().map((t) => t.type));
  }

  take(token: Token): boolean {
    if (!this.terminals().some((t) => t.test(token))) return false;
    this.queue = [token];
    this.parser.feed('.');
    return true;
  }

  results(): Expression[] {
    return this.parser.results as Expression[];
  }
}

const VALUE_FILLER: Partial<Record<TokenType, string>> = { lc: '1', lb: '1', cmp: '0', re: '.' };

/** Completes a prefix with filler tokens; null if that does not terminate. */
function complete(table: Table, before: Token | undefined): Expression | null {
  let previous = before?.type ?? 'nl';
  for (let i = 0; i < 1000; i++) {
    const expected = table.expected();
    let type: TokenType;
    let value = '';
    if (expected.has('vxid')) [type, value] = ['word', '*'];
    else if (expected.has('word')) [type, value] = ['word', VALUE_FILLER[previous] ?? 'x'];
    else if (expected.has('eoi')) type = 'eoi';
    else if (expected.has('rp')) type = 'rp';
    else if (expected.has('rc')) type = 'rc';
    else type = 'rb';
    const far = Number.MAX_SAFE_INTEGER;
    if (!table.take({ type, text: value, value, from: far, to: far, index: far })) return null;
    if (type === 'eoi') return table.results()[0] ?? null;
    previous = type;
  }
  return null;
}

const WANTED_VALUE: Partial<Record<TokenType, string>> = {
  lc: 'integer',
  lb: 'integer',
  colon: 'string',
  cmp: 'number',
  eq: 'string',
  ne: 'string',
  re: 'regular expression',
};

/** The message for an unexpected token. */
function misplaced(token: Token, before: Token | undefined, expected: ReadonlySet<TokenType>): QueryError {
  const end = token.type === 'eoi' || token.type === 'nl';
  const quoted = `'${token.text}'`;
  const got = end ? 'end of input' : quoted;
  let message: string;
  if (expected.has('vxid')) message = `Expected VSL tag name got ${quoted}`;
  else if (expected.has('word')) message = `Expected ${WANTED_VALUE[before?.type ?? 'eq']} got ${quoted}`;
  else if (expected.has('rc')) message = `Expected '}' got ${got}`;
  else if (expected.has('rb')) message = `Expected ']' got ${got}`;
  else if (expected.has('cmp') && !end && token.type !== 'rp') message = `Expected operator got ${quoted}`;
  else if (expected.has('rp')) message = `Expected ')' got ${got}`;
  else message = `Expected EOI got ${quoted}`;
  return { message, at: token.from, from: token.from, to: token.to, caret: false };
}

/** The error as Varnish's tools print it: message and place, the query on one line, a line of marks. */
export function formatQueryError(text: string, error: QueryError): string {
  if (error.empty === true) return '';
  let marks = '';
  for (let i = 0; i < text.length; i++) {
    if (error.caret && i === error.at) marks += '^';
    else marks += i >= error.from && i < error.to ? '#' : '-';
  }
  return `${error.message} (Pos ${error.at + 1})\n${text.replace(/\s/g, ' ')}\n${marks}\n`;
}
