// A binary log file as written by Varnish's -w: a magic, then contiguous records. Decoded piece by piece, so that its
// size does not matter; a truncated final record is dropped and counted. Special case: releases since 7.3 have a
// third header word, ids of 62 bits with the side's marks in the top two, and a version in the two bits above the
// length of the first word (0 before them). The output is always the two-word form of log-record.ts, so ids keep
// their low 30 bits. A file without a version that is only valid with three words is read with three. Files with a
// magic of their own (since 7.7) lack formerly unused tags, so that later ones have lower numbers.

import {
  LOG_FILE_MAGIC,
  payloadLength,
  RECORD_HEAD,
  RecordCursor,
  recordSize,
  recordTag,
} from '../protocol/log-record.ts';
import { TAGS, type TagName, tagRow } from '../protocol/tables/tags.ts';

/** The version's bits in the third byte of the first word. */
const VERSION = 0x03;
const WIDE_HEAD = 12;
/** The magic of the later form. */
const LATER_MAGIC = Buffer.from('VSL2', 'latin1');
/** Tags without a number in the later format. */
const GONE: ReadonlySet<TagName> = new Set(['BackendReuse', 'Backend', 'BackendStart']);
/** Numbers of tags by their numbers in the later form; 0 is none. */
const TAG_BY_LATER: readonly number[] = [
  0,
  ...TAGS.flatMap(({ name }, i) => (GONE.has(name) ? [] : [i + 1])),
];
/** Records checked to detect the layout (chosen). */
const SAMPLE = 64;

/** Collects pieces of a file and returns complete records. */
export class LogFileDecoder {
  private rest: Buffer = Buffer.alloc(0);
  private started = false;
  /** Do all records have three words? Null before the first. */
  private wide: boolean | null = null;
  private later = false;

  /** The complete records so far; null if this is not a log file. */
  push(piece: Uint8Array): Uint8Array | null {
    let b = this.rest.length === 0 ? Buffer.from(piece) : Buffer.concat([this.rest, piece]);
    if (!this.started) {
      if (b.length < LOG_FILE_MAGIC.length) {
        this.rest = b;
        return new Uint8Array(0);
      }
      this.later = LATER_MAGIC.every((c, i) => c === b[i]);
      if (!this.later && LOG_FILE_MAGIC.some((c, i) => c !== b[i])) return null;
      this.started = true;
      if (this.later) this.wide = true;
      b = b.subarray(LOG_FILE_MAGIC.length);
    }
    if (this.wide === null && b.length >= RECORD_HEAD) this.wide = looksWide(b);
    const { whole, used } = this.wide === true ? narrowed(b, this.later) : plain(b);
    this.rest = Buffer.from(b.subarray(used));
    return whole;
  }

  /** Has the magic been seen? */
  get valid(): boolean {
    return this.started;
  }

  /** The bytes of an incomplete record. */
  get left(): number {
    return this.started ? this.rest.length : 0;
  }
}

interface Piece {
  whole: Uint8Array;
  used: number;
}

function plain(b: Buffer): Piece {
  const cursor = new RecordCursor(b);
  while (cursor.next());
  return { whole: b.subarray(0, cursor.end), used: cursor.end };
}

/** Converts records of three words to two. */
function narrowed(b: Buffer, later: boolean): Piece {
  const out = Buffer.allocUnsafe(b.length);
  let at = 0;
  let to = 0;
  while (at + WIDE_HEAD <= b.length) {
    const size = recordSize(b, at) + WIDE_HEAD - RECORD_HEAD;
    if (at + size > b.length) break;
    out[to] = b[at] as number;
    out[to + 1] = b[at + 1] as number;
    out[to + 2] = 0;
    const tag = b[at + 3] as number;
    out[to + 3] = later ? (TAG_BY_LATER[tag] ?? 0) : tag;
    const marks = (b[at + 11] as number) & 0xc0;
    out.writeUInt32LE(((b.readUInt32LE(at + 4) & 0x3fff_ffff) | (marks << 24)) >>> 0, to + 4);
    b.copy(out, to + RECORD_HEAD, at + WIDE_HEAD, at + size);
    to += size - WIDE_HEAD + RECORD_HEAD;
    at += size;
  }
  return { whole: out.subarray(0, to), used: at };
}

/** Do records have three words? So if their version says so and they are valid that way, or they are only valid that
 * way. */
function looksWide(b: Buffer): boolean {
  const versioned = ((b[2] as number) & VERSION) !== 0;
  return (versioned || !sensible(b, RECORD_HEAD)) && sensible(b, WIDE_HEAD);
}

/** With heads of this size, do the first records have known tags and texts that end correctly? */
function sensible(b: Buffer, head: number): boolean {
  let seen = 0;
  for (let at = 0; at + head <= b.length && seen < SAMPLE; seen++) {
    const row = tagRow(recordTag(b, at));
    const length = payloadLength(b, at);
    const end = at + head + length;
    if (row === undefined || length === 0) return false;
    if (end > b.length) break;
    const flags: readonly string[] = row.flags;
    if (!flags.includes('binary') && b.indexOf(0, at + head) !== end - 1) return false;
    at += head + ((length + 3) & ~3);
  }
  return seen > 0;
}
