// The types of VCL as the checker sees them, their arithmetic, and how each
// becomes a STRING. Rows, not code: a new type or operator is a new row.

import type { Span } from '../diagnostics.ts';
import type { HelperName } from '../runtime/table.ts';
import type { Code } from '../typed-program.ts';
import type { MessageName } from './variable-helpers.ts';

export type Type =
  | 'STRING'
  | 'STRINGS'
  | 'BOOL'
  | 'INT'
  | 'REAL'
  | 'BYTES'
  | 'DURATION'
  | 'TIME'
  | 'IP'
  | 'ACL'
  | 'BACKEND'
  | 'PROBE'
  | 'HEADER'
  | 'HTTP'
  | 'STEVEDORE'
  | 'BLOB'
  | 'BODY'
  | 'REGEX'
  | 'SUB'
  | 'ENUM'
  | 'VCL'
  | 'VOID';

/** A checked expression: its code, and the facts about its value. */
export interface Typed {
  type: Type;
  code: Code;
  span: Span;
  /** A STRING that may be unset (null). */
  nullable?: boolean;
  /** Content of a literal string. */
  literal?: string;
  /** The parts of a STRINGS, each a STRING. */
  strands?: Typed[];
  /** A header field: its message, and its name. */
  header?: { message: MessageName; name: string };
}

/** Helper of the runtime that makes a string; null: not convertible; `itself`: it is one already. */
export const TO_STRING: Readonly<
  Record<Type, { readonly helper: HelperName; readonly takesContext?: true } | 'itself' | null>
> = {
  STRING: 'itself',
  STRINGS: 'itself',
  HEADER: 'itself',
  ENUM: 'itself',
  STEVEDORE: { helper: 'stevedoreString' },
  BOOL: { helper: 'boolString' },
  INT: { helper: 'intString', takesContext: true },
  BYTES: { helper: 'intString', takesContext: true },
  REAL: { helper: 'realString', takesContext: true },
  DURATION: { helper: 'realString', takesContext: true },
  TIME: { helper: 'timeString' },
  IP: { helper: 'ipString' },
  ACL: { helper: 'aclString' },
  BACKEND: { helper: 'backendString' },
  BLOB: { helper: 'blobString' },
  PROBE: null,
  HTTP: null,
  BODY: null,
  REGEX: null,
  SUB: null,
  VCL: null,
  VOID: null,
};

/** Types whose helper may give null (an unset value). */
export const NULLABLE_STRING: ReadonlySet<Type> = new Set(['BACKEND', 'STEVEDORE', 'BLOB']);

export function isString(t: Type): boolean {
  return t === 'STRING' || t === 'STRINGS' || t === 'HEADER';
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';

/** `left op right` gives `result`; `helper` computes it, otherwise the plain JavaScript operator does. */
const ARITHMETIC: readonly (readonly [Type, ArithmeticOperator, Type, Type, HelperName?])[] = [
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

const ARITHMETIC_INDEX = new Map(ARITHMETIC.map((r) => [`${r[0]} ${r[1]} ${r[2]}`, r]));

export function arithmetic(
  left: Type,
  op: string,
  right: Type,
): { type: Type; helper: HelperName | null } | null {
  const row = ARITHMETIC_INDEX.get(`${left} ${op} ${right}`);
  return row === undefined ? null : { type: row[3], helper: row[4] ?? null };
}

/** Comparisons a type has: all six or only equality. */
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

/** The type that `set v op= x` needs on its right side. */
const ASSIGNABLE: Readonly<Partial<Record<Type, Readonly<Record<string, Type>>>>> = {
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

/** Type wanted on the right of an assignment, or null when the type has no such operator. */
export function assignable(target: Type, op: string): Type | null {
  return ASSIGNABLE[target]?.[op] ?? null;
}

/** In small letters: capitals mean the same. */
export const BYTE_UNITS: ReadonlyMap<string, number> = new Map(
  ['b', 'k', 'm', 'g', 't', 'p'].flatMap((unit, power): [string, number][] => [
    [unit, 1024 ** power],
    [power === 0 ? unit : `${unit}b`, 1024 ** power],
  ]),
);

/** Where a value may begin with a minus sign. */
export const SIGNED: ReadonlySet<Type> = new Set(['INT', 'REAL', 'DURATION', 'STRING', 'STRINGS', 'HEADER']);
