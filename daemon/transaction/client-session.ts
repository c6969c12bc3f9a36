// What a request may ask of the connection it came on. net/session.ts is the one that answers; requests and fetches
// know no more of it than this.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { VclSession } from '../contract/context.ts';
import type { PreparedRecords, TxLog } from '../log/tx-log.ts';
import type { BodyCarrier, RequestBody } from './request-body.ts';

/** The other end of a pipe, which a session feeds. */
export interface PipeTap {
  /** Bytes from the client; the buffer belongs to the receiver. */
  fromClient(bytes: Buffer): void;
  /** The client closed its sending side. */
  clientEnded(): void;
  /** The client's connection is gone. */
  clientLost(): void;
}

export interface ClientSession extends VclSession, BodyCarrier {
  readonly log: TxLog;
  /** When the first byte of the head being received arrived, 0 when none did. */
  readonly tHead: number;
  /** Texts that every request of the session logs or sends. */
  readonly beginRecord: PreparedRecords;
  readonly startRecord: PreparedRecords;
  readonly forwardedLine: string;
  readonly forwardedRecord: PreparedRecords;
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
  /** Writes buf[start, end) of the worker's shared output buffer. */
  writeOutput(buf: Buffer, start: number, end: number): void;
  /** The same, and with them parts that stay unchanged until sent. Returns false when they have not all left yet: wait
   * for `drained`. */
  writeOutputAnd(buf: Buffer, start: number, end: number, parts: readonly Buffer[]): boolean;
  /** Writes bytes that stay unchanged until sent. Returns false when they have not all left yet: wait for
   * `drained`. */
  write(buf: Uint8Array): boolean;
  /** Writes bytes that stay unchanged until sent, in one call. Returns false when they have not all left yet: wait for
   * `drained`. */
  writeParts(parts: readonly Buffer[]): boolean;
  /** Calls back once when everything written has left; never when the connection goes first. */
  drained(callback: () => void): void;
  /** The same without a limit of time: who waits has one of its own. */
  taken(callback: () => void): void;
  /** Calls back once when everything written has left, or the connection has gone: when the runtime is done with it. */
  onceReleased(callback: () => void): void;
  pauseReading(): void;
  resumeReading(): void;
  /** The request under way is over and its response has been handed to the connection. */
  requestDone(): void;
  /** From now on bytes go to and from the tap; requestDone() is not called any more. */
  startPipe(tap: PipeTap): void;
  /** The pipe's other end is being replaced: bytes wait for the next tap, and a client that leaves is noticed. */
  interruptPipe(): void;
  /** The pipe is over; the request ends like any other and the connection with it. */
  pipeEnded(): void;
  /** Ends the connection in an orderly way: the response is flushed, unread input discarded for a moment. */
  close(reason: CloseReason): void;
  /** Cuts the connection: what was promised cannot be delivered. */
  cut(reason: CloseReason): void;
  /** Cuts so that the client cannot take it for an orderly end, where the end would mean that all was sent. */
  reset(reason: CloseReason): void;
}
