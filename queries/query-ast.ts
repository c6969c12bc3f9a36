// The syntax tree of a query, as built by the grammar: tokens in places, not interpreted yet (see check-query.ts).

import type { Token } from './tokens.ts';

export interface Comparison {
  kind: 'comparison';
  level: Token | null;
  /** Tag names and globs, at least one. */
  tags: Token[];
  prefix: Token | null;
  field: Token | null;
  op: Token | null;
  operand: Token | null;
  /** Index of the token after the record selection. */
  selectEnd: number;
}

export type Expression =
  | { kind: 'or' | 'and'; left: Expression; right: Expression }
  | { kind: 'not'; expression: Expression }
  | Comparison;

export interface Selection {
  level: Token | null;
  tags: Token[];
  prefix: Token | null;
  field: Token | null;
  end: number;
}

export function binary(kind: 'or' | 'and', left: Expression, right: Expression): Expression {
  return { kind, left, right };
}

export function negation(expression: Expression): Expression {
  return { kind: 'not', expression };
}

export function comparison(s: Selection, op: Token | null, operand: Token | null): Comparison {
  const { level, tags, prefix, field } = s;
  return { kind: 'comparison', level, tags, prefix, field, op, operand, selectEnd: s.end };
}

/** `last` is the last token that belongs to the selection. */
export function selection(
  level: Token | null,
  tags: Token[],
  prefix: Token | null,
  field: { value: Token; close: Token } | null,
): Selection {
  const last = field?.close ?? prefix ?? (tags.at(-1) as Token);
  return { level, tags, prefix, field: field?.value ?? null, end: last.index + 1 };
}
