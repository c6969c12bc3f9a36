// Reads the log ring from another process, with positioned reads that the writer does not notice. Returns complete
// blocks in order and the exact number of records that were overwritten before they could be read.
//
// Special case: a block may be read while it is written or overwritten. A trailer that fits its header shows that the
// write has finished, so a complete block is read once more; and the header's current segment after the read shows
// whether the writer has begun to overwrite it.

import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { openRegular } from '../../protocol/files/own-file.ts';
import {
  B_BEFORE,
  B_BYTES,
  B_COUNT,
  B_GENERATION,
  BLOCK_HEAD,
  blockAt,
  getU64,
  HEADER_SIZE,
  type RingHeader,
  readRingHeader,
} from './ring-format.ts';

const CHUNK = 1024 * 1024;
/** Bytes of the first read of a poll, and the growth of those after it (chosen). */
const FIRST_READ = 4096;
const READ_GROWTH = 16;

export interface RingBlock {
  /** Absolute position in the log. */
  position: number;
  /** Number of the writer; transaction ids start over when it changes. */
  generation: number;
  /** Number of records written before this block. */
  before: number;
  count: number;
  /** Records back to back: a view that is valid until the next read. */
  records: Uint8Array;
}

export interface RingRead {
  /** Records lost before these blocks. */
  lost: number;
  blocks: RingBlock[];
}

export class RingReader {
  private fd = -1;
  private inode = 0;
  private header: RingHeader = { segments: 0, segmentSize: 0, generation: 0, segment: 0, wanted: 0 };
  private segment = 0;
  private offset = 0;
  /** Record count at which the next block should begin; -1 when unknown. */
  private expected = -1;
  /** Never switches to a ring that replaces this one. */
  private pinned = false;
  private readonly path: string;
  private readonly head = Buffer.alloc(64);
  private readonly buffer: Buffer;

  private constructor(path: string, buffer: Buffer) {
    this.path = path;
    this.buffer = buffer;
  }

  /** Null when there is no ring at `path`. Readers that are never used at the same time may share a buffer. */
  static open(path: string, from: 'tail' | 'head', buffer = RingReader.buffer()): RingReader | null {
    const reader = new RingReader(path, buffer);
    if (!reader.attach()) return null;
    if (from === 'head') reader.toOldest();
    else reader.toTail();
    return reader;
  }

  /** Opens the ring about this number of bytes before a mark, and reads on from there; never switches to a new ring
   * file. Null when the mark belongs to another ring or nothing is left before it. */
  static openBefore(
    path: string,
    mark: string,
    bytes: number,
    buffer = RingReader.buffer(),
  ): { reader: RingReader; until: number } | null {
    const reader = new RingReader(path, buffer);
    if (!reader.attach()) return null;
    const [inode, until] = mark.split(':').map(Number);
    reader.pinned = true;
    if (inode === reader.inode && until !== undefined && reader.toBefore(until, bytes)) {
      return { reader, until };
    }
    reader.close();
    return null;
  }

  /** The position of the next read as a string, valid while the ring exists. */
  get mark(): string {
    return `${this.inode}:${this.position}`;
  }

  /** Whether the ring holds nothing older. */
  get atOldest(): boolean {
    return this.position <= this.oldest() * this.header.segmentSize;
  }

  static buffer(): Buffer {
    return Buffer.allocUnsafeSlow(CHUNK);
  }

  /** Bytes of log that the ring holds. */
  get size(): number {
    return this.header.segments * this.header.segmentSize;
  }

  /** The next blocks, or null when there is nothing new. */
  read(): RingRead | null {
    for (let again = 0; ; ) {
      const end = this.scan();
      if (end > 0) {
        const blocks = this.take(end);
        if (blocks === null) continue;
        const first = blocks[0] as RingBlock;
        const lost = this.expected >= 0 ? Math.max(0, first.before - this.expected) : 0;
        const last = blocks[blocks.length - 1] as RingBlock;
        this.expected = last.before + last.count;
        this.offset += end;
        return { lost, blocks };
      }
      if (!this.refresh()) return null;
      if (this.header.segment === this.segment) {
        if (this.replaced()) continue;
        return null;
      }
      // The segment is complete, but its last block may have been written between the scan and this check.
      if (again === 0) {
        again = 1;
        continue;
      }
      again = 0;
      if (this.overrun()) this.toOldest();
      else {
        this.segment++;
        this.offset = 0;
      }
    }
  }

  close(): void {
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
  }

