// The interface between config programs and their extensions (`import x;`): functions and objects with typed
// parameters. The compiler reads the signatures, the loaded program calls the functions.
//
// A signature is a text such as "STRING tolower(STRING s)" with "[…]" around what may be left out and "=value"
// for a default. Values: STRING string or null (unset), INT REAL BYTES DURATION TIME number (seconds, bytes),
// BOOL boolean, IP VclIp, BACKEND Director or null, HEADER HeaderRef, HTTP HttpMessage, BLOB Uint8Array or
// null, ENUM string, REGEX VclRegex, SUB function. What is left out is undefined.

import type { VclContext } from '../vcl/context.ts';

// biome-ignore lint/suspicious/noExplicitAny: the signature says what the arguments are; the checker enforces it
export type ExtensionCall = (ctx: VclContext, ...args: any[]) => unknown;

export interface ExtensionFunction {
  signature: string;
  /** States (without `vcl_`) or groups it may be called from; absent is everywhere. */
  places?: string;
  call: ExtensionCall;
}

export interface ExtensionObject {
  /** "name(arguments)". */
  signature: string;
  create: (ctx: VclContext, name: string, ...args: never[]) => object;
  methods: Readonly<Record<string, ExtensionMethod>>;
}

export interface ExtensionMethod {
  signature: string;
  places?: string;
  // biome-ignore lint/suspicious/noExplicitAny: see ExtensionCall
  call: (ctx: VclContext, self: any, ...args: any[]) => unknown;
}

export interface Extension {
  name: string;
  functions: Readonly<Record<string, ExtensionFunction>>;
  objects?: Readonly<Record<string, ExtensionObject>>;
}

/** Finds an extension by its name; undefined when there is none. */
export type ExtensionLookup = (name: string) => Extension | undefined;
