// A table of fixed-width rows in shared memory: for objects, and for links of objects to surrogate keys.
//
// Rows are numbered, 0 is none. The table grows by whole blocks, so that growing never copies or moves a row; freed rows are
// reused first. It does not know the meaning of the words.
//
// Doubles are read without the lock while another thread writes them. ECMAScript allows such reads to be torn; on 64-bit
// processors an aligned double is read and written whole. makeSlots() in daemon/threads/peers.ts requires such a processor, and
// Float64Array the alignment. Two doubles of a row are not read together: see decision 15.

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

/** A word that is kept while a row is free, and its value in a row that was never used. */
export interface KeptWord {
  readonly word: number;
  readonly fresh: number;
}

export class RowTable {
  /** 32-bit words per row; even, so that rows can hold doubles. */
  readonly width: number;
  private readonly words: Int32Array[] = [];
  private readonly doubles: Float64Array[] = [];
  private readonly regions: Regions;
  private readonly own: Int32Array;
  private readonly kept: KeptWord | null;
  private readonly isShared: boolean;
  private readonly memory: MemoryPart;
  /** Dummy target of fence(). */
  private readonly steps = new Int32Array(1);
  /** Result of the reads of touchAll(): unused reads would be optimised away. */
  touched = 0;

  constructor(width: number, memory: MemoryPart = ownMemory(), kept: KeptWord | null = null) {
    this.width = width;
    this.kept = kept;
    this.isShared = memory.isShared;
    this.memory = memory;
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

  /** A row with all words zero except the kept one. */
  take(): number {
    const { own, kept } = this;
    this.memory.assertHeld();
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
    this.memory.assertHeld();
    own[COUNT] = (own[COUNT] as number) - 1;
    this.set(row, 0, own[FREED] as number);
    own[FREED] = row;
  }

  giveAll(rows: Int32Array, count: number): void {
    const { own } = this;
    this.memory.assertHeld();
    let freed = own[FREED] as number;
    for (let i = 0; i < count; i++) {
      const row = rows[i] as number;
      this.set(row, 0, freed);
      freed = row;
    }
    own[FREED] = freed;
    own[COUNT] = (own[COUNT] as number) - count;
  }

  /** Adds to a word atomically; returns the previous value. */
  addTo(row: number, word: number, value: number): number {
    return Atomics.add(
      this.words[row >>> BLOCK_SHIFT] as Int32Array,
      (row & BLOCK_MASK) * this.width + word,
      value,
    );
  }

  /** Atomically changes a word that has the expected value; false otherwise. */
  exchange(row: number, word: number, expected: number, value: number): boolean {
    const at = (row & BLOCK_MASK) * this.width + word;
    const words = this.words[row >>> BLOCK_SHIFT] as Int32Array;
    return Atomics.compareExchange(words, at, expected, value) === expected;
  }

  /** Writes a word after all previous writes, as other threads see it. */
  publish(row: number, word: number, value: number): void {
    Atomics.store(
      this.words[row >>> BLOCK_SHIFT] as Int32Array,
      (row & BLOCK_MASK) * this.width + word,
      value,
    );
  }

  /** Prefetches a word of many rows: independent reads wait for memory together. The loop is minimal, since a processor has a
   * limited window of instructions. Row 0 is allowed once there is any other. */
  touchAll(rows: Int32Array, count: number, word: number): void {
    const { words, width } = this;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i] as number;
      sum ^= (words[row >>> BLOCK_SHIFT] as Int32Array)[(row & BLOCK_MASK) * width + word] as number;
    }
    this.touched = sum;
  }

  /** Whether this thread has mapped a row; a number read without the lock may be stale. */
  knows(row: number): boolean {
    return row >>> BLOCK_SHIFT < this.words.length;
  }

  get(row: number, word: number): number {
    return (this.words[row >>> BLOCK_SHIFT] as Int32Array)[(row & BLOCK_MASK) * this.width + word] as number;
  }

  set(row: number, word: number, value: number): void {
    (this.words[row >>> BLOCK_SHIFT] as Int32Array)[(row & BLOCK_MASK) * this.width + word] = value;
  }

  /** Reads a word before all following reads. With one thread the same as get(): V8 calls a function for an atomic read, which
   * was measured to cost 7 ns. */
  load(row: number, word: number): number {
    if (!this.isShared) return this.get(row, word);
    return Atomics.load(
      this.words[row >>> BLOCK_SHIFT] as Int32Array,
      (row & BLOCK_MASK) * this.width + word,
    );
  }

  /** A full memory barrier. */
  fence(): void {
    // A processor may move earlier and later accesses into one atomic operation, and so past each other; two operations are
    // in order.
    Atomics.add(this.steps, 0, 1);
    Atomics.add(this.steps, 0, 1);
  }

  /** Writes a double after all previous writes and before all following reads. */
  publishDouble(row: number, double: number, value: number): void {
    if (!this.isShared) {
      this.setDouble(row, double, value);
      return;
    }
    this.fence();
    this.setDouble(row, double, value);
    this.fence();
  }

  /** Doubles are counted in pairs of words: double 2 is words 4 and 5. */
  getDouble(row: number, double: number): number {
    const at = (row & BLOCK_MASK) * (this.width >>> 1) + double;
    return (this.doubles[row >>> BLOCK_SHIFT] as Float64Array)[at] as number;
  }

  setDouble(row: number, double: number, value: number): void {
    const at = (row & BLOCK_MASK) * (this.width >>> 1) + double;
    (this.doubles[row >>> BLOCK_SHIFT] as Float64Array)[at] = value;
  }
}
