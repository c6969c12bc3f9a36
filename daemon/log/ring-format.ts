// Layout of the log ring in its file. One header page, then `segments` pieces of equal size. Positions are absolute and
// only grow: position P lies in segment floor(P / segmentSize), stored at index modulo segments. Within a segment
// blocks follow each other without gaps; a block is header, records, trailer, and never straddles a segment. Bytes
// after the last block of a segment are old or zero and fail the position test.
//
// Special case: the header's current segment is written BEFORE the first byte of that segment changes, so a reader that
// checks it after its read knows whether the bytes were being overwritten. All words are little-endian; the writer
// relies on a little-endian machine.

export const RING_MAGIC = 0x3152_4c50; // "PLR1"
export const BLOCK_MAGIC = 0x4b4c_4250; // "PBLK"
export const HEADER_SIZE = 4096;
const SEGMENTS = 16;
export const BLOCK_HEAD = 32;
export const BLOCK_TAIL = 8;
/** Name of the ring in the working directory. */
export const RING_FILE = 'log.ring';

/** Offsets in the header page. */
export const H_MAGIC = 0;
export const H_SEGMENTS = 4;
export const H_SEGMENT_SIZE = 8;
/** Number of writers that have opened the ring; u32. */
export const H_GENERATION = 16;
/** Number of the segment being written; u64. */
export const H_SEGMENT = 24;
/** Requested size in bytes, which may exceed the actual one; u64. */
export const H_WANTED = 32;

/** Offsets in a block: magic, bytes of records, absolute position, records before, records in it, generation. */
export const B_MAGIC = 0;
export const B_BYTES = 4;
export const B_POSITION = 8;
export const B_BEFORE = 16;
export const B_COUNT = 24;
export const B_GENERATION = 28;

export interface RingShape {
  segments: number;
  /** Bytes; a multiple of 8. */
  segmentSize: number;
}

/** The shape of a ring of about `size` bytes (vsl_space). */
export function ringShape(size: number): RingShape {
  const segmentSize = Math.max(16384, Math.floor((size - HEADER_SIZE) / SEGMENTS / 4096) * 4096);
  return { segments: SEGMENTS, segmentSize };
}

export interface RingHeader extends RingShape {
  generation: number;
  /** Number of the segment being written. */
  segment: number;
  /** Requested size in bytes. */
  wanted: number;
}

/** Writes a number below 2^53 as two 32-bit words. */
export function putU64(buf: Buffer, value: number, at: number): void {
  buf.writeUInt32LE(value >>> 0, at);
  buf.writeUInt32LE(Math.floor(value / 0x1_0000_0000), at + 4);
}

export function getU64(buf: Buffer, at: number): number {
  return buf.readUInt32LE(at) + buf.readUInt32LE(at + 4) * 0x1_0000_0000;
}

/** Parses the header; null if these bytes are not one. */
export function readRingHeader(buf: Buffer): RingHeader | null {
  if (buf.length < 40 || buf.readUInt32LE(H_MAGIC) !== RING_MAGIC) return null;
  const segments = buf.readUInt32LE(H_SEGMENTS);
  const segmentSize = getU64(buf, H_SEGMENT_SIZE);
  if (segments < 2 || segmentSize < 4096) return null;
  return {
    segments,
    segmentSize,
    generation: buf.readUInt32LE(H_GENERATION),
    segment: getU64(buf, H_SEGMENT),
    wanted: getU64(buf, H_WANTED),
  };
}

/** Looks for a whole block with this absolute position at `at`. Returns its length with header and trailer, 0 when
 * there is none, -1 when it is there but not (yet) complete before `end`. */
export function blockAt(buf: Buffer, at: number, end: number, position: number): number {
  if (at + BLOCK_HEAD > end) return -1;
  if (buf.readUInt32LE(at + B_MAGIC) !== BLOCK_MAGIC || getU64(buf, at + B_POSITION) !== position) return 0;
  const bytes = buf.readUInt32LE(at + B_BYTES);
  const length = BLOCK_HEAD + bytes + BLOCK_TAIL;
  if (at + length > end) return -1;
  const tail = at + BLOCK_HEAD + bytes;
  if (buf.readUInt32LE(tail) !== position >>> 0 || buf.readUInt32LE(tail + 4) !== (bytes ^ BLOCK_MAGIC) >>> 0)
    return -1;
  return length;
}
