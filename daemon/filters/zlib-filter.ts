// zlib as a filter. It works in other threads, piece by piece. A short body that is there as a whole is done at once:
// measured for 4 kB packed, 22 µs to unpack it at once and 135 µs of CPU by a stream, 98 and 150 to pack it.

import { createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { Tag } from '../../protocol/tables/tags.ts';
import type { Room, Sink } from '../flow/flow.ts';
import { buffersOf, NOTHING, own, type Piece } from '../flow/piece.ts';
import type { MessageLog } from '../http1/message.ts';
import { PackedPieces } from './deflate-places.ts';
import { FilterFlow } from './filter.ts';
import { GzipHead, GzipTrailer } from './gzip-frame.ts';

export type ZlibError = Error & { errno?: number; code?: string };

/** The events of a direction of zlib; none comes before the call that caused it has returned. */
export interface EngineEvents {
  data(bytes: Buffer): void;
  /** After end(): everything has come out. */
  end(): void;
  /** Null is surplus bytes after the gzip data. @param taken how many bytes were read of those given */
  error(error: ZlibError | null, taken: number): void;
}

/** One direction of zlib at work. */
export interface Engine {
  /** Nothing more is to be given before `done` was called. */
  write(bytes: Buffer, done: () => void): void;
  end(): void;
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** One direction of zlib, and its records about a body. */
export interface Conversion {
  /** Of the body's transaction. */
  readonly log: MessageLog;
  /** The Gzip record's first words: G packs, U unpacks, u tests; F on a fetch, D on a delivery. */
  readonly record: string;
  open(events: EngineEvents): Engine;
  /** A whole body converted; null when the stream is to do it, or to find what is wrong. */
  atOnce(bytes: Buffer): Buffer | null;
  /** The body was passed whole. */
  passed(taken: number, made: number): void;
  /** Logs why it was not; null is surplus bytes after the gzip data. */
  broke(error: ZlibError | null): void;
}

const NO_BYTES: Buffer = Buffer.alloc(0);

export class ZlibFlow extends FilterFlow {
  private readonly conversion: Conversion;
  private readonly packs: boolean;
  /** Null where no Gzip record is written: finding the places reads the whole packed body once more. */
  private readonly places: PackedPieces | null;
  /** Bytes taken, and bytes made of them. */
  private taken = 0;
  private made = 0;
  /** The piece that zlib works on, which is held. */
  private input: Piece = NOTHING;
  private zip: Engine | null = null;

  constructor(next: Sink, conversion: Conversion) {
    super(next);
    this.conversion = conversion;
    this.packs = conversion.record.startsWith('G');
    this.places = conversion.log.wants(Tag.Gzip) ? new PackedPieces() : null;
  }

  protected take(piece: Piece, isLast: boolean): Room {
    if (piece.length === 0 && !isLast) return 'more';
    const bytes = buffersOf(piece)[0] ?? NO_BYTES;
    this.taken += bytes.length;
    if (!this.packs) this.places?.add(bytes);
    const all = isLast && this.zip === null ? this.conversion.atOnce(bytes) : null;
    if (all !== null) {
      this.countMade(all);
      return this.pass(piece, all, true);
    }
    this.zip ??= this.open();
    piece.hold();
    this.input = piece;
    const { zip } = this;
    if (isLast && bytes.length === 0) zip.end();
    else
      zip.write(bytes, () => {
        if (this.closed) return;
        if (isLast) zip.end();
        else this.worked();
      });
    return 'wait';
  }

  protected resume(): void {
    this.zip?.resume();
  }

  override close(): void {
    if (this.closed) return;
    super.close();
    this.zip?.destroy();
    this.releaseInput();
  }

  override report(log: MessageLog): void {
    if (this.places === null) return;
    log.put(Tag.Gzip, `${this.conversion.record} - ${this.taken} ${this.made} ${this.places.places()}`);
  }

  /** zlib is done with a piece that is not the last. */
  protected done(_input: Piece): Room {
    return 'more';
  }

  /** Something has come out. */
  protected cameOut(output: Buffer): Room {
    return this.give(own(output));
  }

  /** The body was passed whole; its last bytes in and out. */
  protected finish(_input: Piece, output: Buffer, inTake: boolean): Room {
    return this.giveLast(output.length === 0 ? NOTHING : own(output), inTake);
  }

  private worked(): void {
    const room = this.done(this.input);
    this.releaseInput();
    if (room === 'more') this.wantMore();
  }

  private releaseInput(): void {
    const { input } = this;
    this.input = NOTHING;
    input.release();
  }

  private open(): Engine {
    const zip: Engine = this.conversion.open({
      // A stream that is destroyed may yet give what it was about to give.
      data: (output) => {
        if (this.closed) return;
        this.countMade(output);
        if (this.cameOut(output) === 'wait') zip.pause();
      },
      end: () => {
        if (this.closed) return;
        const { input } = this;
        this.input = NOTHING;
        this.pass(input, NO_BYTES, false);
        input.release();
      },
      error: (error, taken) => {
        if (this.closed) return;
        this.taken = taken;
        this.conversion.broke(error);
        this.fail();
      },
    });
    return zip;
  }

  private countMade(output: Buffer): void {
    this.made += output.length;
    if (this.packs) this.places?.add(output);
  }

  private pass(input: Piece, output: Buffer, inTake: boolean): Room {
    this.conversion.passed(this.taken, this.made);
    return this.finish(input, output, inTake);
  }
}

/**
 * Unpacks a body only to see that it is whole, and passes it on as it is: piece by piece once that is unpacked, and the
 * last piece at the very end. A client that has been promised a length would take it for the end of a whole body.
 */
export class ZlibTest extends ZlibFlow {
  protected override done(input: Piece): Room {
    return this.give(input);
  }

  protected override cameOut(): Room {
    return 'more';
  }

  protected override finish(input: Piece, _output: Buffer, inTake: boolean): Room {
    return this.giveLast(input, inTake);
  }

  protected override resume(): void {
    this.wantMore();
  }
}

/** Z_DATA_ERROR of zlib. */
const DATA_ERROR = -3;
/** Bytes that come out at a time: each piece is a way to the other thread and back. Measured for what packs very well,
 * 64 MB in pieces of 16 KiB, which are the runtime's, took 97 ms of CPU, in these 35, in larger ones no less. */
const PIECE = 64 * 1024;

/**
 * Unpacks one gzip stream, piece by piece: zlib inflates in another thread, head and trailer are read here. Node's own
 * reader of gzip continues with a second stream after the first; clients disagree on what such a body says, Varnish
 * takes the second for junk, and so does this one. What is read of a broken stream is known to the byte, save within its
 * deflate data.
 */
export class Unpacker implements Engine {
  private readonly events: EngineEvents;
  private readonly head = new GzipHead();
  private readonly trailer = new GzipTrailer();
  private readonly raw: InflateRaw;
  /** Bytes of the head, bytes given to zlib, and those that were given last. */
  private headed = 0;
  private fed = 0;
  private input: Buffer = NO_BYTES;
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

  /** zlib is done with what it was given. What it left comes after the deflate data: dataOver() follows. */
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
    const surplus = this.fed - raw.bytesWritten;
    if (done !== null) this.read(input.subarray(input.length - surplus), done);
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