  private attach(): boolean {
    try {
      const fd = openRegular(this.path);
      this.close();
      this.fd = fd;
      this.inode = fstatSync(fd).ino;
    } catch {
      return false;
    }
    return this.refresh();
  }

  /** Refreshes the header. */
  private refresh(): boolean {
    readSync(this.fd, this.head, 0, this.head.length, 0);
    const header = readRingHeader(this.head);
    if (header === null) return false;
    this.header = header;
    return true;
  }

  /** Switches to a new ring file of the same name; returns whether there is one. */
  private replaced(): boolean {
    if (this.pinned) return false;
    try {
      if (statSync(this.path).ino === this.inode) return false;
    } catch {
      return false;
    }
    if (!this.attach()) return false;
    this.expected = -1;
    this.toOldest();
    return true;
  }

  private overrun(): boolean {
    return this.header.segment - this.segment >= this.header.segments;
  }

  private toOldest(): void {
    this.segment = this.oldest();
    this.offset = 0;
  }

  /** Skips the oldest segment, which is overwritten next: that leaves the time of a segment to read. */
  private oldest(): number {
    return Math.max(0, this.header.segment - this.header.segments + 2);
  }

  private get position(): number {
    return this.segment * this.header.segmentSize + this.offset;
  }

  /** Moves to the block this number of bytes before a position, or the last one before that; false when there is
   * none. */
  private toBefore(until: number, bytes: number): boolean {
    const { segmentSize } = this.header;
    const from = Math.max(this.oldest() * segmentSize, until - bytes);
    if (!(from >= 0 && from < until)) return false;
    this.segment = Math.floor(from / segmentSize);
    this.offset = 0;
    for (let last = -1; ; ) {
      const end = this.scan();
      // The rest of a segment may be empty, and so may all segments before the first writer's.
      if (end <= 0) {
        this.offset = Math.max(0, last);
        if (last >= 0) return true;
        this.segment++;
        if (this.position >= until) return false;
        continue;
      }
      const start = this.position;
      for (let at = 0; at < end; ) {
        const next = at + blockAt(this.buffer, at, end, start + at);
        if (start + next > from) {
          this.offset += at;
          return true;
        }
        last = this.offset + at;
        at = next;
      }
      this.offset += end;
    }
  }

  private toTail(): void {
    this.segment = this.header.segment;
    this.offset = 0;
    for (;;) {
      const end = this.scan();
      if (end <= 0) return;
      const blocks = this.take(end);
      if (blocks === null) continue;
      const last = blocks[blocks.length - 1] as RingBlock;
      this.expected = last.before + last.count;
      this.offset += end;
    }
  }

  private place(): number {
    return HEADER_SIZE + (this.segment % this.header.segments) * this.header.segmentSize + this.offset;
  }

  /** Reads from the current place; returns the length of the whole blocks there. */
  private scan(): number {
    const room = Math.min(this.buffer.length, this.header.segmentSize - this.offset);
    if (room < BLOCK_HEAD) return 0;
    // Most polls find nothing or a few blocks: a megabyte is read only where more than that is new.
    const position = this.segment * this.header.segmentSize + this.offset;
    for (let size = Math.min(room, FIRST_READ); ; size = Math.min(room, size * READ_GROWTH)) {
      const got = readSync(this.fd, this.buffer, 0, size, this.place());
      let end = 0;
      let length = blockAt(this.buffer, 0, got, position);
      while (length > 0) {
        end += length;
        length = blockAt(this.buffer, end, got, position + end);
      }
      // 0 is the end of the log; -1 may be a block beyond the end of this read.
      if (length === 0 || got < size || size === room) return end;
    }
  }

  /** Reads [0, end) again, now that it is known to be complete; null when it was overwritten meanwhile. */
  private take(end: number): RingBlock[] | null {
    const got = readSync(this.fd, this.buffer, 0, end, this.place());
    if (!this.refresh() || this.overrun()) {
      this.toOldest();
      return null;
    }
    const blocks: RingBlock[] = [];
    const position = this.segment * this.header.segmentSize + this.offset;
    for (let at = 0; at < got; ) {
      const n = blockAt(this.buffer, at, got, position + at);
      if (n <= 0) break;
      const from = at + BLOCK_HEAD;
      blocks.push({
        position: position + at,
        generation: this.buffer.readUInt32LE(at + B_GENERATION),
        before: getU64(this.buffer, at + B_BEFORE),
        count: this.buffer.readUInt32LE(at + B_COUNT),
        records: this.buffer.subarray(from, from + this.buffer.readUInt32LE(at + B_BYTES)),
      });
      at += n;
    }
    return blocks.length === 0 ? null : blocks;
  }
}
