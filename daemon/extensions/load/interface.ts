// What an extension from outside is: the shape that a JavaScript module or a Node-API addon exports, and the
// small context it gets. This is the stable part; a change that breaks an extension raises ABI.
//
// Everything the proxy hands out here lives for one call only: using it later throws, and harms nothing.

import type { ExtensionEvent } from '../../contract/extension.ts';
import type { Priv } from '../../contract/priv.ts';

/** The version of this interface. An extension names the one it was written for. */
export const ABI = 1;

export interface OutsideExtension {
  abi: number;
  /** When given, the name that programs have to import it by. */
  name?: string;
  functions?: Readonly<Record<string, OutsideFunction>>;
  objects?: Readonly<Record<string, OutsideObject>>;
  /** `priv` is the PRIV_VCL cell. A text, or a throw, refuses `load` and `warm`. */
  event?: (ctx: OutsideContext, event: ExtensionEvent, priv: Priv) => string | undefined;
}

export interface OutsideFunction {
  signature: string;
  places?: string;
  call: (ctx: OutsideContext, ...args: unknown[]) => unknown;
}

export interface OutsideObject {
  signature: string;
  mayBeAbsent?: boolean;
  create: (ctx: OutsideContext, name: string, ...args: unknown[]) => object;
  destroy?: (self: object) => void;
  methods: Readonly<Record<string, OutsideMethod>>;
}

export interface OutsideMethod {
  signature: string;
  places?: string;
  call: (ctx: OutsideContext, self: object, ...args: unknown[]) => unknown;
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
  /** A VCL_Log record. */
  log(text: string): void;
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
