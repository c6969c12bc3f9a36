// Types of an exchange with an origin, as its connection sees them: callbacks, the owner of the connection, the
// read buffer, and counters.

import type { LentBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { OriginFailure } from './origin-failure.ts';

/** Called with null when the head of a response is complete, else with the failure. */
export type HeadCallback = (failure: OriginFailure | null) => void;

/** Called with an interim response, which the next head overwrites. */
export type InterimCallback = (head: HttpMessage) => void;

/** Takes the bytes of a socket as they are read; false stops reading. They are lent. */
export type SocketReader = (buf: LentBytes, start: number, end: number) => boolean;

/** The read buffer that all connections of a worker share: its bytes are lent for the turn of a read. */
export interface ReadBuffer {
  readonly bytes: Buffer;
  /** The turn of a read of `length` bytes has ended: a debug mode overwrites them. */
  turnOver(length: number): void;
}

/** The owner of a connection while it is idle and when it closes. */
export interface OwnerOf<Connection> {
  /** Takes a connection back for the next exchange. */
  keep(conn: Connection): void;
  /** A connection that was being returned had already been closed. */
  tooLate(): void;
  /** The connection is gone; called once. */
  gone(conn: Connection): void;
}

/** The byte counters of a backend that exchanges change. */
export interface ExchangeCounters {
  bereq_hdrbytes: number;
  bereq_bodybytes: number;
  beresp_hdrbytes: number;
  beresp_bodybytes: number;
}
