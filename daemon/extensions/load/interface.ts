// The interface of outside extensions: the shape that a JavaScript module or a Node-API addon exports, and the
// context it gets. This is the stable part; a change that breaks extensions raises EXTENSION_INTERFACE. The package
// exports this module as `proxyd/extension`, so it imports only what is packed with it.
//
// Everything the proxy passes in is valid for one call only: later use throws and has no effect. Exceptions are the
// tables and memory of `shared`, which last as long as the worker.

import type { BodyTransform, FilterChanges, FilterSide, PassingBody } from '../../contract/body-filter.ts';
import type { SharedState } from '../../contract/shared-state.ts';

/** The version of this interface. An extension declares as `abi` the version it was written for. */
export const EXTENSION_INTERFACE = 1;

export interface OutsideExtension {
  /** Value of EXTENSION_INTERFACE when the extension was written. */
  abi: number;
  /** If given, the name by which programs have to import it. */
  name?: string;
  /** Its purpose, in a few words. */
  help?: string;
  functions?: Readonly<Record<string, OutsideFunction>>;
  objects?: Readonly<Record<string, OutsideObject>>;
  /** Body filters by the names used in beresp.filters and resp.filters. */
  filters?: Readonly<Record<string, OutsideFilter>>;
  /** `priv` is the PRIV_VCL cell. A returned text, or a throw, refuses `load` and `warm`. */
  event?: (ctx: OutsideContext, event: OutsideEvent, priv: OutsideCell) => string | undefined;
}

/** Events of a program that imports the extension. */
export type OutsideEvent = 'load' | 'warm' | 'cold' | 'discard';

/** The argument for a PRIV parameter. */
export interface OutsideCell {
  /** Owned by the extension. */
  value: unknown;
  /** Called once with the value at the end of the cell's life. Errors are discarded, since no transaction is left
   * to fail. */
  end?: (value: unknown) => void;
}

/** Common part of functions and methods. */
interface OutsideCallable {
  signature: string;
  /** Description for users. */
  help?: string;
  places?: string;
  /** The call may return a promise: the transaction waits for it, while others are served. */
  waits?: boolean;
  /** Seconds that a promise may take before the transaction fails; 5 unless given. */
  timeout?: number;
}

export interface OutsideFunction extends OutsideCallable {
  // biome-ignore lint/suspicious/noExplicitAny: the signature says what the arguments are; the compiler enforces it
  call: (ctx: OutsideContext, ...args: any[]) => unknown;
}

export interface OutsideObject {
  signature: string;
  help?: string;
  mayBeAbsent?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: as those of a function
  create: (ctx: OutsideContext, name: string, ...args: any[]) => object;
  // biome-ignore lint/suspicious/noExplicitAny: what `create` made
  destroy?: (self: any) => void;
  methods: Readonly<Record<string, OutsideMethod>>;
}

export interface OutsideMethod extends OutsideCallable {
  // biome-ignore lint/suspicious/noExplicitAny: what `create` made, and as those of a function
  call: (ctx: OutsideContext, self: any, ...args: any[]) => unknown;
}

export interface OutsideFilter {
  /** Description for users. */
  help?: string;
  side: FilterSide;
  /** Default: `length`. */
  changes?: FilterChanges;
  open: (body: PassingBody) => BodyTransform;
}

export interface OutsideContext {
  readonly abi: number;
  /** Name of the running program. */
  readonly program: string;
  /** The state without `vcl_`; "event" for events. */
  readonly state: string;
  /** The program's `now`, in epoch seconds. */
  readonly now: number;
  /** Id of the transaction (vxid); 0 outside of one. */
  readonly xid: number;
  /** The heads of the transaction; null if the state has none. */
  readonly req: OutsideHead | null;
  readonly resp: OutsideHead | null;
  readonly obj: OutsideHead | null;
  readonly bereq: OutsideHead | null;
  readonly beresp: OutsideHead | null;
  /** Fails the transaction with this text. Never returns. */
  fail(text: string): never;
  /** The client's connection; null outside of transactions. */
  readonly session: OutsideSession | null;
  /** Number of restarts of the request, or of retries of the fetch. */
  readonly restarts: number;
  readonly retries: number;
  /** The backend of the fetch; on the client side the value of req.backend_hint. Null for none. */
  readonly backend: OutsideBackend | null;
  /** The program's backend with this description, created if necessary. One made in vcl_init is permanent; one
   * made later expires some minutes after its last use: call this each time, the same description returns the
   * same backend. */
  backendAt(description: OutsideBackendDescription): OutsideBackend;
  /** In vcl_init: registers a director of the program. */
  director(name: string, director: OutsideDirector): OutsideBackend;
  /** Name of the storage of the object, or of the one chosen for the response; null for none. */
  readonly storage: string | null;
  /** Lifetimes of the cached object (read-only), or of the response in vcl_backend_response and vcl_backend_error. */
  readonly life: OutsideLife | null;
  /** State shared by all threads of the worker; a module's variables are per thread. All extensions from files
   * share one namespace: prefix names with the extension's. */
  readonly shared: SharedState;
  /** Writes a VCL_Log record. */
  log(text: string): void;
  /** Writes a VCL_Error record; the transaction continues. */
  error(text: string): void;
  /** Writes a Debug record, if vsl_mask includes Debug. */
  debug(text: string): void;
}

