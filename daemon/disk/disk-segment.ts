// A segment: a file that records are appended to until it is full, then sealed with a directory of them, and removed as a
// whole when it is the oldest.
//
// First 4 KiB: at 0 which segment of which tier this is, at 512 (another sector) the seal. The seal is written only after the
// records and the directory were synced, so that a sealed segment's records are whole as far as the device keeps its word;
// those of any other are read and compared with their checksums, bodies included, before one of them is served.

import { crc32 } from 'node:zlib';
import { turns } from '../turns/turns.ts';
import type { DiskFile } from './disk-files.ts';
import type { IndexEntry } from './disk-index.ts';
import {
  BLOCK,
  bodyPart,
  type DiskMeta,
  type DiskObject,
  encodeMeta,
  encodeRecord,
  isBlock,
  metaBytes,
  metaLength,
  RECORD_UNIT,
  readRecord,
  recordLength,
  sumsOf,
} from './disk-record.ts';

/** Increased with each change of the layout of anything in a segment: one of another version is dropped. */
const VERSION = 1;
const SEGMENT_HEAD = 4096;
const SEAL_AT = 512;
const MAGIC = 0x53445850;
const SEAL_MAGIC = 0x4c445850;
const HEAD_BYTES = 64;
const MADE_AT = 56;
const SEAL_BYTES = 40;
const ENTRY_BYTES = 20;
/** Byte of an entry where its record's place is. */
const PLACE = 12;
/** Entries that are encoded or read between two looks at the turn (chosen): 20 µs. */
const A_STEP = 256;
/** Bytes read at first of a record of unknown or great length: most have all but the body in them. */
const FIRST_READ = 4096;
/** Bytes of a large body that are written at once: whole blocks. */
const PART = 16 * BLOCK;
/** Records up to this many bytes are read at once (chosen). */
const READ_WHOLE = 256 * 1024;

/** The header of a segment; `origin` is the tier's (disk-segments.ts). */
export interface SegmentHead {
  readonly version: number;
  readonly number: number;
  readonly origin: string;
  /** When it was made: seconds since 1970; 0 when that is not known. */
  readonly made: number;
}

export type SegmentState = 'sealed' | 'open' | 'foreign' | 'other version';

export class DiskSegment {
  readonly number: number;
  readonly file: DiskFile;
  /** Byte after the last record. */
  used = SEGMENT_HEAD;
  /** The least and the greatest `since` of its records. */
  oldest = Number.POSITIVE_INFINITY;
  newest = 0;
  entries: IndexEntry[] = [];
  /** Segments of the usual size that it counts as. */
  units = 1;
  /** As SegmentHead.made. */
  made = 0;
  isSealed = false;
  /** Reads under way, and whether the file is closed with the last of them. */
  private readers = 0;
  private isGone = false;

  constructor(number: number, file: DiskFile) {
    this.number = number;
    this.file = file;
  }

  get isEmpty(): boolean {
    return this.used === SEGMENT_HEAD;
  }

  /** @param made seconds since 1970 */
  async writeHead(origin: string, made: number): Promise<void> {
    this.made = made;
    await this.file.write(encodeHead({ version: VERSION, number: this.number, origin, made }), 0);
  }

  /** Counts a record that is stored at the end. */
  added(entry: IndexEntry, since: number, bytes: number): void {
    this.entries.push(entry);
    this.used += bytes;
    this.oldest = Math.min(this.oldest, since);
    this.newest = Math.max(this.newest, since);
  }

  /** Writes a record at the end; returns its length. A large body is written in parts, and what precedes it last: until then there
   * is no record. */
  async write(object: DiskObject): Promise<number> {
    const { body } = object;
    const length = recordLength(object);
    if (body instanceof Uint8Array) {
      await this.file.write(encodeRecord(object, this.number), this.used);
      return length;
    }
    const sums: number[] = [];
    const bodyAt = this.used + metaBytes(object);
    for (let at = 0; at < body.length; at += PART) {
      const part = bodyPart(body, at, PART);
      sums.push(...sumsOf(part));
      await this.file.write(part, bodyAt + at);
    }
    await this.file.write(encodeMeta(object, this.number, sums), this.used);
    return length;
  }

