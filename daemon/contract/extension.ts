// The interface between config programs and their extensions (`import x;`): functions and objects with typed
// parameters. The compiler reads the signatures, the loaded program calls the functions.
//
// A signature is a text such as "STRING tolower(STRING s)" with "[…]" around what may be left out and "=value"
// for a default. Values: STRING string or null (unset; STRANDS arrive joined), INT REAL BYTES DURATION TIME
// number (seconds, bytes), BOOL boolean, IP VclIp, BACKEND Director or null, HEADER HeaderRef, HTTP HttpMessage,
// BLOB Uint8Array or null, ENUM string, REGEX BoundedRegex, ACL VclAcl, PROBE ProbeDecl, STEVEDORE name, SUB SubValue.
// What is left out is undefined.
//
// PRIV_CALL, PRIV_VCL, PRIV_TASK and PRIV_TOP in a signature are no arguments of the program: the function gets
// a Priv, one for each place of the call, program, task or top request (of this extension). Built-in extensions
// may also ask priv.ts for a cell of their own.
//
// A row says what sets it apart: a member that is left out stands for false, for nothing, or for what its docstring
// says.
//
// A call that cannot go on throws ExtensionError with the text for the log: the transaction fails, in vcl_init
// the load of the program.

import type { ImportedExtension, VclContext } from './context.ts';
import type { OutsideModule } from './program.ts';

// biome-ignore lint/suspicious/noExplicitAny: the signature says what the arguments are; the checker enforces it
export type ExtensionCall = (ctx: VclContext, ...args: any[]) => unknown;

export interface ExtensionFunction {
  signature: string;
  /** Sentences for the manual page: what the call does or returns, its units, and its result if there is nothing to
   * return. */
  help: string;
  /** States (without `vcl_`) or groups it may be called from; everywhere if absent. */
  places?: string;
  /** The same since Varnish 7.4, for programs under varnish_release=9.0 (restrictedCalls): before, the call fails or does
   * nothing elsewhere. */
  newerPlaces?: string;
  /** The call may return a Waiting (waiting.ts). Without `places` it may be called from WAITING_PLACES. */
  waits?: boolean;
  /** Sentences that say why it cannot be called here: a program that does so does not compile. */
  refusal?: string;
  /** The call restores a head to its original; the HTTP argument says which. */
  restores?: boolean;
  call: ExtensionCall;
}

export interface ExtensionObject {
  /** "name(arguments)". */
  signature: string;
  help: string;
  // biome-ignore lint/suspicious/noExplicitAny: see ExtensionCall
  create: (ctx: VclContext, name: string, ...args: any[]) => object;
  /** Called when the program is discarded, the last created object first. Must not throw. */
  // biome-ignore lint/suspicious/noExplicitAny: see ExtensionCall
  destroy?: (self: any) => void;
  /** Continues long initialization after vcl_init; false when complete. Only then is the program loaded. A thrown
   * ExtensionError fails the load. */
  // biome-ignore lint/suspicious/noExplicitAny: see ExtensionCall
  prepare?: (self: any) => boolean;
  methods: Readonly<Record<string, ExtensionMethod>>;
  /** Whether vcl_init may end without creating a declared object; its methods then get null. */
  mayBeAbsent?: boolean;
}

export interface ExtensionMethod {
  signature: string;
  help: string;
  places?: string;
  /** Both as for a function. */
  newerPlaces?: string;
  waits?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: see ExtensionCall
  call: (ctx: VclContext, self: any, ...args: any[]) => unknown;
}

export interface Extension extends ImportedExtension {
  /** Its purpose in a few words: the first line of its manual page. */
  help: string;
  /** Further sections of its manual page, by heading; empty lines separate paragraphs. */
  notes?: Readonly<Record<string, string>>;
  /** Loaded from a file: its effects on headers are unknown. */
  outside?: boolean;
  functions: Readonly<Record<string, ExtensionFunction>>;
  objects?: Readonly<Record<string, ExtensionObject>>;
}

/** Finds an extension by its name; undefined if there is none. */
export type ExtensionLookup = (name: string) => Extension | undefined;

/** An `import` of an extension that is not built in, as the compiler asks for it. */
export interface ImportRequest {
  name: string;
  /** The text after `from`, or null. */
  from: string | null;
}

export type DescribedModule =
  | { extension: Extension; module: OutsideModule; problem?: undefined }
  /** `at`: the token that the message points at. */
  | { problem: string; at: 'name' | 'import' };

/** Undefined if it has not been described yet: the compiler then records the request and continues. */
export type OutsideLookup = (request: ImportRequest) => DescribedModule | undefined;
