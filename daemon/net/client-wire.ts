// The connection of a client as the session sees it: it reads, writes and ends. Two kinds of it exist: client-handle.ts
// over a bare handle of the runtime, and client-socket.ts over a socket, for runtimes without such handles.

import type { LentBytes } from '../http1/lent-bytes.ts';
import type { SystemError } from '../system-error.ts';

export interface WireUser {
  /** The bytes are lent. */
  receive(buf: LentBytes, start: number, end: number): void;
  /** The client sends no more. */
  receivedEnd(): void;
  /** The connection is gone, whoever ended it: called once, in a later turn, and the last call. */
  lost(): void;
}

export interface WireEnd {
  readonly address: string;
  readonly port: number;
}

export interface ClientWire {
  /** Asked for once each; null on a Unix socket, and when the connection has gone already. */
  readonly remote: WireEnd | null;
  readonly local: WireEnd | null;
  /** The descriptor's number where the platform shows it, else 0. */
  readonly fd: number;
  /** Whether it was destroyed, from either side. */
  readonly isGone: boolean;
  /** What the system said when it broke; NO_ERROR while it has not, and when it ended in another way. */
  readonly error: SystemError;
  /** Whether the client has not taken everything yet that was written. */
  readonly isSending: boolean;
  /** Bytes written that the kernel has not taken. */
  readonly queued: number;
  /** Whom it reports to; before it reads. */
  begin(user: WireUser): void;
  /** Seconds. */
  keepAlive(delay: number): void;
  /** Reads, from the beginning on or after pause(). */
  resume(): void;
  pause(): void;
  /** Writes bytes that nobody changes until they have left; whether they all have. A failed write destroys the wire;
   * after the end nothing is written, and nobody waits for it. */
  write(bytes: Uint8Array): boolean;
  /** The same, in one call of the system. */
  writeAll(parts: readonly Uint8Array[]): boolean;
  /** Calls back once when everything written so far has left, in a later turn; never when the connection goes first. */
  flushed(callback: () => void): void;
  /** Ends this side once everything has left. When the client's has ended too, the wire is destroyed. */
  end(): void;
  destroy(): void;
  /** Destroys it so that the client sees it; a Unix socket has no reset. */
  reset(): void;
}
