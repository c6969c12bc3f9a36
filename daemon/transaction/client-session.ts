// The connection of a request, as far as requests and fetches know it. Implemented by net/http1-input.ts, and by
// request/fragment-request.ts for fragments.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { VclSession } from '../contract/context.ts';
import type { Room, SharedOutput, Sink } from '../flow/flow.ts';
import type { Piece } from '../flow/piece.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { PreparedRecords, TxLog } from '../log/tx-log.ts';
import type { HotHead } from './hot-heads.ts';
import type { BodyCarrier, RequestBody } from './request-body.ts';

/** The answer to a request of HTTP/2: frames of its stream, where HTTP/1 has text. What is written to its session is the body
 * alone. Each returns the bytes of the head. */
export interface StreamAnswer {
  /** A final head. @param ends whether no body follows */
  head(resp: HttpMessage, ends: boolean): number;
  /** A head with a status of 1xx. */
  interim(resp: HttpMessage): number;
  /** The head of a plain hit. @param id value of the header of transaction ids. @param age seconds */
  hotHead(hot: HotHead, id: string, age: number, ends: boolean): number;
  /** A place for a whole body of this many bytes in the next write; null for a large one, and while the client's windows, or
   * other streams, are in its way. Fill all of it before anything else is written. */
  bodyPlace(length: number): BodyPlace | null;
  /** The last bytes of the body. */
  end(piece: Piece): Room;
  /** Whether a body follows the request's head. */
  readonly hasBody: boolean;
}

export interface BodyPlace {
  readonly out: Buffer;
  readonly at: number;
}

/** As an output it writes in one call of the system, and has room when the client has taken everything. */
export interface ClientSession extends VclSession, BodyCarrier, SharedOutput {
  readonly log: TxLog;
  /** When the first byte of the head being received arrived, 0 when none did. */
  readonly tHead: number;
  /** Texts that every request of the session logs or sends. */
  readonly beginRecord: PreparedRecords;
  readonly startRecord: PreparedRecords;
  readonly forwardedLine: string;
  readonly forwardedRecord: PreparedRecords;
  /** Null for HTTP/1. */
  readonly stream: StreamAnswer | null;
  /** Set when the connection must end after the current response. */
  closeAfter: CloseReason | null;
  /** The body of the request under way, which the session feeds. */
  body: RequestBody | null;
  readonly isOpen: boolean;
  /** The client has not taken everything yet that was written. */
  readonly isSending: boolean;
  /** The client has sent more than what has been worked on; bytes of it. */
  readonly hasInput: boolean;
  readonly inputLength: number;
  /** The request under way is over and its response has been handed to the connection. */
  requestDone(): void;
  /** Begins a pipe: what the client sends goes into `sink` from now on, and requestDone() is not called any more. */
  startPipe(sink: Sink): void;
  /** The pipe's other end is being replaced: bytes wait for the next sink, and a client that leaves is noticed. */
  interruptPipe(): void;
  /** The pipe is over; the request ends like any other and the connection with it. */
  pipeEnded(reason: CloseReason): void;
  /** Ends the connection in an orderly way: the response is flushed, unread input discarded for a moment. */
  close(reason: CloseReason): void;
  /** Cuts the connection: what was promised cannot be delivered. */
  cut(reason: CloseReason): void;
  /** Cuts so that the client cannot take it for an orderly end, where the end would mean that all was sent. */
  reset(reason: CloseReason): void;
}
