// Chunked coding (RFC 9112 section 7.1), incremental and strict: hex digits with an overflow check, no blank out of
// place, CRLF after every chunk. Extensions and trailers are skipped within bounds and dropped, never merged into the
// head. The decoder passes on views of the caller's buffer and keeps no bytes.
//
// An origin's body may also use old forms that have one reading (leniency.ts): a byte that the strict rules refuse is
// checked against them before it is an error. A request's body may not.

import type { Refusal } from '../../protocol/tables/refusals.ts';
import { TOKEN_FOLD } from './byte-classes.ts';
import type { Leniencies, Leniency } from './leniency.ts';
import type { LentBytes } from './lent-bytes.ts';

const CR = 13;
const LF = 10;

const S_SIZE_FIRST = 0;
const S_SIZE = 1;
const S_EXT = 2;
const S_EXT_QUOTED = 3;
const S_EXT_ESCAPE = 4;
const S_SIZE_LF = 5;
const S_DATA = 6;
const S_DATA_CR = 7;
const S_DATA_LF = 8;
const S_TRAILER_START = 9;
const S_TRAILER_NAME = 10;
const S_TRAILER_VALUE = 11;
const S_TRAILER_LF = 12;
const S_END_LF = 13;
const S_DONE = 14;
const S_ERROR = 15;
/** Blanks after the size of an origin's chunk. */
const S_SIZE_BLANK = 16;

/** Most bytes of extensions in a body, and of trailers (chosen). */
const MAX_EXTENSIONS = 4096;
const MAX_TRAILERS = 8192;
/** A double holds 13 hex digits exactly; leading zeros count, so they are bounded too. */
const MAX_DIGITS = 13;
/** A size from here on cannot take another digit. */
const LONGEST = 16 ** (MAX_DIGITS - 1);
/** Some origins pad sizes with zeros to a fixed width. */
const MAX_DIGITS_OF_ORIGIN = 32;

/** Takes data, lent until it returns, that arrived in this number of chunks or parts of chunks. */
export type ChunkSink = (buf: LentBytes, start: number, end: number, pieces: number) => void;

export type ChunkError = Extract<Refusal, `chunk_${string}` | 'trailer'>;

/** Value of a hex digit, 255 for any other byte. */
const HEX = new Uint8Array(256).fill(255);
for (let i = 0; i < 10; i++) HEX[48 + i] = i;
for (let i = 0; i < 6; i++) {
  HEX[65 + i] = 10 + i;
  HEX[97 + i] = 10 + i;
}

/** Shorter pieces of data are gathered (chosen: copying them is cheaper than passing on each, which may be a write). */
const SMALL = 512;
const ROOM = 64 * 1024;

/** A buffer to gather in, while it is not in use. */
let spareRoom: Buffer | null = null;

/** The small pieces of one read, passed on together. */
class Gathered {
  private readonly sink: ChunkSink;
  private room: Buffer | null = null;
  private length = 0;
  private pieces = 0;

  constructor(sink: ChunkSink) {
    this.sink = sink;
  }

  add(buf: LentBytes, start: number, end: number): void {
    if (this.length + end - start > ROOM) this.handOn();
    if (this.room === null) {
      this.room = spareRoom ?? Buffer.allocUnsafeSlow(ROOM);
      spareRoom = null;
    }
    for (let i = start; i < end; i++) this.room[this.length++] = buf[i] as number;
    this.pieces++;
  }

  handOn(): void {
    const { room, length, pieces } = this;
    if (room === null) return;
    this.room = null;
    this.length = 0;
    this.pieces = 0;
    this.sink(room, 0, length, pieces);
    // Not before: the sink may run another decoder.
    spareRoom = room;
  }
}

/** One chunked body. Reusable through reset(). */
export class ChunkedDecoder {
  /** The last chunk and the trailers have been read. */
  done = false;
  error: ChunkError | null = null;
  /** The byte that broke the body; valid only with an error. */
  offender = 0;
  /** Bytes of data so far. */
  total = 0;
  private state = S_SIZE_FIRST;
  private size = 0;
  private digits = 0;
  private extensions = 0;
  private trailers = 0;
  /** The last byte of the current chunk's data. */
  private lastData = 0;
  private readonly leniencies: Leniencies | null;
  private readonly mostDigits: number;

