// Assembles one gzip stream from parts that were compressed on their own, bodies that are whole gzip streams, and
// plain bytes. Deflate data can be cut at any block that ends on a byte boundary (RFC 1951 section 3.2), and the CRC
// of the whole follows from those of its pieces, so that nothing is compressed or decompressed on delivery.

import { constants, crc32, deflateRawSync } from 'node:zlib';

/** Deflate data, with the CRC and length of the bytes it decompresses to. */
export interface PackedPiece {
  readonly crc: number;
  readonly length: number;
}

/** A header without name, time or extra fields (RFC 1952 section 2.3). */
export const GZIP_HEAD: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
/** A final empty block with fixed Huffman codes. */
const LAST_BLOCK = [3, 0];
/** Its length in bits, which are the first of the trailer. */
export const LAST_BLOCK_BITS = 10;
/** Bytes of the end of a stream: final block, CRC and length. */
export const TRAILER: number = LAST_BLOCK.length + 8;
/** The rest of an empty stored block after its header bits. */
const EMPTY_STORED = [0, 0, 0xff, 0xff];
const STORED_MAX = 0xffff;
const STORED_HEAD = 5;

/** Running CRC and length of the uncompressed bytes of a stream. */
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

  /** The end of the stream: final block and trailer. */
  trailer(): Buffer {
    const out = Buffer.allocUnsafe(TRAILER);
    out.set(LAST_BLOCK);
    out.writeUInt32LE(this.crc >>> 0, LAST_BLOCK.length);
    out.writeUInt32LE(this.length % 2 ** 32, LAST_BLOCK.length + 4);
    return out;
  }
}

/** Plain bytes as stored (uncompressed) deflate blocks. */
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

/** Compression settings of a part: it ends on a byte boundary, is not final, and nothing after it can refer back
 * into it. */
export function partOptions(level: number, memLevel: number): object {
  return { level, memLevel, finishFlush: constants.Z_FULL_FLUSH };
}

/** Parts below this many bytes are stored uncompressed: a full flush costs five of the bytes saved, and setting up
 * the compressor costs as much CPU as compressing some kilobytes. */
const SHORT = 32;

/** Compresses a part synchronously, unless it is short. */
export function packPart(bytes: Uint8Array, level: number, memLevel: number): Buffer {
  return isShortPart(bytes) ? storedBlocks(bytes) : deflateRawSync(bytes, partOptions(level, memLevel));
}

/** Whether a part is added without compression. */
export function isShortPart({ length }: Uint8Array): boolean {
  return length <= SHORT;
}

/** Positions in a whole gzip stream, in bytes and bits, that are needed to embed its data in another stream. */
export interface StreamPlaces extends PackedPiece {
  /** First byte of the deflate data. */
  readonly from: number;
  /** The bit that marks the last block, and the first bit after that block. */
  readonly last: number;
  readonly stop: number;
}

/** The deflate data of a gzip stream, rewritten so that more can follow: slice by slice, copying only slices that
 * change. */
export class SplicedData {
  private readonly places: StreamPlaces;
  /** Offset of the next slice in the stream. */
  private at = 0;

  constructor(places: StreamPlaces) {
    this.places = places;
  }

  /** Transforms the next slice of the stream. */
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
    // The last block usually ends within a byte: the empty block that completes the byte begins there.
    const tail = Math.floor(stop / 8) - start;
    if (tail >= 0 && tail < slice.length) out.push(this.filler(slice[tail] as number));
    return out.filter((piece) => piece.length > 0);
  }

  /** @param byte the byte that holds the first bit after the last block */
  private filler(byte: number): Buffer {
    const { last, stop } = this.places;
    const used = stop % 8;
    const bytes: number[] = [];
    if (used > 0) {
      let kept = byte & ((1 << used) - 1);
      if (Math.floor(last / 8) === Math.floor(stop / 8)) kept &= ~(1 << (last % 8));
      bytes.push(kept);
    }
    // The header of the empty block takes three bits, which may not fit in that byte.
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

/** CRC of two concatenated byte ranges, from the CRC of each and the length of the second. */
function combine(first: number, second: number, length: number): number {
  let shift = ONE;
  for (let i = 0, left = length; left > 0; i++, left = Math.floor(left / 2))
    if (left % 2 === 1) shift = multiply(POWERS[i] as number, shift);
  return (multiply(shift, first) ^ second) >>> 0;
}
