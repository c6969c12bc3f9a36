// zlib between two stages of a chain. It works in other threads, piece by piece. A short body that is there as a whole
// is done at once: measured for 4 kB packed, 22 µs to unpack it at once and 135 µs of CPU by a stream, 98 and 150 to
// pack it.

import { Tag } from '../../protocol/tables/tags.ts';
import type { MessageLog } from '../http1/message.ts';
import { PackedPieces } from './deflate-places.ts';
import type { Outlet, Processor } from './filter.ts';

export type ZlibError = Error & { errno?: number; code?: string };

/** What a direction of zlib says of its work, none of it before the call that caused it has returned. */
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

/** One direction of zlib, and what is said about a body that went through it. */
export interface Conversion {
  /** Of the body's transaction. */
  readonly log: MessageLog;
  /** The Gzip record's first words: G packs, U unpacks, u tests; F on a fetch, D on a delivery. */
  readonly record: string;
  open(events: EngineEvents): Engine;
  /** What a whole body becomes; null when the stream is to do it, or to say what is wrong. */
  atOnce(bytes: Buffer): Buffer | null;
  /** The body was passed whole. */
  passed(taken: number, made: number): void;
  /** Logs why it was not; null is surplus bytes after the gzip data. */
  broke(error: ZlibError | null): void;
}

const NOTHING: Buffer = Buffer.alloc(0);

export class ZlibProcessor implements Processor {
  protected readonly outlet: Outlet;
  private readonly conversion: Conversion;
  private readonly packs: boolean;
  /** Null where nobody wants the Gzip record: finding the places reads the whole packed body once more. */
  private readonly places: PackedPieces | null;
  /** Bytes taken, and bytes made of them. */
  private taken = 0;
  private made = 0;
  /** The bytes taken last. */
  private input: Buffer = NOTHING;
  private zip: Engine | null = null;
  private closed = false;

  constructor(outlet: Outlet, conversion: Conversion) {
    this.outlet = outlet;
    this.conversion = conversion;
    this.packs = conversion.record.startsWith('G');
    this.places = conversion.log.wants(Tag.Gzip) ? new PackedPieces() : null;
  }

  data(bytes: Buffer, last: boolean): boolean {
    if (bytes.length === 0 && !last) return true;
    const isWhole = last && this.zip === null;
    this.taken += bytes.length;
    this.input = bytes;
    if (!this.packs) this.places?.add(bytes);
    const all = isWhole ? this.conversion.atOnce(bytes) : null;
    if (all !== null) {
      this.count(all);
      this.end(bytes, all);
      return true;
    }
    this.zip ??= this.open();
    const { zip } = this;
    if (last && bytes.length === 0) zip.end();
    else {
      zip.write(bytes, () => {
        if (this.closed) return;
        if (last) zip.end();
        else if (this.worked(bytes)) this.outlet.ready();
      });
    }
    return false;
  }

  resume(): void {
    this.zip?.resume();
  }

  close(): void {
    this.closed = true;
    this.zip?.destroy();
  }

  report(log: MessageLog): void {
    if (this.places === null) return;
    log.put(Tag.Gzip, `${this.conversion.record} - ${this.taken} ${this.made} ${this.places.places()}`);
  }

  /** zlib is done with bytes; false when somebody else is not. */
  protected worked(_input: Buffer): boolean {
    return true;
  }

  /** Something has come out; false when the outlet is not done with it. */
  protected cameOut(output: Buffer): boolean {
    return this.outlet.data(output, false);
  }

  /** The body was passed whole; its last bytes in and out. */
  protected pass(_input: Buffer, output: Buffer): void {
    this.outlet.data(output, true);
  }

  private open(): Engine {
    const zip: Engine = this.conversion.open({
      // A stream that is destroyed may yet give what it was about to give.
      data: (output) => {
        if (this.closed) return;
        this.count(output);
        if (!this.cameOut(output)) zip.pause();
      },
      end: () => {
        if (!this.closed) this.end(this.input, NOTHING);
      },
      error: (error, taken) => {
        if (this.closed) return;
        this.taken = taken;
        this.conversion.broke(error);
        this.outlet.fail();
      },
    });
    return zip;
  }

  private count(output: Buffer): void {
    this.made += output.length;
    if (this.packs) this.places?.add(output);
  }

  private end(input: Buffer, output: Buffer): void {
    this.conversion.passed(this.taken, this.made);
    this.pass(input, output);
  }
}

/**
 * Unpacks a body only to see that it is whole, and passes it on as it is: piece by piece once that is unpacked, and the
 * last piece at the very end. Whoever has been promised a length would take it for the end of a whole one.
 */
export class ZlibTest extends ZlibProcessor {
  protected override worked(input: Buffer): boolean {
    return this.outlet.data(input, false);
  }

  protected override cameOut(): boolean {
    return true;
  }

  protected override pass(input: Buffer): void {
    this.outlet.data(input, true);
  }

  override resume(): void {
    this.outlet.ready();
  }
}
