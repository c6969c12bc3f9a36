// The place of the next block in the log ring, for all threads that write it: segment, offset, running record count and
// generation are words of shared memory, and each thread has the file open.
//
// One thread begins: it creates the ring or continues one, before any other thread joins. Everything that moves the
// place runs under one lock, so that plain words are enough. Special case: a writer that continues a ring starts a
// fresh segment with its first block, so that a block its predecessor left incomplete is never read; the running record
// count continues, so that readers can count their losses.

import { closeSync, existsSync, openSync, readSync, writeSync } from 'node:fs';
import type { FileAccess } from '../../protocol/files/own-file.ts';
import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import { createRing } from './ring-file.ts';
import {
  B_BEFORE,
  B_BYTES,
  B_COUNT,
  B_GENERATION,
  B_MAGIC,
  B_POSITION,
  BLOCK_HEAD,
  BLOCK_MAGIC,
  BLOCK_TAIL,
  blockAt,
  getU64,
  H_GENERATION,
  H_SEGMENT,
  HEADER_SIZE,
  putU64,
  type RingHeader,
  readRingHeader,
} from './ring-format.ts';

const PRIVATE: FileAccess = { mode: 0o600 };

/** The words, each a double: exact up to 2^53. */
const SEGMENT = 0;
const OFFSET = 1;
const BEFORE = 2;
const GENERATION = 3;
const WORDS = 4;

export class RingPlace {
  /** Bytes reserved when the ring was created, if fewer than requested; else 0. */
  readonly cutTo: number;
  readonly segmentSize: number;
  /** Number of the writer, the same for all threads of a process. */
  readonly generation: number;
  /** How often this thread has wrapped around to the first segment. */
  cycles = 0;
  private readonly fd: number;
  private readonly segments: number;
  private readonly words: Float64Array;

  private constructor(fd: number, header: RingHeader, words: Float64Array, cutTo: number) {
    this.fd = fd;
    this.segmentSize = header.segmentSize;
    this.segments = header.segments;
    this.words = words;
    this.generation = words[GENERATION] as number;
    this.cutTo = cutTo;
  }

  /** For the first thread: opens the ring at `path`, or creates one of `size` bytes when there is none of that size. */
  static begin(path: string, size: number, access: FileAccess = PRIVATE, memory = ownMemory()): RingPlace {
    let taken = size;
    if (!existsSync(path)) taken = createRing(path, size, access);
    let { fd, header } = open(path);
    if (header === null || header.wanted !== size) {
      closeSync(fd);
      taken = createRing(path, size, access);
      ({ fd, header } = open(path));
      if (header === null) throw new Error(`log ring ${path} has no valid header right after its creation`);
    }
    const words = wordsIn(memory);
    words[SEGMENT] = header.segment;
    // Marked full, so that the first block starts the next segment.
    words[OFFSET] = header.segmentSize;
    words[BEFORE] = recordsUpTo(fd, header);
    words[GENERATION] = header.generation + 1;
    return new RingPlace(fd, header, words, taken < size ? taken : 0);
  }

  /** For the other threads: opens a ring that the first thread has begun with the same memory. */
  static join(path: string, memory: MemoryPart): RingPlace {
    const { fd, header } = open(path);
    const words = wordsIn(memory);
    if (header === null || words[GENERATION] === 0)
      throw new Error(`No thread has begun the log ring ${path}`);
    return new RingPlace(fd, header, words, 0);
  }

  /** Absolute position of the next block. */
  get position(): number {
    return (this.words[SEGMENT] as number) * this.segmentSize + (this.words[OFFSET] as number);
  }

  /** Records written before the next block. */
  get before(): number {
    return this.words[BEFORE] as number;
  }

  /**
   * Writes the block in block[0, pos), with `records` records after the room for its head and with room for its
   * trailer, and then advances the place. Returns the error, or null. The records count in either case, so that readers
   * see how many they have lost. A write that fails halfway does not move the place: the next one overwrites it.
   */
  write(block: Buffer, pos: number, records: number): unknown {
    const { words } = this;
    const length = pos + BLOCK_TAIL;
    const before = this.before;
    words[BEFORE] = before + records;
    try {
      if ((words[OFFSET] as number) + length > this.segmentSize) this.nextSegment();
      const { position } = this;
      this.seal(block, pos, records, position, before);
      const index = (words[SEGMENT] as number) % this.segments;
      const offset = words[OFFSET] as number;
      // A short write leaves an incomplete block, which the next one overwrites.
      const done = writeSync(this.fd, block, 0, length, HEADER_SIZE + index * this.segmentSize + offset);
      if (done < length) return new Error('a write was cut short');
      words[OFFSET] = offset + length;
      return null;
    } catch (cause) {
      return cause;
    }
  }

  close(): void {
    closeSync(this.fd);
  }

  /** Advances the header's segment before anything in that segment changes. */
  private nextSegment(): void {
    const { words } = this;
    const segment = (words[SEGMENT] as number) + 1;
    const mark = Buffer.alloc(16);
    mark.writeUInt32LE(this.generation, 0);
    putU64(mark, segment, H_SEGMENT - H_GENERATION);
    writeSync(this.fd, mark, 0, mark.length, H_GENERATION);
    words[SEGMENT] = segment;
    words[OFFSET] = 0;
    if (segment % this.segments === 0) this.cycles++;
  }

  /** Fills in the head and the trailer of a block. */
  private seal(block: Buffer, pos: number, records: number, position: number, before: number): void {
    const bytes = pos - BLOCK_HEAD;
    block.writeUInt32LE(BLOCK_MAGIC, B_MAGIC);
    block.writeUInt32LE(bytes, B_BYTES);
    putU64(block, position, B_POSITION);
    putU64(block, before, B_BEFORE);
    block.writeUInt32LE(records, B_COUNT);
    block.writeUInt32LE(this.generation, B_GENERATION);
    block.writeUInt32LE(position >>> 0, pos);
    block.writeUInt32LE((bytes ^ BLOCK_MAGIC) >>> 0, pos + 4);
  }
}

function wordsIn(memory: MemoryPart): Float64Array {
  return new Float64Array(memory.piece('place', WORDS * 8));
}

function open(path: string): { fd: number; header: RingHeader | null } {
  const fd = openSync(path, 'r+');
  const head = Buffer.alloc(HEADER_SIZE);
  readSync(fd, head, 0, HEADER_SIZE, 0);
  return { fd, header: readRingHeader(head) };
}

/** The running record count at the end of an existing ring: that of its last whole block. */
function recordsUpTo(fd: number, header: RingHeader): number {
  const { segmentSize, segments } = header;
  for (let s = header.segment; s >= 0 && s > header.segment - segments; s--) {
    const buf = Buffer.alloc(segmentSize);
    const got = readSync(fd, buf, 0, segmentSize, HEADER_SIZE + (s % segments) * segmentSize);
    let last = -1;
    for (let at = 0; ; ) {
      const n = blockAt(buf, at, got, s * segmentSize + at);
      if (n <= 0) break;
      last = getU64(buf, at + B_BEFORE) + buf.readUInt32LE(at + B_COUNT);
      at += n;
    }
    if (last >= 0) return last;
  }
  return 0;
}
