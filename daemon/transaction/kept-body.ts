// A request body that std.cache_req_body has read, in storage: it can be sent as often as retries and restarts need it, and
// lies there until the request and all of its fetches, those in the background too, have let go of it.

import type { Cache } from '../cache/cache.ts';
import type { Oc } from '../cache/objcore.ts';
import type { VclKeptBody } from '../contract/context.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import { NO_ERROR } from '../system-error.ts';
import type { BodySink, BodySource } from './request-body.ts';

const SLICE = 64 * 1024;

/** What of the cache a body needs. */
type Storing = Pick<Cache, 'filling' | 'reading' | 'references'>;

export class KeptBody implements VclKeptBody {
  private readonly cache: Storing;
  private readonly oc: Oc;

  private constructor(cache: Storing, oc: Oc) {
    this.cache = cache;
    this.oc = oc;
  }

  /**
   * The caller holds it.
   * @param length bytes to come, -1 when nobody knows
   * @returns null when the storage has no room
   */
  static begin(cache: Storing, storage: string, length: number): KeptBody | null {
    const oc = cache.filling.newPrivate();
    if (cache.filling.beginBody(oc, storage, length)) return new KeptBody(cache, oc);
    cache.references.deref(oc);
    return null;
  }

  /** False when the storage has no more room. */
  append(buf: LentBytes, start: number, end: number): boolean {
    return this.cache.filling.append(this.oc, buf, start, end);
  }

  /** All of it is there. */
  complete(): void {
    this.cache.filling.endBody(this.oc);
  }

  get length(): number {
    return this.cache.reading.bodyLength(this.oc);
  }

  bytes(): Buffer {
    const all = Buffer.allocUnsafe(this.length);
    this.cache.reading.copyBody(this.oc, 0, all, 0, all.length);
    return all;
  }

  /** Bytes from there on, as they lie in storage: some, and not necessarily all. */
  slice(from: number): Buffer {
    return this.cache.reading.slice(this.oc, from, SLICE);
  }

  hold(): void {
    this.cache.references.ref(this.oc);
  }

  release(): void {
    this.cache.references.deref(this.oc);
  }
}

/** Sends a kept body: each fetch has one of these over the same bytes, which nobody changes. It is handed out in slices, so
 * that an origin that reads slowly holds it up like any other body. */
export class KeptBodySource implements BodySource {
  readonly chunked = false;
  readonly replayable = true;
  readonly complete = true;
  readonly error = NO_ERROR;
  /** It is never used up. */
  readonly started = false;
  readonly length: number;
  private readonly kept: KeptBody;
  private at = 0;
  private paused = false;
  private pumping = false;
  private sink: BodySink | null = null;

  constructor(kept: KeptBody) {
    this.kept = kept;
    this.length = kept.length;
  }

  start(sink: BodySink): void {
    this.at = 0;
    this.paused = false;
    this.sink = sink;
    this.pump();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.pump();
  }

  abandon(): void {
    this.sink = null;
  }

  private pump(): void {
    // A sink that resumes from within data() goes on in the loop it was called from.
    if (this.pumping) return;
    this.pumping = true;
    while (this.sink !== null && !this.paused && this.at < this.length) {
      const piece = this.kept.slice(this.at);
      this.at += piece.length;
      this.sink.data(piece, 0, piece.length);
    }
    this.pumping = false;
    if (this.sink === null || this.paused || this.at < this.length) return;
    const { sink } = this;
    this.sink = null;
    sink.end();
  }
}
