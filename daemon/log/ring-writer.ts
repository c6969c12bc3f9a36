// Writes the log ring. Records gather in a staging buffer and go out as one block with one positioned write
// an event-loop turn, or earlier when the staging buffer is full. It never waits for a reader and never checks
// on readers. A write that fails (an I/O error) loses that block: the failure is counted and logged, not thrown. All the
// space is reserved when the ring is made, so that the log still works on a disk that others fill (ring-file.ts).
//
// Special case: a writer that continues an existing ring starts a fresh segment, so a block its predecessor left
// incomplete is never read; the running record count continues, so that readers can count their losses.

import { closeSync, existsSync, openSync, readSync, writeSync } from 'node:fs';
import type { FileAccess } from '../../protocol/files/own-file.ts';
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
import type { WriteTrouble } from './write-trouble.ts';

const STAGING = 256 * 1024;
const PRIVATE: FileAccess = { mode: 0o600 };

/** A Buffer with the native method that its type leaves out; `write` costs a third more. */
export type StagingBuffer = Buffer & { latin1Write(text: string, at: number, length: number): number };

/** The counters of the writer; MainCounters fits. */
export interface RingCounters {
  shm_records: number;
  shm_writes: number;
  shm_flushes: number;
  shm_cycles: number;
}

export class RingWriter {
  /** The staging buffer: TxLog writes records at `pos` and advances it. */
  readonly bytes: StagingBuffer;
  readonly words: Uint32Array;
  /** The same bytes, for several of them at any place. */
  readonly view: DataView;
  /** Next free byte, a multiple of 4; records must end at or before `limit`. */
  pos = BLOCK_HEAD;
  readonly limit: number;
  /** Records in the staging buffer. */
  count = 0;
  scheduled = false;
  /** Bytes reserved when the ring was made, if fewer than requested; else 0. */
  readonly cutTo: number = 0;
  private readonly trouble: WriteTrouble | null;
  private readonly fd: number;
  private readonly header: RingHeader;
  private readonly counters: RingCounters;
  private readonly generation: number;
  private readonly onTurn: () => void;
  private segment: number;
  private offset = 0;
  private before: number;
  private closed = false;

  /** Opens the ring at `path`, creating one of `size` bytes when there is none, or none of
   * that size. */
  constructor(
    path: string,
    size: number,
    counters: RingCounters,
    access: FileAccess = PRIVATE,
    trouble: WriteTrouble | null = null,
  ) {
    this.trouble = trouble;
    let taken = size;
    if (!existsSync(path)) taken = createRing(path, size, access);
    let fd = openSync(path, 'r+');
    const head = Buffer.alloc(HEADER_SIZE);
    readSync(fd, head, 0, HEADER_SIZE, 0);
    let header = readRingHeader(head);
    if (header === null || header.wanted !== size) {
      closeSync(fd);
      taken = createRing(path, size, access);
      fd = openSync(path, 'r+');
      readSync(fd, head, 0, HEADER_SIZE, 0);
      header = readRingHeader(head);
      if (header === null) throw new Error(`log ring ${path} has no valid header right after its creation`);
    }
    if (taken < size) this.cutTo = taken;
    this.fd = fd;
    this.header = header;
    this.counters = counters;
    this.before = recordsUpTo(fd, header);
    this.generation = header.generation + 1;
    this.segment = header.segment;
    const staging = new ArrayBuffer(Math.min(STAGING, header.segmentSize));
    this.bytes = Buffer.from(staging) as StagingBuffer;
    this.words = new Uint32Array(staging);
    this.view = new DataView(staging);
    this.limit = staging.byteLength - BLOCK_TAIL;
    this.words[B_MAGIC >> 2] = BLOCK_MAGIC;
    this.words[B_GENERATION >> 2] = this.generation;
    this.onTurn = () => this.flush();
    this.nextSegment();
  }

  /** Makes sure that the staging buffer is written at the end of this turn. */
  schedule(): void {
    this.scheduled = true;
    setImmediate(this.onTurn);
  }

  /** Empties a staging buffer that cannot take `need` more bytes; returns the new write position. */
  makeRoom(): number {
    this.counters.shm_flushes++;
    this.flush();
    return this.pos;
  }

  /** Writes the staging buffer. */
  flush(): void {
    this.scheduled = false;
    if (this.count === 0 || this.closed) return;
    const bytes = this.pos - BLOCK_HEAD;
    const total = this.pos + BLOCK_TAIL;
    if (this.offset + total > this.header.segmentSize) this.nextSegment();
    const { words } = this;
    const position = this.segment * this.header.segmentSize + this.offset;
    words[B_BYTES >> 2] = bytes;
    words[B_POSITION >> 2] = position;
    words[(B_POSITION >> 2) + 1] = Math.floor(position / 0x1_0000_0000);
    words[B_BEFORE >> 2] = this.before;
    words[(B_BEFORE >> 2) + 1] = Math.floor(this.before / 0x1_0000_0000);
    words[B_COUNT >> 2] = this.count;
    words[this.pos >> 2] = position;
    words[(this.pos >> 2) + 1] = bytes ^ BLOCK_MAGIC;
    const at = HEADER_SIZE + (this.segment % this.header.segments) * this.header.segmentSize + this.offset;
    this.before += this.count;
    this.counters.shm_records += this.count;
    this.counters.shm_writes++;
    this.count = 0;
    this.pos = BLOCK_HEAD;
    try {
      // A short write leaves an incomplete block, which the next one overwrites.
      if (writeSync(this.fd, this.bytes, 0, total, at) === total) {
        this.offset += total;
        this.trouble?.worked();
      } else this.trouble?.failed(new Error('a write was cut short'));
    } catch (cause) {
      // The log must never stop traffic. Readers see the gap in the count.
      this.trouble?.failed(cause);
    }
  }

  close(): void {
    if (this.closed) return;
    this.flush();
    this.closed = true;
    closeSync(this.fd);
  }

  private nextSegment(): void {
    this.segment++;
    this.offset = 0;
    if (this.segment % this.header.segments === 0) this.counters.shm_cycles++;
    const mark = Buffer.alloc(16);
    mark.writeUInt32LE(this.generation, 0);
    putU64(mark, this.segment, H_SEGMENT - H_GENERATION);
    try {
      writeSync(this.fd, mark, 0, mark.length, H_GENERATION);
    } catch {
      // The header page exists since the creation; a failure here is as in flush().
    }
  }
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
