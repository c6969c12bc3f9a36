// The types of VCL in the checker: their arithmetic by the rows of tables/operator-rows.ts, and the helper that
// converts each to a STRING.

import type { VARIABLES } from '../../../protocol/tables/variables.ts';
import type { Span } from '../diagnostics.ts';
import type { HelperName } from '../runtime/table.ts';
import { ARITHMETIC, ASSIGNABLE } from '../tables/operator-rows.ts';
import { BYTE_UNIT_ROWS, type Type } from '../tables/type-rows.ts';
import type { Code } from '../typed-program.ts';

/** Messages with headers: req, resp and so on. */
export type MessageName = (typeof VARIABLES)[number]['name'] extends infer N
  ? N extends `${infer M}.http.*`
    ? M
    : never
  : never;

/** A checked expression: its code, and the facts about its value. */
export interface Typed {
  type: Type;
  code: Code;
  span: Span;
  /** A STRING that may be unset (null). */
  nullable?: boolean;
  /** The value in the other type that it has, for where only that one fits. */
  also?: Typed;
  /** Content of a literal string. */
  literal?: string;
  /** The parts of a STRINGS, each a STRING. */
  strands?: Typed[];
  /** A header: its message, and its name. */
  header?: { message: MessageName; name: string };
}

/** Runtime helper that converts to a string; null: not convertible; `itself`: already a string. */
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

/** The value as a number, if it has one. */
export function asNumber(v: Typed): Typed {
  return v.also ?? v;
}

/** Types whose helper may give null (an unset value). */
export const NULLABLE_STRING: ReadonlySet<Type> = new Set(['BACKEND', 'STEVEDORE', 'BLOB']);

export function isString(t: Type): boolean {
  return t === 'STRING' || t === 'STRINGS' || t === 'HEADER';
}

const ARITHMETIC_INDEX = new Map(ARITHMETIC.map((r) => [`${r[0]} ${r[1]} ${r[2]}`, r]));

export function arithmetic(
  left: Type,
  op: string,
  right: Type,
): { type: Type; helper: HelperName | null } | null {
  const row = ARITHMETIC_INDEX.get(`${left} ${op} ${right}`);
  return row === undefined ? null : { type: row[3], helper: row[4] ?? null };
}

/** Type of the right side of an assignment; null if the type has no such operator. */
export function assignable(target: Type, op: string): Type | null {
  return ASSIGNABLE[target]?.[op] ?? null;
}

/** In lower case; case does not matter. */
export const BYTE_UNITS: ReadonlyMap<string, number> = new Map(
  BYTE_UNIT_ROWS.map(({ unit, size }) => [unit, size]),
);

/** Types whose values may begin with a minus sign. */
export const SIGNED: ReadonlySet<Type> = new Set(['INT', 'REAL', 'DURATION', 'STRING', 'STRINGS', 'HEADER']);
