// The operators: precedence, meaning, operand and result types of arithmetic, comparable types, and the right side of
// assignments. Parser and checker read these rows; a new operator is a new row.

import type { HelperName } from '../runtime/table.ts';
import type { Type } from './type-rows.ts';

export interface OperatorRow {
  readonly symbol: string;
  /** The kind determines precedence: later rows of OPERATORS bind tighter. */
  readonly kind: 'or' | 'and' | 'not' | 'comparison' | 'sum' | 'product' | 'sign' | 'assignment';
  readonly help: string;
}

const row = <S extends string, K extends OperatorRow['kind']>(symbol: S, kind: K, help: string) => ({
  symbol,
  kind,
  help,
});

// biome-ignore format: a row is a line
export const OPERATORS = [
  row('=', 'assignment', 'In set: the new value.'),
  row('+=', 'assignment', 'In set: the old value plus the new one. Strings, headers and bodies get the text appended.'),
  row('-=', 'assignment', 'In set: the old value less the new one.'),
  row('*=', 'assignment', 'In set: the old value times the new one.'),
  row('/=', 'assignment', 'In set: the old value divided by the new one.'),
  row('||', 'or', 'Either condition holds. The right one is not evaluated if the left one holds.'),
  row('&&', 'and', 'Both conditions hold. The right one is not evaluated if the left one does not hold.'),
  row('!', 'not', 'The condition does not hold. It applies to the whole comparison after it: `!req.url ~ "x"` is `!(req.url ~ "x")`.'),
  row('==', 'comparison', 'Both values are equal. An unset string equals no other.'),
  row('!=', 'comparison', 'The values are not equal.'),
  row('<', 'comparison', 'Less than; strings are compared by their bytes.'),
  row('>', 'comparison', 'More than.'),
  row('<=', 'comparison', 'At most.'),
  row('>=', 'comparison', 'At least.'),
  row('~', 'comparison', 'A string matches a regular expression, somewhere unless ^ or $ tie it down; or an address is in an acl.'),
  row('!~', 'comparison', 'It does not match.'),
  row('+', 'sum', 'Sum; with a string on a side, or where a string is needed, both texts joined.'),
  row('-', 'sum', 'Difference. It needs blanks where a name stands before it: `a-b` is one name.'),
  row('*', 'product', 'Product.'),
  row('/', 'product', 'Quotient; of two INTs without the fraction. Division by zero fails the transaction.'),
  row('%', 'product', 'Remainder of two INTs.'),
  row('-', 'sign', 'Negative number or duration.'),
] as const;

/** The symbols of operators of these kinds. */
export function symbols(...kinds: readonly OperatorRow['kind'][]): ReadonlySet<string> {
  return new Set(OPERATORS.filter((o) => kinds.includes(o.kind)).map((o) => o.symbol));
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';

/** `left op right` yields `result`, computed by `helper` or by the plain JavaScript operator. */
export const ARITHMETIC: readonly (readonly [
  left: Type,
  op: ArithmeticOperator,
  right: Type,
  result: Type,
  helper?: HelperName,
])[] = [
  ['INT', '+', 'INT', 'INT'],
  ['INT', '-', 'INT', 'INT'],
  ['INT', '*', 'INT', 'INT'],
  ['INT', '/', 'INT', 'INT', 'intDivide'],
  ['INT', '%', 'INT', 'INT', 'intModulo'],
  ['INT', '+', 'REAL', 'REAL'],
  ['INT', '-', 'REAL', 'REAL'],
  ['REAL', '+', 'REAL', 'REAL'],
  ['REAL', '-', 'REAL', 'REAL'],
  ['REAL', '*', 'REAL', 'REAL'],
  ['REAL', '/', 'REAL', 'REAL', 'realDivide'],
  ['REAL', '+', 'INT', 'REAL'],
  ['REAL', '-', 'INT', 'REAL'],
  ['REAL', '*', 'INT', 'REAL'],
  ['REAL', '/', 'INT', 'REAL', 'realDivide'],
  ['BYTES', '+', 'BYTES', 'BYTES'],
  ['BYTES', '-', 'BYTES', 'BYTES'],
  ['BYTES', '*', 'INT', 'BYTES'],
  ['BYTES', '*', 'REAL', 'BYTES'],
  ['BYTES', '/', 'INT', 'BYTES', 'realDivide'],
  ['BYTES', '/', 'REAL', 'BYTES', 'realDivide'],
  ['DURATION', '+', 'DURATION', 'DURATION'],
  ['DURATION', '-', 'DURATION', 'DURATION'],
  ['DURATION', '*', 'INT', 'DURATION'],
  ['DURATION', '*', 'REAL', 'DURATION'],
  ['DURATION', '/', 'INT', 'DURATION', 'realDivide'],
  ['DURATION', '/', 'REAL', 'DURATION', 'realDivide'],
  ['TIME', '+', 'DURATION', 'TIME'],
  ['TIME', '-', 'DURATION', 'TIME'],
  ['TIME', '-', 'TIME', 'DURATION'],
];

/** Comparisons of a type: all six or only equality. Strings have all of them. */
export const COMPARABLE: Readonly<Partial<Record<Type, 'order' | 'equal'>>> = {
  INT: 'order',
  REAL: 'order',
  BYTES: 'order',
  DURATION: 'order',
  TIME: 'order',
  BOOL: 'equal',
  BACKEND: 'equal',
  ACL: 'equal',
  PROBE: 'equal',
  STEVEDORE: 'equal',
  SUB: 'equal',
  IP: 'equal',
};

/** Type of the right side of `set v op= x`. */
export const ASSIGNABLE: Readonly<Partial<Record<Type, Readonly<Record<string, Type>>>>> = {
  STRING: { '=': 'STRING', '+=': 'STRING' },
  HEADER: { '=': 'STRING', '+=': 'STRING' },
  BODY: { '=': 'STRING', '+=': 'STRING' },
  BOOL: { '=': 'BOOL' },
  BACKEND: { '=': 'BACKEND' },
  STEVEDORE: { '=': 'STEVEDORE' },
  INT: { '=': 'INT', '+=': 'INT', '-=': 'INT', '*=': 'INT', '/=': 'INT' },
  REAL: { '=': 'REAL', '+=': 'REAL', '-=': 'REAL', '*=': 'REAL', '/=': 'REAL' },
  BYTES: { '=': 'BYTES', '+=': 'BYTES', '-=': 'BYTES', '*=': 'REAL', '/=': 'REAL' },
  DURATION: { '=': 'DURATION', '+=': 'DURATION', '-=': 'DURATION', '*=': 'REAL', '/=': 'REAL' },
  TIME: { '=': 'TIME', '+=': 'DURATION', '-=': 'DURATION' },
};
