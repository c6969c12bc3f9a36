// A compiled config program: plain data, made by the manager and sent to the worker, which loads it (VclProgram in
// context.ts).

import type { Release } from '../../protocol/tables/release-changes.ts';
import { STATES as STATE_ROWS } from '../../protocol/tables/states.ts';

/** A `backend` declaration. A field that the program does not give is absent: the parameter's default applies, if
 * any. Times in seconds. */
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
  /** Most fetches that wait for a connection, and seconds that one waits. */
  waitLimit?: number;
  waitTimeout?: number;
  proxyHeader?: number;
  probe?: ProbeDecl;
  /** Bytes sent on every new connection, in base64. */
  preamble?: string;
  /** Beyond Varnish: seconds between re-resolutions of the name. */
  resolve?: number;
  /** Addresses of the host when the program was compiled, in the resolver's order; absent for numeric addresses and
   * paths. They let a restarted worker do without a name server. */
  addresses?: string[];
  /** Name of the backend that connections go through, one declared before. */
  via?: string;
  /** Name of the destination for the backend of `via`; '' for none. */
  authority?: string;
  /** TLS to the backend; absent: none. */
  tls?: BackendTls;
}

/** How a backend is spoken to over TLS. Texts of files are in CompiledProgram.pem, so that this part has no key in it and
 * may be compared and shown. */
export interface BackendTls {
  /** The name that the certificate is to have: one in lower case, or an address. */
  name: string;
  /** Asks for that name (RFC 6066 section 3); never for an address. */
  sni: boolean;
  /** Whether the certificate must come from one of the authorities. */
  verifyPeer: boolean;
  /** Whether the certificate must have the name. */
  verifyHost: boolean;
  /** Digest of the authorities; null if none is needed. */
  ca: string | null;
  /** Whether they are those of the system, not of `.ssl_ca`. */
  systemCa: boolean;
  /** Digests of the client's certificate with its chain, and of its key; null without one. */
  cert: string | null;
  key: string | null;
}

/** A backend created at run time. `host` is an address; `via` names a backend that is declared. */
export interface RunTimeDecl extends Omit<BackendDecl, 'name' | 'none' | 'resolve' | 'addresses' | 'tls'> {
  /** Its name, where that is not its place. */
  shownAs?: string;
  /** TLS as a declared backend speaks it, to a peer with this name. */
  tlsAs?: { backend: string; name: string };
}

/** A `probe` declaration. A field that the program does not give is absent; vcl-probe(7) lists the defaults. */
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

/** The headers (lower case) that a state's code reads and writes; '*' if unknown. */
export interface StateFacts {
  /** Whether the state has only the builtin program's code. */
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

/** The file of an extension, as described for the manager. */
export interface OutsideModule {
  name: string;
  file: string;
  /** Name of a copy with the same content; null if none was kept. */
  copy: string | null;
  /** SHA-256 of the content. */
  digest: string;
  kind: 'addon' | 'esm' | 'cjs';
  /** Its description as JSON: it must be the same when the file is loaded. */
  manifest: string;
}

/** edge-connector.conf as read by the manager, which alone has access. */
export interface EdgeFile {
  text: string;
  /** For messages. */
  path: string;
  /** The default directory of the queue. */
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
  /** Certificates and keys of `.ssl_ca`, `.ssl_cert` and `.ssl_key` as PEM, by digest; absent if there are none. Keys are
   * in it: nothing shows or logs it. */
  pem?: Record<string, string>;
  /** Name of the backend used if the program sets none, or null. */
  defaultBackend: string | null;
  /** By state name (vcl_recv ...). */
  facts: Record<string, StateFacts>;
  /** Heads to keep unmodified, because the program may restore them. */
  keeps: KeptHeads;
  /** VCL syntax version, 40 or 41. */
  syntax: number;
  /** Whose meaning it has where releases of Varnish differ (varnish_release when it was compiled). */
  release: Release;
  /** Extensions imported. */
  imports: string[];
  /** The imported extensions that are loaded from files. */
  modules: OutsideModule[];
  /** The settings of the edge connector at the time of loading; absent if it is not imported. */
  edge?: EdgeFile;
  /** Labels in `return (vcl(…))`, for vcl.deps. */
  labels: string[];
  /** Where generated lines came from: 32-bit numbers in base64, generated line, file index, line and column of each. */
  positions: string;
}

export type StateName = (typeof STATE_ROWS)[number]['name'];

/** The states in the order of their ids; `runState()` takes an index into this list. */
export const STATES: readonly StateName[] = STATE_ROWS.map((row) => row.name);

/** State ids by name: `State.recv`. */
export const State: { readonly [N in StateName]: number } = Object.fromEntries(
  STATES.map((name, id) => [name, id]),
) as Record<StateName, number>;

/** The result of a state. Codes are indexes into RETURNS of tables/returns.ts. */
export type ReturnCode = number;