  /** Writes the directory and the seal. Its entries are then on disk, and not kept here. */
  async seal(): Promise<void> {
    const { bytes: directory, sum } = await encodeDirectory(this.entries);
    await this.file.write(directory, this.used);
    await this.file.sync();
    const seal = Buffer.alloc(SEAL_BYTES);
    seal.writeUInt32LE(SEAL_MAGIC, 0);
    seal.writeUInt32LE(this.number, 8);
    seal.writeUInt32LE(this.entries.length, 12);
    seal.writeUInt32LE(sum, 16);
    seal.writeUInt32LE(this.used / RECORD_UNIT, 20);
    seal.writeDoubleLE(this.entries.length === 0 ? 0 : this.oldest, 24);
    seal.writeDoubleLE(this.newest, 32);
    seal.writeUInt32LE(crc32(seal.subarray(8)), 4);
    await this.file.write(seal, SEAL_AT);
    await this.file.sync();
    this.isSealed = true;
    this.entries = [];
  }

  /** Reads the header, and the directory of a sealed segment into `entries`. */
  async load(origin: string): Promise<SegmentState> {
    const head = await this.bytes(0, SEGMENT_HEAD);
    const says = readHead(head);
    if (says !== null && says.version !== VERSION) return 'other version';
    if (says === null || says.number !== this.number || says.origin !== origin) return 'foreign';
    this.made = says.made;
    const seal = head.subarray(SEAL_AT, SEAL_AT + SEAL_BYTES);
    const isWhole = seal.readUInt32LE(0) === SEAL_MAGIC && crc32(seal.subarray(8)) === seal.readUInt32LE(4);
    if (!isWhole || seal.readUInt32LE(8) !== this.number) return 'open';
    const count = seal.readUInt32LE(12);
    const used = seal.readUInt32LE(20) * RECORD_UNIT;
    const directory = await this.bytes(used, count * ENTRY_BYTES);
    const end = used / RECORD_UNIT;
    const entries =
      directory.length === count * ENTRY_BYTES
        ? await readDirectory(directory, seal.readUInt32LE(16), this.number, end)
        : null;
    if (entries === null) return 'open';
    this.used = used;
    this.oldest = count === 0 ? Number.POSITIVE_INFINITY : seal.readDoubleLE(24);
    this.newest = seal.readDoubleLE(32);
    this.entries = entries;
    this.isSealed = true;
    return 'sealed';
  }

  /** All of the record at a byte but its body; null when it is damaged. `known`: its first bytes, as firstAt() reads them. */
  async metaAt(at: number, known: Buffer | null = null): Promise<DiskMeta | null> {
    const first = known ?? (await this.bytes(at, FIRST_READ));
    const length = metaLength(first, this.number);
    if (length < 0) return null;
    const rest = length > first.length ? await this.bytes(at + first.length, length - first.length) : null;
    const meta = rest === null ? first.subarray(0, length) : Buffer.concat([first, rest]);
    return readRecord(meta, this.number);
  }

  /** Reads the first bytes of the record at a byte: all of one that is not large.
   * @param length as in the index
   * @param into a buffer of firstBytes(length) bytes at least, of which the result is a part */
  async firstAt(at: number, length: number, into: Buffer): Promise<Buffer> {
    const bytes = into.subarray(0, firstBytes(length));
    const count = await this.file.read(bytes, at);
    return count === bytes.length ? bytes : bytes.subarray(0, count);
  }

  /** A block of the body of the record at a byte; null when a bit of it is wrong. `known`: the bytes of firstAt(). */
  async blockAt(
    at: number,
    meta: DiskMeta,
    block: number,
    known: Buffer | null = null,
  ): Promise<Buffer | null> {
    const length = Math.min(BLOCK, meta.bodyLength - block * BLOCK);
    const from = meta.bodyAt + block * BLOCK;
    const isKnown = known !== null && from + length <= known.length;
    const bytes = isKnown ? known.subarray(from, from + length) : await this.bytes(at + from, length);
    return bytes.length === length && isBlock(meta, block, bytes) ? bytes : null;
  }

  /** The records of a segment without a seal, in order, up to the first that is not whole. */
  async *scan(): AsyncGenerator<{ at: number; meta: DiskMeta }> {
    for (let at = SEGMENT_HEAD; ; ) {
      const meta = await this.metaAt(at);
      if (meta === null) return;
      for (let block = 0; block < meta.sums.length; block++) {
        if ((await this.blockAt(at, meta, block)) === null) return;
      }
      yield { at, meta };
      at += meta.length;
    }
  }

  /** The segment stays readable until done(). */
  begin(): void {
    this.readers++;
  }

