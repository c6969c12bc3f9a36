// The parts that generated code is put together from: functions and the constants that they share, each with the names that
// it uses of the others.

import type { Span } from '../diagnostics.ts';

/** One line of generated code and its position in the program. */
export interface GeneratedLine {
  text: string;
  span: Span | null;
}

export interface GeneratedFunction {
  readonly name: string;
  readonly lines: readonly GeneratedLine[];
  /** Of other functions and of declarations. */
  readonly names: ReadonlySet<string>;
}

/** A constant, or an object that vcl_init makes. */
export interface GeneratedDeclaration {
  readonly name: string;
  /** Its value as an expression; null for an object. */
  readonly value: string | null;
  readonly names: ReadonlySet<string>;
}

export interface GeneratedParts {
  /** Lines that each function body begins with. */
  readonly head: readonly GeneratedLine[];
  readonly declarations: readonly GeneratedDeclaration[];
  readonly functions: readonly GeneratedFunction[];
  /** Returns the states' functions. */
  readonly states: GeneratedFunction;
}

export function unplaced(text: string): GeneratedLine {
  return { text, span: null };
}
