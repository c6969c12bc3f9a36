// zlib between two stages of a chain. It works in other threads, piece by piece. A short body that is there as a whole
// is done at once: measured for 4 kB packed, 22 µs to unpack it at once and 135 µs of CPU by a stream, 98 and 150 to
// pack it.

import type { Gunzip, Gzip } from 'node:zlib';
import { Tag } from '../../protocol/tables/tags.ts';
import type { MessageLog } from '../http1/message.ts';
import { PackedPieces } from './deflate-places.ts';
import type { Outlet, Processor } from './filter.ts';

/** `isBehind` is set when it is about what follows the gzip data. */
export type ZlibError = Error & { errno?: number; code?: string; isBehind?: boolean };

/** One direction of zlib, and what is said about a body that went through it. */
export interface Conversion {
  /** Of the body's transaction. */
  readonly log: MessageLog;
  /** The Gzip record's first words: G packs, U unpacks, u tests; F on a fetch, D on a delivery. */
  readonly record: string;
  open(): Gunzip | Gzip;
  /** What a whole body becomes; null when the stream is to do it, or to say what is wrong. */
  atOnce(bytes: Buffer): Buffer | null;
  /** The body was passed whole. */
  passed(taken: number, made: number): void;
  /** Logs why it was not; null is surplus bytes after the gzip data. */
  broke(error: ZlibError | null): void;
}

const NOTHING: Buffer = Buffer.alloc(0);
const MAGIC = [0x1f, 0x8b];

export class ZlibProcessor implements Processor {
  protected readonly outlet: Outlet;
  private readonly conversion: Conversion;
  private readonly packs: boolean;
  /** Null where nobody wants the Gzip record: finding the places reads the whole packed body once more. */
  private readonly places: PackedPieces | null;
  /** Bytes taken, and bytes made of them. */
  private taken = 0;
  private made = 0;
  /** The bytes taken last, and whether they are the body's last. */
  private input: Buffer = NOTHING;
  private ended = false;
  private zip: Gunzip | Gzip | null = null;
  private closed = false;
  /** The last bytes that came: the length that the gzip stream states (RFC 1952 section 2.3.1). */
  private readonly stated = Buffer.alloc(4);
  /** How many of the first bytes are those of gzip. */
  private begun = 0;

  constructor(outlet: Outlet, conversion: Conversion) {
    this.outlet = outlet;
    this.conversion = conversion;
    this.packs = conversion.record.startsWith('G');
    this.places = conversion.log.wants(Tag.Gzip) ? new PackedPieces() : null;
  }

  data(bytes: Buffer, last: boolean): boolean {
    if (bytes.length === 0 && !last) return true;
    const isWhole = last && this.zip === null;
    for (let i = this.taken; i < 2 && i - this.taken < bytes.length; i++)
      if (bytes[i - this.taken] === MAGIC[i]) this.begun++;
    this.taken += bytes.length;
    this.input = bytes;
    this.ended = last;
    if (!this.packs) {
      this.places?.add(bytes);
      this.keepLast(bytes);
    }
    const all = isWhole ? this.conversion.atOnce(bytes) : null;
    if (all !== null) {
      this.count(all);
      if (!this.packs && this.isSeveral) this.fail(null);
      else this.end(bytes, all);
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

  private open(): Gunzip | Gzip {
    const zip = this.conversion.open();
    // A stream that is destroyed may yet give what it was about to give.
    zip.on('data', (output: Buffer) => {
      if (this.closed) return;
      this.count(output);
      if (!this.cameOut(output)) zip.pause();
    });
    zip.on('end', () => {
      if (this.closed) return;
      // Bytes after the end of the gzip data: whatever they are, this is not the body that was meant.
      if (!this.packs && (!this.ended || zip.bytesWritten !== this.taken || this.isSeveral)) this.fail(null);
      else this.end(this.input, NOTHING);
    });
    zip.on('error', (error: ZlibError) => {
      if (this.closed) return;
      // A head is only looked for at the beginning, and behind a member.
      error.isBehind = this.begun === MAGIC.length && error.message === 'incorrect header check';
      this.fail(error);
    });
    return zip;
  }

  private keepLast(bytes: Buffer): void {
    const { stated } = this;
    const count = Math.min(stated.length, bytes.length);
    stated.copyWithin(0, count);
    bytes.copy(stated, stated.length - count, bytes.length - count);
  }

  /** Whether more came out than the last member of the stream has. zlib unpacks several, but clients disagree on what
   * such a body says, and Varnish takes the second for junk. */
  private get isSeveral(): boolean {
    return this.made % 2 ** 32 !== this.stated.readUInt32LE(0);
  }

  private count(output: Buffer): void {
    this.made += output.length;
    if (this.packs) this.places?.add(output);
  }

  private end(input: Buffer, output: Buffer): void {
    this.conversion.passed(this.taken, this.made);
    this.pass(input, output);
  }

  private fail(error: ZlibError | null): void {
    this.conversion.broke(error);
    this.outlet.fail();
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
