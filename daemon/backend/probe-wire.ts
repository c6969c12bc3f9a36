// The connection of one poll: it is opened, takes one write, and reports events until it is closed. There are three
// implementations: handle-wire.ts, cheap enough for a thousand probes, socket-wire.ts for runtimes without such
// handles, and secure-wire.ts for TLS.

import type { LentBytes } from '../http1/lent-bytes.ts';
import type { SystemError } from '../system-error.ts';
import type { OriginAddress } from './address.ts';

/** Callbacks, always in a later turn than the call that led to them, and never after close(). */
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
  /** The local end, once connected; null on a Unix socket. */
  readonly local: { address: string; port: number } | null;
  /** The error when the time is over before connected(); absent: the connection timed out. */
  readonly lateness?: SystemError;
  write(bytes: Buffer): void;
  close(): void;
}

/** Starts to connect. */
export type OpenWire = (at: OriginAddress, user: WireUser) => ProbeWire;
