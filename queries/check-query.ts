// Resolves a query's tree: tag names, level and field numbers, operands. Walks in reading order and stops at the
// first error. The result consists of numbers and compiled expressions, ready for compile-query.ts.

import { leadingInteger, parseDecimalOperand, parseIntegerOperand } from './number.ts';
import type { Comparison, Expression } from './query-ast.ts';
import { LEVELS, type LevelMode, type NumberOp } from './query-words.ts';
import { markTags } from './tag-list.ts';
import { compilePattern, type Effort, type TextPattern } from './text-pattern.ts';
import type { QueryError, Token } from './tokens.ts';

export type Test =
  | { kind: 'any' }
  /** `value` is integral, or in thousandths if `decimal`. */
  | { kind: 'number'; op: NumberOp; value: number; decimal: boolean }
  | { kind: 'text'; negate: boolean; value: string; caseless: boolean }
  | { kind: 'regex'; negate: boolean; regex: TextPattern };

export interface LevelLimit {
  level: number;
  mode: LevelMode;
}

export interface RecordMatch {
  kind: 'record';
  level: LevelLimit | null;
  /** 1 for the tags selected; indexed by tag number. */
  tags: Uint8Array;
  /** Lower case, without the colon. */
  prefix: string | null;
  /** From 1; 0 is the whole record. */
  field: number;
  test: Test;
}

export type CheckedQuery =
  | { kind: 'or' | 'and'; left: CheckedQuery; right: CheckedQuery }
  | { kind: 'not'; query: CheckedQuery }
  | { kind: 'vxid'; op: NumberOp; value: number }
  | RecordMatch;

interface CheckOptions {
  caseless: boolean;
  effort: Effort;
}

/** Yields after each comparison. */
export function* check(
  e: Expression,
  tokens: readonly Token[],
  options: CheckOptions,
): Generator<void, CheckedQuery | QueryError> {
  if (e.kind === 'comparison') {
    const checked = checkComparison(e, tokens, options);
    yield;
    return checked;
  }
  if (e.kind === 'not') {
    const query = yield* check(e.expression, tokens, options);
    return 'message' in query ? query : { kind: 'not', query };
  }
  const left = yield* check(e.left, tokens, options);
  if ('message' in left) return left;
  const right = yield* check(e.right, tokens, options);
  return 'message' in right ? right : { kind: e.kind, left, right };
}

function checkComparison(
  c: Comparison,
  tokens: readonly Token[],
  options: CheckOptions,
): CheckedQuery | QueryError {
  let level: LevelLimit | null = null;
  if (c.level !== null) {
    const { value, end } = leadingInteger(c.level.value);
    const suffix = c.level.value.slice(end);
    const row = LEVELS.find((l) => l.suffix === suffix);
    if (row === undefined) return wrong(c.level, 'Syntax error in level limit');
    if (value < 0) return wrong(c.level, 'Expected positive integer');
    level = { level: value, mode: row.mode };
  }
  const tags = new Uint8Array(256);
  let vxid = false;
  for (const tag of c.tags) {
    if (tag.type === 'vxid') {
      vxid = true;
      continue;
    }
    const problem = markTags(tag.value, tags);
    if (problem === 'none') return wrong(tag, 'Tag name matches zero tags');
    if (problem === 'ambiguous') return wrong(tag, 'Tag name is ambiguous');
    if (problem === 'syntax') return wrong(tag, 'Syntax error in tag name');
  }
  let field = 0;
  if (c.field !== null) {
    const { value, end } = leadingInteger(c.field.value);
    field = value;
    if (end < c.field.value.length || field <= 0) return wrong(c.field, 'Expected positive integer');
  }
  if (vxid) return checkVxid(c, tokens);
  const test = checkTest(c, options);
  if ('message' in test) return test;
  return { kind: 'record', level, tags, prefix: c.prefix?.value.toLowerCase() ?? null, field, test };
}

function checkVxid(c: Comparison, tokens: readonly Token[]): CheckedQuery | QueryError {
  // A selection completed with filler ends long after the tokens that were written.
  const next = tokens[c.selectEnd] ?? (tokens.at(-1) as Token);
  if (c.level !== null || c.prefix !== null || c.field !== null || c.tags.length > 1) {
    return wrong(next, 'Unexpected taglist selection for vxid');
  }
  if (c.op === null || c.op.type !== 'cmp' || c.operand === null) {
    return wrong(next, `Expected vxid operator got '${next.text}'`);
  }
  if (c.operand.value.includes('.')) {
    const { from, to, text } = c.operand;
    return { message: `Expected integer got '${text}'`, at: from, from, to, caret: true };
  }
  const value = parseIntegerOperand(c.operand.value);
  if (Number.isNaN(value)) return wrong(c.operand, 'Integer parse error');
  return { kind: 'vxid', op: c.op.text as NumberOp, value };
}

function checkTest(c: Comparison, { caseless, effort }: CheckOptions): Test | QueryError {
  const { op, operand } = c;
  if (op === null || operand === null) return { kind: 'any' };
  if (op.type === 'cmp') {
    const decimal = operand.value.includes('.');
    const value = decimal ? parseDecimalOperand(operand.value) : parseIntegerOperand(operand.value);
    if (Number.isNaN(value))
      return wrong(operand, decimal ? 'Floating point parse error' : 'Integer parse error');
    return { kind: 'number', op: op.text as NumberOp, value, decimal };
  }
  if (op.type === 're') {
    const regex = compilePattern(operand.value, caseless, effort);
    if (!('message' in regex)) return { kind: 'regex', negate: op.text === '!~', regex };
    const { from, to } = operand;
    return {
      message: `Regular expression error: ${regex.message}`,
      at: from + regex.offset,
      from,
      to,
      caret: true,
    };
  }
  const value = caseless ? operand.value.toLowerCase() : operand.value;
  return { kind: 'text', negate: op.type === 'ne', value, caseless };
}

function wrong(token: Token, message: string): QueryError {
  return { message, at: token.from, from: token.from, to: token.to, caret: false };
}