  async done(): Promise<void> {
    this.readers--;
    if (this.isGone && this.readers === 0) await this.close();
  }

  /** Closes the file with the last read. */
  async leave(): Promise<void> {
    this.isGone = true;
    if (this.readers === 0) await this.close();
  }

  /** Nothing depends on how it ends: what matters was synced. */
  private async close(): Promise<void> {
    await this.file.close().catch(() => undefined);
  }

  private async bytes(at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, await this.file.read(bytes, at));
  }
}

/** Bytes that are read first of a record of this length. */
export function firstBytes(length: number): number {
  return length <= READ_WHOLE ? length : FIRST_READ;
}

/** Bytes of a segment with one record. */
export function ownSegment(length: number): number {
  return sealedBytes(SEGMENT_HEAD + length, 1);
}

/** Bytes of a segment with `entries` records that end at `used`. */
export function sealedBytes(used: number, entries: number): number {
  return used + entries * ENTRY_BYTES;
}

function encodeHead(head: SegmentHead): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEAD);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt32LE(head.version, 8);
  bytes.writeUInt32LE(head.number, 12);
  bytes.write(head.origin, 16, MADE_AT - 16, 'latin1');
  bytes.writeDoubleLE(head.made, MADE_AT);
  bytes.writeUInt32LE(crc32(bytes.subarray(8, HEAD_BYTES)), 4);
  return bytes;
}

function readHead(bytes: Buffer): SegmentHead | null {
  if (bytes.length < SEGMENT_HEAD || bytes.readUInt32LE(0) !== MAGIC) return null;
  if (crc32(bytes.subarray(8, HEAD_BYTES)) !== bytes.readUInt32LE(4)) return null;
  const version = bytes.readUInt32LE(8);
  const origin = bytes.toString('latin1', 16, MADE_AT).replace(/\0+$/, '');
  return { version, number: bytes.readUInt32LE(12), origin, made: bytes.readDoubleLE(MADE_AT) };
}

/** The directory and its checksum. A segment may have a million entries. */
async function encodeDirectory(entries: readonly IndexEntry[]): Promise<{ bytes: Buffer; sum: number }> {
  const bytes = Buffer.allocUnsafe(entries.length * ENTRY_BYTES);
  let sum = 0;
  for (let first = 0; first < entries.length; first += A_STEP) {
    const step = entries.slice(first, first + A_STEP);
    const from = first * ENTRY_BYTES;
    for (const [i, entry] of step.entries()) {
      const at = from + i * ENTRY_BYTES;
      bytes.writeUInt32LE(entry.low >>> 0, at);
      bytes.writeUInt32LE(entry.high >>> 0, at + 4);
      bytes.writeUInt32LE(entry.variant >>> 0, at + 8);
      bytes.writeUInt32LE(entry.at >>> 0, at + PLACE);
      bytes.writeUInt32LE(Math.min(2 ** 32 - 1, Math.max(1, Math.ceil(entry.end))), at + 16);
    }
    sum = crc32(bytes.subarray(from, from + step.length * ENTRY_BYTES), sum);
    if (!turns.mayContinue()) await turns.next();
  }
  return { bytes, sum };
}

/** Null when the checksum is another. @param end of the last record, in units of RECORD_UNIT */
async function readDirectory(
  bytes: Buffer,
  sum: number,
  segment: number,
  end: number,
): Promise<IndexEntry[] | null> {
  const entries: IndexEntry[] = [];
  let found = 0;
  for (let first = 0; first < bytes.length; first += A_STEP * ENTRY_BYTES) {
    const last = Math.min(bytes.length, first + A_STEP * ENTRY_BYTES);
    found = crc32(bytes.subarray(first, last), found);
    for (let from = first; from < last; from += ENTRY_BYTES) {
      const at = bytes.readUInt32LE(from + PLACE);
      // A record ends where the next one begins.
      const isLast = from + ENTRY_BYTES === bytes.length;
      const next = isLast ? end : bytes.readUInt32LE(from + ENTRY_BYTES + PLACE);
      entries.push({
        low: bytes.readUInt32LE(from),
        high: bytes.readUInt32LE(from + 4),
        variant: bytes.readUInt32LE(from + 8),
        segment,
        at,
        end: bytes.readUInt32LE(from + 16),
        bytes: (next - at) * RECORD_UNIT,
      });
    }
    if (!turns.mayContinue()) await turns.next();
  }
  return found === sum ? entries : null;
}
