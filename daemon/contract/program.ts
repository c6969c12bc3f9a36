// A compiled config program: plain data, made by the manager and sent to the worker, which loads it (VclProgram in
// context.ts).

import { STATES as STATE_ROWS } from '../../protocol/tables/states.ts';

/** A `backend` declaration. A field is absent where the program does not give it: the parameter's default then holds, or
 * nothing. Times in seconds. */
export interface BackendDecl {
  name: string;
  /** True for `backend x none;`. */
  none?: boolean;
  host?: string;
  port?: string;
  path?: string;
  hostHeader?: string;
  connectTimeout?: number;
  firstByteTimeout?: number;
  betweenBytesTimeout?: number;
  maxConnections?: number;
  proxyHeader?: number;
  probe?: ProbeDecl;
  /** Bytes sent on every new connection, in base64. */
  preamble?: string;
  /** Beyond Varnish: seconds between re-resolutions of the name. */
  resolve?: number;
  /** What the name meant when the program was compiled, in the resolver's order; absent for numbers and paths. A worker
   * that starts again needs no name server. */
  addresses?: string[];
}

/** A backend that is made while the program runs. `host` is an address. */
export type RunTimeDecl = Omit<BackendDecl, 'name' | 'none' | 'resolve' | 'addresses'>;

/** A `probe` declaration. A field is absent where the program does not give it; vcl-probe(7) gives the defaults. */
export interface ProbeDecl {
  name?: string;
  url?: string;
  request?: string[];
  expectedResponse?: number;
  timeout?: number;
  interval?: number;
  initial?: number;
  window?: number;
  threshold?: number;
  expectClose?: boolean;
}

/** Which header fields (lower case) a state's code reads and writes; '*' when it cannot be known. */
export interface StateFacts {
  /** True when the state has no code beyond the builtin program's. */
  builtinOnly: boolean;
  reads: string[];
  writes: string[];
}

export interface KeptHeads {
  /** The client's request. */
  request: boolean;
  /** The request to the origin. */
  fetch: boolean;
}

/** A file that an extension is loaded from, as the manager had it described. */
export interface OutsideModule {
  name: string;
  file: string;
  /** Name of a copy of the same content; null when none was kept. */
  copy: string | null;
  /** SHA-256 of the content. */
  digest: string;
  kind: 'addon' | 'esm' | 'cjs';
  /** What it said of itself, as JSON: it has to say the same when it is loaded. */
  manifest: string;
}

/** edge-connector.conf as the manager read it, who alone may. */
export interface EdgeFile {
  text: string;
  /** For messages. */
  path: string;
  /** Where the queue is unless the settings say otherwise. */
  directory: string;
  /** Certificates of purge_ca_file, null without it. */
  ca: string | null;
}

export interface CodePiece {
  text: string;
  /** Lines of those before it. */
  line: number;
}

export interface CompiledProgram {
  /** JavaScript: function bodies, of which the last returns the states' functions. A large program has many. */
  pieces: CodePiece[];
  /** Where the program text came from, for messages and vcl.show -v: name and text, the main file first. */
  files: { name: string; text: string }[];
  backends: BackendDecl[];
  /** Name of the backend used when the program sets none, or null. */
  defaultBackend: string | null;
  /** By state name (vcl_recv ...). */
  facts: Record<string, StateFacts>;
  /** Heads that have to be kept as they were, because the program may want them back. */
  keeps: KeptHeads;
  /** VCL syntax version, 40 or 41. */
  syntax: number;
  /** Extensions imported. */
  imports: string[];
  /** Those of them that are loaded from files. */
  modules: OutsideModule[];
  /** Settings of the edge connector as they were when it was loaded; absent where it is not imported. */
  edge?: EdgeFile;
  /** Labels that `return (vcl(…))` names, for vcl.deps. */
  labels: string[];
  /** Where generated lines came from: 32-bit numbers in base64, generated line, file index, line and column of each. */
  positions: string;
}

export type StateName = (typeof STATE_ROWS)[number]['name'];

/** The states in the order of their ids; `runState` takes an index into this list. */
export const STATES: readonly StateName[] = STATE_ROWS.map((row) => row.name);

/** State ids by name: `State.recv`. */
export const State: { readonly [N in StateName]: number } = Object.fromEntries(
  STATES.map((name, id) => [name, id]),
) as Record<StateName, number>;

/** What a state returned. Codes are indexes into tables/returns.ts RETURNS. */
export type ReturnCode = number;
