// A request body that std.cache_req_body has read: it can be sent as often as retries and restarts need it. Each
// fetch has one of these over the same bytes, which nobody changes. It is handed out in slices, so that an origin
// that reads slowly holds it up like any other body.

import { NO_ERROR } from '../system-error.ts';
import type { BodySink, BodySource } from './request-body.ts';

const SLICE = 64 * 1024;

export class CachedBody implements BodySource {
  readonly chunked = false;
  readonly replayable = true;
  readonly complete = true;
  readonly error = NO_ERROR;
  /** It is never used up. */
  readonly started = false;
  readonly length: number;
  private readonly bytes: Buffer;
  private at = 0;
  private paused = false;
  private pumping = false;
  private sink: BodySink | null = null;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.length = bytes.length;
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
      const from = this.at;
      this.at = Math.min(this.length, from + SLICE);
      this.sink.data(this.bytes, from, this.at);
    }
    this.pumping = false;
    if (this.sink === null || this.paused || this.at < this.length) return;
    const { sink } = this;
    this.sink = null;
    sink.end();
  }
}