/** Description of a backend. Times in seconds; missing ones default to the parameters. */
export interface OutsideBackendDescription {
  /** An address, not a host name: resolve names in a call that waits. */
  host?: string;
  /** Default: 80. */
  port?: string | number;
  /** A Unix socket, instead of `host`. */
  path?: string;
  /** Host header of requests without one. */
  hostHeader?: string;
  connectTimeout?: number;
  firstByteTimeout?: number;
  betweenBytesTimeout?: number;
  maxConnections?: number;
  /** A PROBE argument. */
  probe?: object;
}

/** Chooses the backend of fetches. */
export interface OutsideDirector {
  /** Called for each fetch. Null, or a throw, means no backend. */
  resolve(ctx: OutsideContext): OutsideBackend | null;
  /**
   * Default: true.
   * @param now epoch seconds
   */
  healthy?(now: number): boolean;
}

/** Addresses and ports of a connection: `client` and `server` are those of the PROXY header, if any. */
export interface OutsideSession {
  readonly id: number;
  readonly listener: string;
  readonly client: OutsideEnd;
  readonly server: OutsideEnd;
  readonly remote: OutsideEnd;
  readonly local: OutsideEnd;
}

export interface OutsideEnd {
  readonly address: string;
  readonly port: number;
}

/** A BACKEND value. */
export interface OutsideBackend {
  readonly name: string;
  /** @param now epoch seconds */
  healthy(now: number): boolean;
}

/** Seconds. */
export interface OutsideLife {
  ttl: number;
  grace: number;
  keep: number;
  readonly age: number;
}

/** A head; `obj` is read-only. Values are byte strings; characters beyond Latin-1 are written as UTF-8. */
export interface OutsideHead {
  readonly method: string;
  readonly url: string;
  readonly protocol: string;
  readonly status: number;
  readonly reason: string;
  /** The first header of this name, or null. */
  get(name: string): string | null;
  /** All headers of this name. */
  getAll(name: string): string[];
  /** Header names as received, one for each header. */
  names(): string[];
  /** Replaces all headers of this name. */
  set(name: string, value: string): void;
  /** Adds a header. */
  add(name: string, value: string): void;
  /** Removes all headers of this name. */
  unset(name: string): void;
}

/** A test of `proxyd --test-extension`, in the list that FILE.test.mjs beside FILE.mjs exports. Its program
 * imports the extension by its file name. */
export interface ExtensionTest {
  name: string;
  /** An expression of the program; its text has to equal `expect`. */
  value?: string;
  /** '' also matches an unset text. */
  expect?: string;
  /** Statements before `value`. */
  run?: string;
  /** Statements of vcl_init, such as `new c = greeting.counter();`. */
  init?: string;
  /** Declarations, such as backends and ACLs. Every backend is healthy, and nothing is fetched from it. */
  declare?: string;
  /** State of `run` and `value`. Default: vcl_recv. */
  state?: 'recv' | 'deliver' | 'backend_fetch' | 'backend_response';
  /** URL of the request. Default: `/`. */
  url?: string;
  /** Headers of the request, by name. */
  headers?: Readonly<Record<string, string>>;
  /** The program has to fail, in `state` or in vcl_init, with a message that contains this. */
  fails?: string;
  /** All VCL_Log records. */
  logs?: readonly string[];
}

export type {
  SharedDraft,
  SharedRow,
  SharedState,
  SharedTable,
  TableShape,
} from '../../contract/shared-state.ts';

// In the daemon, the unprefixed names belong to the built-in extensions.
export type {
  OutsideBackend as Backend,
  OutsideCell as Cell,
  OutsideContext as Context,
  OutsideExtension as Extension,
  OutsideFilter as Filter,
  OutsideHead as Head,
};
