// What an extension from outside is: the shape that a JavaScript module or a Node-API addon exports, and the
// small context it gets. This is the stable part; a change that breaks an extension raises EXTENSION_INTERFACE.
// The package exports this module as `proxyd/extension`, so that it imports only what is packed with it.
//
// Everything the proxy hands out here lives for one call only: using it later throws, and harms nothing. Tables and
// memory of `shared` are the exception: they are the extension's for as long as the worker runs.

import type { BodyTransform, FilterChanges, FilterSide, PassingBody } from '../../contract/body-filter.ts';
import type { SharedState } from '../../contract/shared-state.ts';

/** The version of this interface. An extension names the one it was written for as its `abi`. */
export const EXTENSION_INTERFACE = 1;

export interface OutsideExtension {
  /** EXTENSION_INTERFACE as it was when the extension was written. */
  abi: number;
  /** When given, the name that programs have to import it by. */
  name?: string;
  /** What it is for, in a few words. */
  help?: string;
  functions?: Readonly<Record<string, OutsideFunction>>;
  objects?: Readonly<Record<string, OutsideObject>>;
  /** By the names that programs use in beresp.filters and resp.filters. */
  filters?: Readonly<Record<string, OutsideFilter>>;
  /** `priv` is the PRIV_VCL cell. A text, or a throw, refuses `load` and `warm`. */
  event?: (ctx: OutsideContext, event: OutsideEvent, priv: OutsideCell) => string | undefined;
}

/** What happens to a program that imports the extension. */
export type OutsideEvent = 'load' | 'warm' | 'cold' | 'discard';

/** What the call gets for a PRIV parameter. */
export interface OutsideCell {
  /** The extension's to keep. */
  value: unknown;
  /** Called once with the value when the cell's life ends. What it throws is lost: nobody is left to fail. */
  end?: (value: unknown) => void;
}

/** What functions and methods have in common. */
interface OutsideCallable {
  signature: string;
  /** What it does, for people. */
  help?: string;
  places?: string;
  /** The call may return a promise: the transaction waits for it, and others are served meanwhile. */
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
  /** What it does, for people. */
  help?: string;
  side: FilterSide;
  /** `length` unless given. */
  changes?: FilterChanges;
  open: (body: PassingBody) => BodyTransform;
}

export interface OutsideContext {
  readonly abi: number;
  /** Name of the program that runs. */
  readonly program: string;
  /** The state without `vcl_`; "event" for events. */
  readonly state: string;
  /** `now` of the program: epoch seconds. */
  readonly now: number;
  /** Id of the transaction; 0 outside of one. */
  readonly xid: number;
  /** The heads of the transaction, null where the state has none. */
  readonly req: OutsideHead | null;
  readonly resp: OutsideHead | null;
  readonly obj: OutsideHead | null;
  readonly bereq: OutsideHead | null;
  readonly beresp: OutsideHead | null;
  /** Fails the transaction with this text. Never returns. */
  fail(text: string): never;
  /** The connection of the client, null outside of transactions. */
  readonly session: OutsideSession | null;
  /** How often the request was restarted, or the fetch tried again. */
  readonly restarts: number;
  readonly retries: number;
  /** Where a fetch goes, or came from; on the client side what req.backend_hint was set to. Null for none. */
  readonly backend: OutsideBackend | null;
  /**
   * The program's backend of this description, made when there is none. Made in vcl_init it stays; made later it goes
   * some minutes after its last use: ask for it each time, the same description gives the same one.
   */
  backendAt(description: OutsideBackendDescription): OutsideBackend;
  /** In vcl_init: a director of the program. */
  director(name: string, director: OutsideDirector): OutsideBackend;
  /** Name of the storage of the object, or of where the response is to go; null where there is none. */
  readonly storage: string | null;
  /** Lifetimes of the cached object (read-only), or of the response in vcl_backend_response and vcl_backend_error. */
  readonly life: OutsideLife | null;
  /** What all threads of the worker have as one. What a module keeps in variables is its thread's own. Names belong to all
   * extensions from files together: begin them with the extension's. */
  readonly shared: SharedState;
  /** A VCL_Log record. */
  log(text: string): void;
  /** A VCL_Error record; the transaction goes on. */
  error(text: string): void;
  /** A Debug record, which is logged where vsl_mask says so. */
  debug(text: string): void;
}

/** A backend to be made. Seconds; what is left out is that of the parameters. */
export interface OutsideBackendDescription {
  /** An address; who has a name looks it up, in a call that waits. */
  host?: string;
  /** 80 unless given. */
  port?: string | number;
  /** A Unix socket, in place of a host. */
  path?: string;
  /** For requests without Host. */
  hostHeader?: string;
  connectTimeout?: number;
  firstByteTimeout?: number;
  betweenBytesTimeout?: number;
  maxConnections?: number;
  /** A PROBE that the program gave. */
  probe?: object;
}

/** Says where fetches go. */
export interface OutsideDirector {
  /** Called for each fetch. Null: nowhere. A throw, too. */
  resolve(ctx: OutsideContext): OutsideBackend | null;
  /** True unless given. @param now epoch seconds */
  healthy?(now: number): boolean;
}

/** Addresses and ports of a connection: `client` and `server` are those of a PROXY header where there was one. */
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

/** A head: `obj` is read-only. Values are texts of bytes; what is beyond Latin-1 is written as UTF-8. */
export interface OutsideHead {
  readonly method: string;
  readonly url: string;
  readonly protocol: string;
  readonly status: number;
  readonly reason: string;
  /** The first field of this name, or null. */
  get(name: string): string | null;
  /** All fields of this name. */
  getAll(name: string): string[];
  /** Field names as they came, each once a field. */
  names(): string[];
  /** Replaces all fields of this name. */
  set(name: string, value: string): void;
  /** Adds a field. */
  add(name: string, value: string): void;
  /** Removes all fields of this name. */
  unset(name: string): void;
}

/** A test of `proxyd --test-extension`, in the list that FILE.test.mjs exports beside FILE.mjs. Its program imports the
 * extension by the name of its file. */
export interface ExtensionTest {
  name: string;
  /** An expression of the program; what it is as a text has to be `expect`. */
  value?: string;
  /** '' also stands for an unset text. */
  expect?: string;
  /** Statements before `value`. */
  run?: string;
  /** Statements of vcl_init, as `new c = greeting.counter();`. */
  init?: string;
  /** Declarations, as backends and ACLs. Every backend is healthy, and nothing is fetched from it. */
  declare?: string;
  /** Where `run` and `value` stand: vcl_recv unless given. */
  state?: 'recv' | 'deliver' | 'backend_fetch' | 'backend_response';
  /** Of the request; `/` unless given. */
  url?: string;
  /** Of the request, by name. */
  headers?: Readonly<Record<string, string>>;
  /** The program has to fail, in `state` or in vcl_init, with a text that contains this. */
  fails?: string;
  /** All texts of VCL_Log records. */
  logs?: readonly string[];
}

export type {
  SharedDraft,
  SharedRow,
  SharedState,
  SharedTable,
  TableShape,
} from '../../contract/shared-state.ts';

// In the daemon, the plain names are those of the built-in extensions.
export type {
  OutsideBackend as Backend,
  OutsideCell as Cell,
  OutsideContext as Context,
  OutsideExtension as Extension,
  OutsideFilter as Filter,
  OutsideHead as Head,
};
