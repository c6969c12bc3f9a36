// A table of fixed-width rows in shared memory: for each object, and for each link of an object to a surrogate key.
//
// A row is named by its number, 0 is none. The table grows by whole blocks, so that growing never copies and
// never moves a row; freed rows are reused first. It knows nothing of what the words mean.

import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import { Regions } from './storage/regions.ts';

const BLOCK_SHIFT = 13;
const BLOCK_ROWS = 1 << BLOCK_SHIFT;
const BLOCK_MASK = BLOCK_ROWS - 1;

/** Words of the table itself. */
const FREED = 0;
const NEXT = 1;
const COUNT = 2;
const TABLE_WORDS = 3;

/** A word that a row keeps while it is free, and what it is in a row that was never used. */
export interface KeptWord {
  readonly word: number;
  readonly fresh: number;
}

export class RowTable {
  /** 32-bit words a row; even, so that a row can hold doubles. */
  readonly width: number;
  private readonly words: Int32Array[] = [];
  private readonly doubles: Float64Array[] = [];
  private readonly regions: Regions;
  private readonly own: Int32Array;
  private readonly kept: KeptWord | null;
  private readonly isShared: boolean;
  /** This thread's own, of no meaning: see fence(). */
  private readonly steps = new Int32Array(1);
  /** The words that touchAll() read, folded: without a use of them the compiler would leave the reads out. */
  touched = 0;

  constructor(width: number, memory: MemoryPart = ownMemory(), kept: KeptWord | null = null) {
    this.width = width;
    this.kept = kept;
    this.isShared = memory.isShared;
    this.regions = new Regions(BLOCK_ROWS * width * 4, memory.part('rows'));
    this.own = memory.words(TABLE_WORDS);
    if (this.own[NEXT] === 0) this.own[NEXT] = 1;
    this.attach();
    memory.onGrowth(() => this.attach());
  }

  /** Rows in use. */
  get count(): number {
    return this.own[COUNT] as number;
  }

  /** Rows ever used: a scan goes from 1 to below this. */
  get end(): number {
    return this.own[NEXT] as number;
  }

  /** A row with all words zero, but for the one that is kept. */
  take(): number {
    const { own, kept } = this;
    own[COUNT] = (own[COUNT] as number) + 1;
    const reused = own[FREED] as number;
    if (reused !== 0) {
      own[FREED] = this.get(reused, 0);
      this.clear(reused);
      return reused;
    }
    const row = own[NEXT] as number;
    if (row >>> BLOCK_SHIFT >= this.words.length) {
      this.regions.take(row >>> BLOCK_SHIFT);
      this.attach();
    }
    if (kept !== null) this.set(row, kept.word, kept.fresh);
    own[NEXT] = row + 1;
    return row;
  }

  private clear(row: number): void {
    const words = this.words[row >>> BLOCK_SHIFT] as Int32Array;
    const at = (row & BLOCK_MASK) * this.width;
    if (this.kept === null) {
      words.fill(0, at, at + this.width);
      return;
    }
    words.fill(0, at, at + this.kept.word);
    words.fill(0, at + this.kept.word + 1, at + this.width);
  }

  private attach(): void {
    for (const { memory, at } of this.regions.made(this.words.length)) {
      this.words.push(new Int32Array(memory, at, BLOCK_ROWS * this.width));
      this.doubles.push(new Float64Array(memory, at, (BLOCK_ROWS * this.width) / 2));
    }
  }

  give(row: number): void {
    const { own } = this;
    own[COUNT] = (own[COUNT] as number) - 1;
    this.set(row, 0, own[FREED] as number);
    own[FREED] = row;
  }

  giveAll(rows: Int32Array, count: number): void {
    const { own } = this;
    let freed = own[FREED] as number;
    for (let i = 0; i < count; i++) {
      const row = rows[i] as number;
      this.set(row, 0, freed);
      freed = row;
    }
    own[FREED] = freed;
    own[COUNT] = (own[COUNT] as number) - count;
  }

  /** Adds to a word in one step, whatever other threads do to it; returns what it was. */
  addTo(row: number, word: number, value: number): number {
    return Atomics.add(
      this.words[row >>> BLOCK_SHIFT] as Int32Array,
      (row & BLOCK_MASK) * this.width + word,
      value,
    );
  }

  /** Changes a word only if it is as expected; whether it was. */
  exchange(row: number, word: number, expected: number, value: number): boolean {
    const at = (row & BLOCK_MASK) * this.width + word;
    const words = this.words[row >>> BLOCK_SHIFT] as Int32Array;
    return Atomics.compareExchange(words, at, expected, value) === expected;
  }

  /** Writes a word behind all that was written before it. */
  publish(row: number, word: number, value: number): void {
    Atomics.store(
      this.words[row >>> BLOCK_SHIFT] as Int32Array,
      (row & BLOCK_MASK) * this.width + word,
      value,
    );
  }

  /** Reads a word of many rows, so that it is at hand when they are worked on: reads that do not depend on each other
   * wait for memory together. As little as possible stands between two of them, since a processor has only so much of
   * a program under way. Row 0 may be among them once there is any other. */
  touchAll(rows: Int32Array, count: number, word: number): void {
    const { words, width } = this;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i] as number;
      sum ^= (words[row >>> BLOCK_SHIFT] as Int32Array)[(row & BLOCK_MASK) * width + word] as number;
    }
    this.touched = sum;
  }

  /** Whether this thread can read a row; without the lock a number may be that of none. */
  knows(row: number): boolean {
    return row >>> BLOCK_SHIFT < this.words.length;
  }

  get(row: number, word: number): number {
    return (this.words[row >>> BLOCK_SHIFT] as Int32Array)[(row & BLOCK_MASK) * this.width + word] as number;
  }

  set(row: number, word: number, value: number): void {
    (this.words[row >>> BLOCK_SHIFT] as Int32Array)[(row & BLOCK_MASK) * this.width + word] = value;
  }

  /** Reads a word before all that is read after it. With one thread as get() does: V8 calls a function for an atomic read,
   * which was measured to cost 7 ns. */
  load(row: number, word: number): number {
    if (!this.isShared) return this.get(row, word);
    return Atomics.load(
      this.words[row >>> BLOCK_SHIFT] as Int32Array,
      (row & BLOCK_MASK) * this.width + word,
    );
  }

  /** Keeps all that is read and written before apart from all that comes after, as other threads see it. */
  fence(): void {
    // A processor may move what comes before one atomic step, and what comes after it, into the step, past each other;
    // two such steps are in order.
    Atomics.add(this.steps, 0, 1);
    Atomics.add(this.steps, 0, 1);
  }

  /** Writes a double behind all that was written before it, and before all that is read after it. */
  publishDouble(row: number, double: number, value: number): void {
    if (!this.isShared) {
      this.setDouble(row, double, value);
      return;
    }
    this.fence();
    this.setDouble(row, double, value);
    this.fence();
  }

  /** Doubles count in pairs of words: double 2 is words 4 and 5. */
  getDouble(row: number, double: number): number {
    const at = (row & BLOCK_MASK) * (this.width >>> 1) + double;
    return (this.doubles[row >>> BLOCK_SHIFT] as Float64Array)[at] as number;
  }

  setDouble(row: number, double: number, value: number): void {
    const at = (row & BLOCK_MASK) * (this.width >>> 1) + double;
    (this.doubles[row >>> BLOCK_SHIFT] as Float64Array)[at] = value;
  }
}
