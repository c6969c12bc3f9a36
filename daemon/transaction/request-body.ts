// The body of a client request: a pull-less source with one consumer at a time. Bytes arrive from the session
// (feed), are unframed here and handed to the sink. Never holds bytes itself: what the consumer cannot take
// stays in the session, which stops reading the socket. A body cut short ends in error(), never in end().

import { type ChunkError, ChunkedDecoder } from '../http1/chunked.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import { NO_ERROR, type SystemError } from '../system-error.ts';

/** Takes a request body. Bytes are lent until data() returns. */
export interface BodySink {
  readonly data: (buf: LentBytes, start: number, end: number) => void;
  end(): void;
  error(reason: BodyError): void;
}

export type BodyError = 'eof' | 'timeout' | 'chunked' | 'overflow' | 'storage' | 'closed';

/** What the body asks of its session. */
export interface BodyCarrier {
  /** Called once, before the first byte is asked for. */
  bodyBegins(): void;
  /** Start (again) to deliver bytes: leftover first, then from the socket. */
  bodyWanted(): void;
  /** Called once when the last byte was taken or the body failed. */
  bodySettled(): void;
}

/** A body that a fetch can send to an origin. */
export interface BodySource {
  readonly chunked: boolean;
  /** Declared length, or -1 when chunked. */
  readonly length: number;
  readonly complete: boolean;
  readonly started: boolean;
  /** What the system said when it could not be read to its end. */
  readonly error: SystemError;
  /** Whether it can be sent again. */
  readonly replayable: boolean;
  start(sink: BodySink): void;
  pause(): void;
  resume(): void;
  abandon(): void;
}

export class RequestBody implements BodySource {
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
  private sink: BodySink | null = null;

  constructor(carrier: BodyCarrier, length: number) {
    this.carrier = carrier;
    this.length = length;
    this.chunked = length < 0;
    this.remaining = length;
    this.decoder = this.chunked ? new ChunkedDecoder() : null;
    if (length === 0) this.complete = true;
  }

  /** Begins delivery to `sink`; the first bytes may come before this returns. */
  start(sink: BodySink): void {
    this.started = true;
    this.sink = sink;
    if (this.complete) {
      sink.end();
      return;
    }
    if (this.failed !== null) {
      sink.error(this.failed);
      return;
    }
    this.carrier.bodyBegins();
    this.carrier.bodyWanted();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    if (!this.complete && this.failed === null) this.carrier.bodyWanted();
  }

  /** Detaches the consumer; what still comes is discarded by the session. */
  abandon(): void {
    this.sink = null;
    this.paused = false;
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
    if (take > 0) this.sink?.data(buf, start, start + take);
    if (this.remaining === 0) this.settle();
    return take;
  }

  /** @param error what the system said, where it was the connection that failed */
  fail(reason: BodyError, error: SystemError = NO_ERROR): void {
    if (this.complete || this.failed !== null) return;
    this.failed = reason;
    this.error = error;
    const sink = this.sink;
    this.sink = null;
    // First the carrier: the consumer may end the request, and with it what the carrier tells about it.
    this.carrier.bodySettled();
    sink?.error(reason);
  }

  /** What the log says of a body that broke off; null when it did not, or when that was logged already. */
  get fault(): string | null {
    if (this.failed === null || this.failed === 'overflow' || this.failed === 'storage') return null;
    return this.decoder?.fault ?? 'straight insufficient bytes';
  }

  /** Which rule of the chunks it broke and where; null when it broke none. */
  get broken(): { readonly name: ChunkError; readonly place: string } | null {
    const { decoder } = this;
    if (decoder === null || decoder.error === null) return null;
    return { name: decoder.error, place: decoder.place };
  }

  private feedChunked(decoder: ChunkedDecoder, buf: LentBytes, start: number, end: number): number {
    const used = decoder.decode(buf, start, end, (b, s, e, pieces) => {
      this.received += e - s;
      this.pieces += pieces;
      this.sink?.data(b, s, e);
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
    sink?.end();
  }
}