  /** @param leniencies where old forms are noted; null for a body that may not use them */
  constructor(leniencies: Leniencies | null = null) {
    this.leniencies = leniencies;
    this.mostDigits = leniencies === null ? MAX_DIGITS : MAX_DIGITS_OF_ORIGIN;
  }

  /** The place of the error, as text. */
  get place(): string {
    return `byte 0x${this.offender.toString(16).padStart(2, '0')} after ${this.total} bytes of data`;
  }

  /** Why the body is malformed, or incomplete at this point, in Varnish's log text. */
  get fault(): string {
    switch (this.error) {
      case null:
        return this.state === S_DATA ? 'chunked insufficient bytes' : 'chunked read err';
      case 'chunk_size':
        return this.digits > 0 ? 'chunked header no NL' : 'chunked header non-hex';
      case 'chunk_line_end':
        return 'chunked header no NL';
      case 'chunk_size_overflow':
      case 'chunk_extension':
      case 'chunk_too_long':
        return 'chunked header too long';
      default:
        return 'chunked tail no NL';
    }
  }

  reset(): void {
    this.done = false;
    this.error = null;
    this.total = 0;
    this.state = S_SIZE_FIRST;
    this.size = 0;
    this.digits = 0;
    this.extensions = 0;
    this.trailers = 0;
  }

  /**
   * Decodes buf[start, end) and calls `sink` with its data: long pieces one by one, short ones between them together.
   * @returns bytes consumed: all of them, unless the body ended or broke before
   */
  decode(buf: LentBytes, start: number, end: number, sink: ChunkSink): number {
    let p = start;
    let gathered: Gathered | null = null;
    while (p < end) {
      if (this.state === S_DATA) {
        const n = Math.min(this.size, end - p);
        this.size -= n;
        this.total += n;
        if (this.size === 0) {
          this.state = S_DATA_CR;
          this.lastData = buf[p + n - 1] as number;
        }
        if (n < SMALL) {
          gathered ??= new Gathered(sink);
          gathered.add(buf, p, p + n);
        } else {
          gathered?.handOn();
          sink(buf, p, p + n, 1);
        }
        p += n;
        continue;
      }
      if (this.done || this.error !== null) break;
      this.state = this.step(buf[p] as number);
      if (this.error !== null) {
        this.offender = buf[p] as number;
        break;
      }
      p++;
    }
    gathered?.handOn();
    return p - start;
  }

  /** Processes one byte outside chunk data; returns the next state. */
  private step(c: number): number {
    switch (this.state) {
      case S_SIZE_FIRST:
      case S_SIZE: {
        const d = HEX[c] as number;
        if (d !== 255) {
          if (this.size >= LONGEST || ++this.digits > this.mostDigits)
            return this.fail('chunk_size_overflow');
          this.size = this.size * 16 + d;
          return S_SIZE;
        }
        if (this.state === S_SIZE_FIRST) return this.fail('chunk_size');
        if (c === CR) return S_SIZE_LF;
        return c === 59 ? S_EXT : this.orLenient(c, 'chunk_size');
      }
      case S_SIZE_BLANK:
        if (c === CR) return S_SIZE_LF;
        return c === 59 ? S_EXT : this.orLenient(c, 'chunk_size');
      case S_EXT:
      case S_EXT_QUOTED:
      case S_EXT_ESCAPE:
        return this.extension(c);
      case S_SIZE_LF:
        return c === LF ? this.afterSize() : this.fail('chunk_line_end');
      case S_DATA_CR:
        return c === CR ? S_DATA_LF : this.orLenient(c, 'chunk_data_end');
      case S_DATA_LF:
        return c === LF ? S_SIZE_FIRST : this.fail('chunk_data_end');
      default:
        return this.trailer(c);
    }
  }

  private afterSize(): number {
    this.digits = 0;
    return this.size === 0 ? S_TRAILER_START : S_DATA;
  }

  /** Quoted strings are tracked, because a CR or LF inside one is an error and not an end. */
  private extension(c: number): number {
    if (++this.extensions > MAX_EXTENSIONS) return this.fail('chunk_too_long');
    if (c === CR && this.state === S_EXT) return S_SIZE_LF;
    if ((c < 32 && c !== 9) || c === 127) return this.orLenient(c, 'chunk_extension');
    if (this.state === S_EXT_ESCAPE) return S_EXT_QUOTED;
    if (c === 34) return this.state === S_EXT ? S_EXT_QUOTED : S_EXT;
    return c === 92 && this.state === S_EXT_QUOTED ? S_EXT_ESCAPE : this.state;
  }

