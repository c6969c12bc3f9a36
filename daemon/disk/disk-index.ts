// Where each object of a disk tier is: by the hash of its key, in shared memory, at most 40 bytes an object. One writer, the thread
// of the tier.
//
// A hash is not a key: the reader of an entry compares the key in the record. An entry that another replaces is no longer found
// and keeps its row until its segment goes, so that the rows of a segment need no list in both directions.

import { turns } from '../turns/turns.ts';

/** Words of a row. */
const NEXT = 0;
const LOW = 1;
const HIGH = 2;
const VARIANT = 3;
const SEGMENT = 4;
/** In units of RECORD_UNIT, and above AT_BITS the class of the record's length. */
const AT = 5;
/** Seconds since 1970, rounded up; 0 is an entry that is not found any more. */
const END = 6;
const SEGMENT_NEXT = 7;
const ROW_WORDS = 8;

/** Variants of a key that are found: with one more the oldest is not. Each costs a read when it is looked at in vain. */
const MOST_VARIANTS = 32;

const LAST_END = 2 ** 32 - 1;

/** Enough for a segment of 1 GiB. */
const AT_BITS = 24;
const AT_MASK = 2 ** AT_BITS - 1;
/** Classes of lengths: eight for each power of two. */
const STEPS = 8;
const MOST_CLASS = 255;

/** An entry, as it is stored in a segment's directory as well. */
export interface IndexEntry {
  /** The two halves of the key's hash. */
  readonly low: number;
  readonly high: number;
  readonly variant: number;
  readonly segment: number;
  /** In units of RECORD_UNIT. */
  readonly at: number;
  /** Seconds since 1970. */
  readonly end: number;
  /** Bytes of the record; of one that the index gives, up to a tenth more. */
  readonly bytes: number;
}

/** Rows that hasKey() looks at: while rows are used again a walk may lead into other buckets. */
const MOST_LOOKED = 1000;

/** The memory of an index, which other threads may have, too. */
export interface IndexMemory {
  readonly rows: SharedArrayBuffer;
  readonly buckets: SharedArrayBuffer;
}

function makeMemory(most: number): IndexMemory {
  const buckets = 2 ** Math.ceil(Math.log2(Math.max(2, most)));
  return {
    rows: new SharedArrayBuffer((most + 1) * ROW_WORDS * 4),
    buckets: new SharedArrayBuffer(buckets * 4),
  };
}

export class DiskIndex {
  /** Entries that can be found. */
  live = 0;
  readonly memory: IndexMemory;
  private readonly rows: Uint32Array;
  private readonly buckets: Uint32Array;
  private readonly mask: number;
  private readonly most: number;
  /** Rows ever used; row 0 is none. */
  private made = 1;
  private free = 0;
  /** First row of each segment. */
  private readonly firsts = new Map<number, number>();

  /** @param most entries, replaced ones whose segments are still there included */
  constructor(most: number, memory: IndexMemory = makeMemory(most)) {
    this.most = most;
    this.memory = memory;
    this.rows = new Uint32Array(memory.rows);
    this.buckets = new Uint32Array(memory.buckets);
    this.mask = this.buckets.length - 1;
  }

  get isFull(): boolean {
    return this.free === 0 && this.made > this.most;
  }

  /** Adds an entry in place of the one of its key and variant; false when there is no room. */
  set(entry: IndexEntry): boolean {
    if (this.isFull) return false;
    this.makeWay(entry.low, entry.high, entry.variant);
    const { rows } = this;
    const row = this.free === 0 ? this.made++ : this.free;
    if (row === this.free) this.free = this.word(row, SEGMENT_NEXT);
    const bucket = entry.low & this.mask;
    const at = row * ROW_WORDS;
    rows[at + NEXT] = this.buckets[bucket] as number;
    rows[at + LOW] = entry.low;
    rows[at + HIGH] = entry.high;
    rows[at + VARIANT] = entry.variant;
    rows[at + SEGMENT] = entry.segment;
    rows[at + AT] = (entry.at | (classOf(entry.bytes) << AT_BITS)) >>> 0;
    rows[at + END] = Math.min(LAST_END, Math.max(1, Math.ceil(entry.end)));
    rows[at + SEGMENT_NEXT] = this.firsts.get(entry.segment) ?? 0;
    this.buckets[bucket] = row;
    this.firsts.set(entry.segment, row);
    this.live++;
    return true;
  }

