// The body of a client request as the source of a flow. Bytes arrive from the session (feed), are unframed here and
// written to the sink. Never holds bytes itself: while the sink has no room they stay in the session, which stops
// reading the socket. A body cut short ends in abort(), never in end().

import type { Abort, BodyError, Sink, Source } from '../flow/flow.ts';
import { type AnyPiece, LentPiece, NOTHING } from '../flow/piece.ts';
import { type ChunkError, ChunkedDecoder } from '../http1/chunked.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import { NO_ERROR, type SystemError } from '../system-error.ts';

/** The session of a body, which feeds it. */
export interface BodyCarrier {
  /** Called once, before the first byte is asked for. */
  bodyBegins(): void;
  /** Start (again) to deliver bytes: leftover first, then from the socket. */
  bodyWanted(): void;
  /** Called once when the last byte was taken or the body failed. */
  bodySettled(): void;
}

/** A body that a fetch can send to an origin. */
export interface UploadSource extends Source<AnyPiece> {
  readonly chunked: boolean;
  /** Declared length, or -1 when chunked. */
  readonly length: number;
  readonly complete: boolean;
  readonly started: boolean;
  /** The system's error when it could not be read to its end. */
  readonly error: SystemError;
  /** Whether it can be sent again. */
  readonly replayable: boolean;
}

/** Reasons that are not the body's own. */
function isUseless(reason: Abort): reason is 'overflow' | 'storage' | 'filter' {
  return reason === 'overflow' || reason === 'storage' || reason === 'filter';
}

export class RequestBody implements UploadSource {
  readonly replayable = false;
  readonly chunked: boolean;
  /** Declared length, or -1 when chunked. */
  readonly length: number;
  /** Body bytes received, without framing. */
  received = 0;
  /** In how many pieces they came. */
  pieces = 0;
  /** True once all of it was received. */
  complete = false;
  failed: BodyError | null = null;
  error: SystemError = NO_ERROR;
  /** True from the first start() on: a body can be read once. */
  started = false;
  paused = false;
  private readonly carrier: BodyCarrier;
  private readonly decoder: ChunkedDecoder | null;
  private remaining: number;
  private sink: Sink<AnyPiece> | null = null;

  /** @param framed its end comes from outside, by ended(), where its length is not declared */
  constructor(carrier: BodyCarrier, length: number, framed = false) {
    this.carrier = carrier;
    this.length = length;
    this.chunked = length < 0;
    this.remaining = length < 0 ? Number.POSITIVE_INFINITY : length;
    this.decoder = this.chunked && !framed ? new ChunkedDecoder() : null;
    if (length === 0) this.complete = true;
  }

  start(sink: Sink<AnyPiece>): void {
    this.started = true;
    this.sink = sink;
    sink.connect(this);
    if (this.complete) {
      sink.end(NOTHING);
      return;
    }
    if (this.failed !== null) {
      sink.abort(this.failed);
      return;
    }
    this.carrier.bodyBegins();
    this.carrier.bodyWanted();
  }

  room(): void {
    if (!this.paused) return;
    this.paused = false;
    if (!this.complete && this.failed === null) this.carrier.bodyWanted();
  }

  /** The rest is discarded by the session; where it is of no use to its sink the body has failed. */
  stop(reason: Abort): void {
    this.sink = null;
    this.paused = false;
    if (isUseless(reason)) this.fail(reason);
  }

  get wantsData(): boolean {
    return this.sink !== null && !this.paused && !this.complete && this.failed === null;
  }

  /** Takes bytes from the session; returns how many were used. */
  feed(buf: LentBytes, start: number, end: number): number {
    if (this.complete || this.failed !== null) return 0;
    if (this.decoder !== null) return this.feedChunked(this.decoder, buf, start, end);
    const take = Math.min(this.remaining, end - start);
    this.remaining -= take;
    this.received += take;
    this.pieces++;
    if (take > 0) this.write(buf, start, start + take);
    if (this.remaining === 0) this.settle();
    return take;
  }

  /** All that was fed is all there is. */
  ended(): void {
    if (this.complete || this.failed !== null) return;
    if (this.length < 0) this.settle();
    else this.fail('eof');
  }

  /** @param error of the system, where it was the connection that failed */
  fail(reason: BodyError, error: SystemError = NO_ERROR): void {
    if (this.complete || this.failed !== null) return;
    this.failed = reason;
    this.error = error;
    const sink = this.sink;
    this.sink = null;
    // First the carrier: the sink may end the request, and with it the log that the carrier writes to.
    this.carrier.bodySettled();
    sink?.abort(reason);
  }

  /** The log's text for a body that broke off; null when it did not, or when that was logged already. */
  get fault(): string | null {
    if (this.failed === null || isUseless(this.failed)) return null;
    return this.decoder?.fault ?? 'straight insufficient bytes';
  }

  /** Which rule of the chunks it broke and where; null when it broke none. */
  get broken(): { readonly name: ChunkError; readonly place: string } | null {
    const { decoder } = this;
    if (decoder === null || decoder.error === null) return null;
    return { name: decoder.error, place: decoder.place };
  }

  private write(buf: LentBytes, start: number, end: number): void {
    if (this.sink?.write(new LentPiece(buf, start, end)) === 'wait' && this.sink !== null) this.paused = true;
  }

  private feedChunked(decoder: ChunkedDecoder, buf: LentBytes, start: number, end: number): number {
    const used = decoder.decode(buf, start, end, (b, s, e, pieces) => {
      this.received += e - s;
      this.pieces += pieces;
      this.write(b, s, e);
    });
    if (decoder.error !== null) this.fail('chunked');
    else if (decoder.done) this.settle();
    return used;
  }

  private settle(): void {
    // The consumer may have given up over the very last bytes.
    if (this.failed !== null) return;
    this.complete = true;
    const sink = this.sink;
    this.sink = null;
    this.carrier.bodySettled();
    sink?.end(NOTHING);
  }
}
