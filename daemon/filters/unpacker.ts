// Unpacks one gzip stream, piece by piece: zlib inflates in another thread, head and trailer are read here. Node's own
// reader of gzip goes on with a second stream that follows the first; clients disagree on what such a body says, Varnish
// takes the second for junk, and so does this one. What is read of a broken stream is known to the byte, save within its
// deflate data.

import { createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { GzipHead, GzipTrailer } from './gzip-frame.ts';
import type { Engine, EngineEvents, ZlibError } from './zlib-processor.ts';

/** Z_DATA_ERROR of zlib. */
const DATA_ERROR = -3;
const NOTHING: Buffer = Buffer.alloc(0);
/** Bytes that come out at a time: each piece is a way to the other thread and back. Measured for what packs very well,
 * 64 MB in pieces of 16 KiB, which are the runtime's, took 97 ms of CPU, in these 35, in larger ones no less. */
const PIECE = 64 * 1024;

export class Unpacker implements Engine {
  private readonly events: EngineEvents;
  private readonly head = new GzipHead();
  private readonly trailer = new GzipTrailer();
  private readonly raw: InflateRaw;
  /** Bytes of the head, bytes given to zlib, and those that were given last. */
  private headed = 0;
  private fed = 0;
  private input: Buffer = NOTHING;
  private done: (() => void) | null = null;
  private inflated = false;
  private trailed = 0;
  private closed = false;

  constructor(events: EngineEvents) {
    this.events = events;
    this.raw = createInflateRaw({ chunkSize: PIECE });
    this.raw.on('data', (bytes: Buffer) => {
      if (this.closed) return;
      this.trailer.add(bytes);
      events.data(bytes);
    });
    this.raw.on('error', (error: ZlibError) => {
      if (!this.closed) this.fail(error);
    });
    this.raw.on('end', () => {
      if (!this.closed) this.dataOver();
    });
  }

  write(bytes: Buffer, done: () => void): void {
    let rest = bytes;
    if (!this.head.whole) {
      const count = this.head.read(bytes);
      this.headed += count;
      const { fault } = this.head;
      if (fault !== null) {
        this.soon(() => this.broken(fault));
        return;
      }
      rest = bytes.subarray(count);
    }
    if (this.inflated) this.soon(() => this.read(rest, done));
    else if (rest.length === 0) this.soon(done);
    else {
      this.input = rest;
      this.done = done;
      this.fed += rest.length;
      this.raw.write(rest, () => this.wrote());
    }
  }

  end(): void {
    if (!this.head.whole || this.inflated) this.soon(() => this.over());
    else this.raw.end();
  }

  pause(): void {
    this.raw.pause();
  }

  resume(): void {
    this.raw.resume();
  }

  destroy(): void {
    this.closed = true;
    this.raw.destroy();
  }

  /** zlib is done with what it was given. What it left is behind the deflate data: dataOver() follows. */
  private wrote(): void {
    const { done } = this;
    if (this.raw.bytesWritten < this.fed) return;
    this.done = null;
    if (!this.closed) done?.();
  }

  private dataOver(): void {
    const { raw, input, done } = this;
    this.inflated = true;
    this.done = null;
    const behind = this.fed - raw.bytesWritten;
    if (done !== null) this.read(input.subarray(input.length - behind), done);
    else this.over();
  }

  /** Reads bytes after the deflate data. */
  private read(bytes: Buffer, done: () => void): void {
    const count = this.trailer.read(bytes);
    this.trailed += count;
    const { fault } = this.trailer;
    if (fault !== null) this.broken(fault);
    else if (count < bytes.length) this.fail(null);
    else done();
  }

  /** Nothing more comes. */
  private over(): void {
    if (this.trailer.whole) this.events.end();
    else this.fail(Object.assign(new Error('unexpected end of file'), { code: 'Z_BUF_ERROR' }));
  }

  private broken(fault: string): void {
    this.fail(Object.assign(new Error(fault), { code: 'Z_DATA_ERROR', errno: DATA_ERROR }));
  }

  private fail(error: ZlibError | null): void {
    this.events.error(error, this.headed + this.raw.bytesWritten + this.trailed);
  }

  /** After the call that is under way: nobody is called back before it returns. */
  private soon(call: () => void): void {
    queueMicrotask(() => {
      if (!this.closed) call();
    });
  }
}

/** The same at once, of a whole stream that becomes no more bytes than `most`; null where it is none, or becomes more. */
export function unpackAtOnce(bytes: Buffer, most: number): Buffer | null {
  const head = new GzipHead();
  const from = head.read(bytes);
  if (!head.whole) return null;
  try {
    // The types leave the option's result out.
    const { buffer, engine } = inflateRawSync(bytes.subarray(from), {
      info: true,
      maxOutputLength: most,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    const trailer = new GzipTrailer();
    trailer.add(buffer);
    const end = from + engine.bytesWritten + trailer.read(bytes.subarray(from + engine.bytesWritten));
    return trailer.whole && trailer.fault === null && end === bytes.length ? buffer : null;
  } catch {
    return null;
  }
}
