// One gzip stream out of pieces: parts that were packed on their own, bodies that are whole gzip streams themselves, and
// plain bytes. Deflate data may be cut at any block that ends on a byte (RFC 1951 section 3.2), and the sum of the whole
// follows from the sums of its pieces, so that nothing is packed or unpacked on the way.

import { constants, crc32, deflateRawSync } from 'node:zlib';

/** Deflate data that stands for plain bytes: their sum and how many they are. */
export interface PackedPiece {
  readonly crc: number;
  readonly length: number;
}

/** A head without name, time or extras (RFC 1952 section 2.3). */
export const GZIP_HEAD: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
/** A final empty block of the fixed code. */
const LAST_BLOCK = [3, 0];
/** What remains of an empty stored block behind its head. */
const EMPTY_STORED = [0, 0, 0xff, 0xff];
const STORED_MAX = 0xffff;
const STORED_HEAD = 5;

/** The sum of all plain bytes of a stream, kept up as its pieces come. */
export class GzipSum {
  private crc = 0;
  private length = 0;

  add(piece: PackedPiece): void {
    this.crc = combine(this.crc, piece.crc, piece.length);
    this.length += piece.length;
  }

  addPlain(bytes: Uint8Array): void {
    this.crc = crc32(bytes, this.crc);
    this.length += bytes.length;
  }

  /** What ends the stream. */
  trailer(): Buffer {
    const out = Buffer.allocUnsafe(LAST_BLOCK.length + 8);
    out.set(LAST_BLOCK);
    out.writeUInt32LE(this.crc >>> 0, LAST_BLOCK.length);
    out.writeUInt32LE(this.length % 2 ** 32, LAST_BLOCK.length + 4);
    return out;
  }
}

/** Plain bytes as deflate data that is not packed. */
export function storedBlocks(bytes: Uint8Array): Buffer {
  const blocks = Math.ceil(bytes.length / STORED_MAX);
  const out = Buffer.allocUnsafe(bytes.length + blocks * STORED_HEAD);
  let at = 0;
  for (let from = 0; from < bytes.length; from += STORED_MAX) {
    const count = Math.min(STORED_MAX, bytes.length - from);
    out[at] = 0;
    out.writeUInt16LE(count, at + 1);
    out.writeUInt16LE(~count & 0xffff, at + 3);
    out.set(bytes.subarray(from, from + count), at + STORED_HEAD);
    at += STORED_HEAD + count;
  }
  return out;
}

/** How a part is packed on its own: it ends on a byte, is not the last, and what follows cannot refer to it. */
export function partOptions(level: number, memLevel: number): object {
  return { level, memLevel, finishFlush: constants.Z_FULL_FLUSH };
}

/** Bytes that are not worth packing: a full flush alone takes five of what is gained, and beginning to pack costs as much
 * CPU as some kilobytes do. */
const SHORT = 32;

/** Packs a part at once, unless it is a short one. */
export function packPart(bytes: Uint8Array, level: number, memLevel: number): Buffer {
  return isShortPart(bytes) ? storedBlocks(bytes) : deflateRawSync(bytes, partOptions(level, memLevel));
}

/** Whether a part goes into the stream as it is. */
export function isShortPart({ length }: Uint8Array): boolean {
  return length <= SHORT;
}

/** What is to be known of a whole gzip stream for its data to become part of another. Places in bytes and bits of the
 * stream. */
export interface StreamPlaces extends PackedPiece {
  /** First byte of the deflate data. */
  readonly from: number;
  /** The bit that marks the last block, and the one behind that block. */
  readonly last: number;
  readonly stop: number;
}

/** The deflate data of a gzip stream, made to go on: slice by slice, with copies only of bytes that change. */
export class SplicedData {
  private readonly places: StreamPlaces;
  /** Where in the stream the next slice begins. */
  private at = 0;

  constructor(places: StreamPlaces) {
    this.places = places;
  }

  /** What becomes of the next slice of the stream. */
  take(slice: Buffer): Buffer[] {
    const { from, last, stop } = this.places;
    const start = this.at;
    this.at += slice.length;
    const whole = slice.subarray(clamp(from - start, slice), clamp(Math.floor(stop / 8) - start, slice));
    const out: Buffer[] = [];
    const mark = Math.floor(last / 8) - start;
    if (mark >= 0 && mark < slice.length && mark < Math.floor(stop / 8) - start) {
      const cut = mark - clamp(from - start, slice);
      const byte = Buffer.from([(whole[cut] as number) & ~(1 << (last % 8))]);
      out.push(whole.subarray(0, cut), byte, whole.subarray(cut + 1));
    } else out.push(whole);
    // The byte in which the last block ends is not whole as a rule: the block that fills it begins there.
    const tail = Math.floor(stop / 8) - start;
    if (tail >= 0 && tail < slice.length) out.push(this.filler(slice[tail] as number));
    return out.filter((piece) => piece.length > 0);
  }

  /** @param byte the one that holds the bit behind the last block */
  private filler(byte: number): Buffer {
    const { last, stop } = this.places;
    const used = stop % 8;
    const bytes: number[] = [];
    if (used > 0) {
      let kept = byte & ((1 << used) - 1);
      if (Math.floor(last / 8) === Math.floor(stop / 8)) kept &= ~(1 << (last % 8));
      bytes.push(kept);
    }
    // The head of the empty block takes three bits, which may not be left in that byte.
    if (used === 0 || used > 5) bytes.push(0);
    return Buffer.from([...bytes, ...EMPTY_STORED]);
  }
}

function clamp(at: number, { length }: { length: number }): number {
  return Math.max(0, Math.min(length, at));
}

/** The polynomial of CRC-32, its highest power of x in the lowest bit (RFC 1952 section 8). */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;

/** The product of two polynomials, modulo that one. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= b;
    b = (b & 1) !== 0 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1;
  }
  return product >>> 0;
}

/** x to the power of 8 * 2^i. */
const POWERS = new Uint32Array(53);
POWERS[0] = 0x00800000;
for (let i = 1; i < POWERS.length; i++)
  POWERS[i] = multiply(POWERS[i - 1] as number, POWERS[i - 1] as number);

/** The sum of two stretches of bytes one behind the other, from their own and the length of the second. */
function combine(first: number, second: number, length: number): number {
  let shift = ONE;
  for (let i = 0, left = length; left > 0; i++, left = Math.floor(left / 2))
    if (left % 2 === 1) shift = multiply(POWERS[i] as number, shift);
  return (multiply(shift, first) ^ second) >>> 0;
}