  /** Whether there are entries of a key's hash. Also for another thread, while the tier's changes the index: it may then miss an
   * entry that has just come, or see one that has just gone. */
  hasKey(low: number, high: number): boolean {
    let row = this.buckets[low & this.mask] as number;
    for (let looked = 0; row !== 0 && looked < MOST_LOOKED; looked++) {
      if (this.word(row, LOW) === low >>> 0 && this.word(row, HIGH) === high >>> 0) return true;
      row = this.word(row, NEXT);
    }
    return row !== 0;
  }

  /** The entries of a key's hash, newest first. */
  find(low: number, high: number): IndexEntry[] {
    return this.rowsOf(low, high).map((row) => this.entry(row));
  }

  /** A variant of a key is not found any more. */
  hideVariant(low: number, high: number, variant: number): void {
    for (const row of this.rowsOf(low, high)) {
      if (this.word(row, VARIANT) === variant >>> 0) this.hide(row);
    }
  }

  /** Whether the entry at this place is found. */
  has(entry: IndexEntry): boolean {
    return this.rowsOf(entry.low, entry.high).some(
      (row) => this.word(row, SEGMENT) === entry.segment && this.at(row) === entry.at,
    );
  }

  /** Calls `each` for the entries of a segment that are found when it comes to them. */
  async overSegment(segment: number, each: (entry: IndexEntry) => Promise<void>): Promise<void> {
    const rows: number[] = [];
    for (let row = this.firsts.get(segment) ?? 0; row !== 0; row = this.word(row, SEGMENT_NEXT))
      rows.push(row);
    for (const row of rows) {
      // It may have been given to another segment meanwhile.
      if (this.word(row, SEGMENT) === segment && this.word(row, END) !== 0) await each(this.entry(row));
    }
  }

  /** The entry at this place is not found any more. */
  drop(entry: IndexEntry): void {
    for (const row of this.rowsOf(entry.low, entry.high)) {
      if (this.word(row, SEGMENT) === entry.segment && this.at(row) === entry.at) this.hide(row);
    }
  }

  /** Frees all entries of a segment. Until the last of them is freed, entries of it may be found. */
  async dropSegment(segment: number): Promise<void> {
    let row = this.firsts.get(segment) ?? 0;
    this.firsts.delete(segment);
    while (row !== 0) {
      const next = this.word(row, SEGMENT_NEXT);
      if (this.word(row, END) !== 0) this.hide(row);
      this.rows[row * ROW_WORDS + SEGMENT_NEXT] = this.free;
      this.free = row;
      row = next;
      if (!turns.mayContinue()) await turns.next();
    }
  }

  /** Hides the entry of the same variant, and the oldest when there are too many of the key. */
  private makeWay(low: number, high: number, variant: number): void {
    let same = 0;
    let oldest = 0;
    let next = 0;
    for (let row = this.buckets[low & this.mask] as number; row !== 0; row = next) {
      next = this.word(row, NEXT);
      if (this.word(row, LOW) !== low >>> 0 || this.word(row, HIGH) !== high >>> 0) continue;
      if (this.word(row, VARIANT) === variant >>> 0) {
        this.hide(row);
        continue;
      }
      same++;
      oldest = row;
    }
    if (same >= MOST_VARIANTS) this.hide(oldest);
  }

  private rowsOf(low: number, high: number): number[] {
    const found: number[] = [];
    for (let row = this.buckets[low & this.mask] as number; row !== 0; row = this.word(row, NEXT)) {
      if (this.word(row, LOW) === low >>> 0 && this.word(row, HIGH) === high >>> 0) found.push(row);
    }
    return found;
  }

  /** Takes a row out of its bucket. */
  private hide(row: number): void {
    const bucket = this.word(row, LOW) & this.mask;
    const next = this.word(row, NEXT);
    let before = this.buckets[bucket] as number;
    if (before === row) this.buckets[bucket] = next;
    else {
      while (this.word(before, NEXT) !== row) before = this.word(before, NEXT);
      this.rows[before * ROW_WORDS + NEXT] = next;
    }
    this.rows[row * ROW_WORDS + END] = 0;
    this.live--;
  }

  private entry(row: number): IndexEntry {
    return {
      low: this.word(row, LOW),
      high: this.word(row, HIGH),
      variant: this.word(row, VARIANT),
      segment: this.word(row, SEGMENT),
      at: this.at(row),
      bytes: Math.ceil(2 ** ((this.word(row, AT) >>> AT_BITS) / STEPS)),
      end: this.word(row, END),
    };
  }

  private at(row: number): number {
    return this.word(row, AT) & AT_MASK;
  }

  private word(row: number, word: number): number {
    return this.rows[row * ROW_WORDS + word] as number;
  }
}

function classOf(bytes: number): number {
  return Math.min(MOST_CLASS, Math.ceil(Math.log2(Math.max(1, bytes)) * STEPS));
}
