// A run of groups of the kept log, packed: each distinct record of the block is stored once, and a group is a list of
// places of records. Most records of a log repeat others, so that a group takes a fifth of its size on the wire. The
// buffer is written by LogPacker from both ends: records from the beginning, groups from the end. A block owns its
// memory: groups read from it are copies, and it can be reused. A group, in units of 16 bits: transactions, flags, hash
// of its URL (2); then for each transaction level and type, reason, id (2), parent (2), id word of its records (2),
// number of units (2), and a unit for each record: its place.

import { RECORD_HEAD } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';

export const TYPES = ['raw', 'session', 'request', 'bereq', 'unknown'] as const;
export const GROUP_HEAD = 4;
export const TRANSACTION_HEAD = 10;
/** Instead of a place: the next two units are the record's own id word, its place is the third. */
export const FOREIGN = 0xffff;
/** Words of records that a place can name. */
export const MOST_WORDS = 0xffff;
/** Flags of a group. */
export const FAILED = 1;
export const INVALIDATED = 2;
/** Flag of the unit with level and type. */
export const FIRST = 0x8000;

export class LogBlock {
  /** Bytes of the buffer. */
  readonly capacity: number;
  readonly words: Int32Array;
  readonly units: Uint16Array;
  readonly bytes: Buffer;
  /** Sequence number of its first group. */
  first = 0;
  count = 0;
  /** Words taken by records. */
  filled = 0;
  /** Unit at which the last group begins. */
  top: number;
  /** Unit at which each group begins. */
  starts = new Uint32Array(64);
  /** A single group, unpacked: it is too large for any block, or malformed. */
  whole: readonly LogTransaction[] | null = null;

  constructor(capacity: number) {
    const buffer = new ArrayBuffer(capacity);
    this.capacity = capacity;
    this.words = new Int32Array(buffer);
    this.units = new Uint16Array(buffer);
    this.bytes = Buffer.from(buffer);
    this.top = this.units.length;
  }

  /** Forgets everything; its groups will begin with this sequence number. */
  reset(first: number): void {
    this.first = first;
    this.count = 0;
    this.filled = 0;
    this.top = this.units.length;
    this.whole = null;
  }

  /** Bytes in use. */
  get used(): number {
    if (this.whole !== null) return this.whole.reduce((sum, tx) => sum + tx.records.length, 0);
    return this.filled * 4 + (this.units.length - this.top) * 2;
  }

  add(start: number): void {
    if (this.count === this.starts.length) {
      const grown = new Uint32Array(this.count * 2);
      grown.set(this.starts);
      this.starts = grown;
    }
    this.starts[this.count++] = start;
  }

  isGap(i: number): boolean {
    return this.whole === null && this.unit(this.start(i)) === 0;
  }

  hasFailed(i: number): boolean {
    return ((this.whole === null ? this.unit(this.start(i) + 1) : FAILED) & FAILED) !== 0;
  }

  /** Whether a group may have purged by surrogate key, or added a ban. */
  hasInvalidated(i: number): boolean {
    return this.whole === null && (this.unit(this.start(i) + 1) & INVALIDATED) !== 0;
  }

  /** Whether the first URL of the group's main request may be the one with this hash. */
  mayHaveUrl(i: number, hash: number): boolean {
    return this.whole !== null || this.double(this.start(i) + 2) === hash;
  }

  /** Index of the transaction with this id in a group, or -1. */
  indexOf(i: number, vxid: number): number {
    if (this.whole !== null) return this.whole.findIndex((tx) => tx.vxid === vxid);
    let at = this.start(i);
    const transactions = this.unit(at);
    at += GROUP_HEAD;
    for (let n = 0; n < transactions; n++) {
      if (this.double(at + 2) >>> 0 === vxid) return n;
      at += TRANSACTION_HEAD + this.double(at + 8);
    }
    return -1;
  }

  /** Whether a group has one of these records. */
  hasAny(i: number, places: ReadonlySet<number>): boolean {
    if (this.whole !== null) return true;
    let at = this.start(i);
    const transactions = this.unit(at);
    at += GROUP_HEAD;
    for (let n = 0; n < transactions; n++) {
      const end = at + TRANSACTION_HEAD + this.double(at + 8);
      // The id words of foreign records may match by chance: the group is then tried in vain, which does no harm.
      for (at += TRANSACTION_HEAD; at < end; at++) if (places.has(this.unit(at))) return true;
    }
    return false;
  }

  /** The transactions of a group, their records copied out. */
  group(i: number): readonly LogTransaction[] {
    if (this.whole !== null) return this.whole;
    let at = this.start(i);
    const transactions = this.unit(at);
    at += GROUP_HEAD;
    const out: LogTransaction[] = [];
    for (let n = 0; n < transactions; n++) {
      const kind = this.unit(at);
      const end = at + TRANSACTION_HEAD + this.double(at + 8);
      out.push({
        level: kind & 0xff,
        type: TYPES[(kind >> 8) & 7] ?? 'unknown',
        first: (kind & FIRST) !== 0,
        reason: this.text(this.unit(at + 1)),
        vxid: this.double(at + 2) >>> 0,
        parent: this.double(at + 4) >>> 0,
        records: this.records(at + TRANSACTION_HEAD, end, this.double(at + 6)),
      });
      at = end;
    }
    return out;
  }

  /** Units from `from` to `end` as records. */
  private records(from: number, end: number, id: number): Uint8Array {
    let size = 0;
    for (let at = from; at < end; at++) {
      if (this.unit(at) === FOREIGN) at += 3;
      size += RECORD_HEAD + 4 * this.payloadWords(this.unit(at));
    }
    const words = new Int32Array(size / 4);
    let to = 0;
    for (let at = from; at < end; at++) {
      let own = id;
      if (this.unit(at) === FOREIGN) {
        own = this.double(at + 1);
        at += 3;
      }
      const place = this.unit(at);
      words[to++] = this.words[place] as number;
      words[to++] = own;
      const last = place + this.payloadWords(place);
      for (let k = place + 1; k <= last; k++) words[to++] = this.words[k] as number;
    }
    return new Uint8Array(words.buffer);
  }

  private payloadWords(place: number): number {
    return (((this.words[place] as number) & 0xffff) + 3) >> 2;
  }

  private text(place: number): string {
    const length = (this.words[place] as number) & 0xffff;
    return this.bytes.toString('utf8', place * 4 + 4, place * 4 + 4 + length);
  }

  private start(i: number): number {
    return this.starts[i] as number;
  }

  private unit(at: number): number {
    return this.units[at] as number;
  }

  private double(at: number): number {
    return (this.units[at] as number) | ((this.units[at + 1] as number) << 16);
  }
}