  private trailer(c: number): number {
    if (++this.trailers > MAX_TRAILERS) return this.fail('chunk_too_long');
    switch (this.state) {
      case S_TRAILER_START:
        if (c === CR) return S_END_LF;
        return TOKEN_FOLD[c] !== 0 ? S_TRAILER_NAME : this.orLenient(c, 'trailer');
      case S_TRAILER_NAME:
        if (c === 58) return S_TRAILER_VALUE;
        return TOKEN_FOLD[c] !== 0 ? S_TRAILER_NAME : this.fail('trailer');
      case S_TRAILER_VALUE:
        if (c === CR) return S_TRAILER_LF;
        return (c < 32 && c !== 9) || c === 127 ? this.orLenient(c, 'trailer') : S_TRAILER_VALUE;
      case S_TRAILER_LF:
        return c === LF ? S_TRAILER_START : this.fail('trailer');
      default:
        return c === LF ? this.end() : this.fail('trailer');
    }
  }

  private end(): number {
    this.done = true;
    return S_DONE;
  }

  /** Handles a byte that the strict rules refuse: returns the next state if an origin's body may have it, else an
   * error. */
  private orLenient(c: number, reason: ChunkError): number {
    if (this.leniencies === null) return this.fail(reason);
    const blank = c === 32 || c === 9;
    switch (this.state) {
      case S_SIZE:
        if (blank) return this.noted('chunk-blank', 'a chunk', S_SIZE_BLANK);
        break;
      case S_SIZE_BLANK:
        if (blank) return ++this.extensions > MAX_EXTENSIONS ? this.fail('chunk_too_long') : S_SIZE_BLANK;
        break;
      case S_TRAILER_START:
        if (blank && this.trailers > 1) return this.noted('trailer-fold', 'a trailer', S_TRAILER_VALUE);
        break;
    }
    if (c !== LF) return this.fail(reason);
    switch (this.state) {
      case S_SIZE:
      case S_SIZE_BLANK:
      case S_EXT:
        return this.noted('chunk-lf', "a chunk's size", this.afterSize());
      case S_DATA_CR:
        // The CR may belong to this line end, counted as data by a size one too large: two readings.
        if (this.lastData === CR) return this.fail(reason);
        return this.noted('chunk-lf', "a chunk's data", S_SIZE_FIRST);
      case S_TRAILER_VALUE:
        return this.noted('trailer-lf', 'a trailer', S_TRAILER_START);
      case S_TRAILER_START:
        return this.noted('trailer-lf', 'the trailers', this.end());
      default:
        return this.fail(reason);
    }
  }

  private noted(form: Leniency, where: string, next: number): number {
    this.leniencies?.note(form, where);
    return next;
  }

  private fail(reason: ChunkError): number {
    this.error = reason;
    return S_ERROR;
  }
}

/** Most bytes that chunkHead() writes. */
export const CHUNK_HEAD_MAX = 16;
/** Follows the data of every chunk. */
export const CHUNK_END: Buffer = Buffer.from('\r\n', 'latin1');
/** The last chunk, without trailers. */
export const LAST_CHUNK: Buffer = Buffer.from('0\r\n\r\n', 'latin1');

const HEX_DIGITS = Buffer.from('0123456789abcdef', 'latin1');

/**
 * Writes a chunk's size line into `buf` at `at`.
 * @param length data bytes of the chunk, above 0: a chunk of 0 would end the body
 * @returns bytes written
 */
export function chunkHead(buf: Uint8Array, at: number, length: number): number {
  if (length <= 0) throw new Error(`a chunk of ${length} bytes would end the body`);
  let digits = 1;
  for (let n = length; n >= 16; n = Math.floor(n / 16)) digits++;
  let n = length;
  for (let i = digits - 1; i >= 0; i--) {
    buf[at + i] = HEX_DIGITS[n % 16] as number;
    n = Math.floor(n / 16);
  }
  buf[at + digits] = CR;
  buf[at + digits + 1] = LF;
  return digits + 2;
}
