// Who takes part in an exchange with an origin, as its connection sees them: the one that takes the body, the one that
// owns the connection, and the counters that move.

import type { FetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { OriginConnection } from './connection.ts';
import type { OriginFailure } from './origin-failure.ts';

/** Takes a response body. Bytes are valid only until data() returns; nothing is called after end() or error(). */
export interface OriginBodySink {
  data(buf: Buffer, start: number, end: number): void;
  end(): void;
  error(reason: FetchFailure): void;
}

/** Told null when the head of a response is there, else what went wrong. */
export type HeadTold = (failure: OriginFailure | null) => void;

/** Shown an interim response, which the next head overwrites. */
export type InterimTold = (head: HttpMessage) => void;

/** Takes the bytes of a socket as they come; false stops reading. The buffer is only borrowed. */
export type SocketReader = (buf: Buffer, start: number, end: number) => boolean;

/** Who owns the connection while it is idle or when it goes. */
export interface ConnectionOwner {
  /** Takes a connection back for the next exchange. */
  keep(conn: OriginConnection): void;
  /** A connection that was to be taken back had been closed by then. */
  tooLate(): void;
  /** The connection is gone; called once. */
  gone(conn: OriginConnection): void;
}

/** Counters of one backend and of the worker that exchanges move. */
export interface ExchangeCounters {
  bereq_hdrbytes: number;
  bereq_bodybytes: number;
  beresp_hdrbytes: number;
  beresp_bodybytes: number;
}
