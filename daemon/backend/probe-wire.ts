// A connection of one poll, as the poll sees it: it is opened, takes one write, and reports what comes until it is
// closed. Two kinds of it exist: handle-wire.ts, which a thousand probes can afford, and socket-wire.ts for runtimes
// without such handles.

import type { LentBytes } from '../http1/lent-bytes.ts';
import type { SystemError } from '../system-error.ts';
import type { OriginAddress } from './address.ts';

/** Called in a later turn than the one of the call that it answers, and never after close(). */
export interface WireUser {
  connected(): void;
  /** The bytes are lent. */
  received(buf: LentBytes, start: number, end: number): void;
  /** The other side sends no more. */
  ended(): void;
  /** The connection could not be made, or was lost. */
  failed(error: SystemError, what: 'connect' | 'read' | 'write'): void;
}

export interface ProbeWire {
  /** The own end, once connected; null on a Unix socket. */
  readonly local: { address: string; port: number } | null;
  write(bytes: Buffer): void;
  close(): void;
}

/** Begins to connect. */
export type OpenWire = (at: OriginAddress, user: WireUser) => ProbeWire;
