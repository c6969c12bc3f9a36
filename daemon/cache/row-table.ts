// A table of fixed-width rows in shared memory: for each object, and for each link of an object to a surrogate key.
//
// A row is named by its number, 0 is none. The table grows by whole blocks, so that growing never copies and
// never moves a row; freed rows are reused first. It knows nothing of what the words mean.

import { Regions } from './storage/regions.ts';

const BLOCK_SHIFT = 13;
const BLOCK_ROWS = 1 << BLOCK_SHIFT;
const BLOCK_MASK = BLOCK_ROWS - 1;

export class RowTable {
  /** 32-bit words a row; even, so that a row can hold doubles. */
  readonly width: number;
  private readonly words: Int32Array[] = [];
  private readonly doubles: Float64Array[] = [];
  private readonly regions: Regions;
  private freed = 0;
  private next = 1;
  /** Rows in use. */
  count = 0;
  /** The words that touchAll() read, folded: without a use of them the compiler would leave the reads out. */
  touched = 0;

  constructor(width: number) {
    this.width = width;
    this.regions = new Regions(BLOCK_ROWS * width * 4);
  }

  /** Rows ever used: a scan goes from 1 to below this. */
  get end(): number {
    return this.next;
  }

  /** A row with all words zero. */
  take(): number {
    this.count++;
    const reused = this.freed;
    if (reused !== 0) {
      this.freed = this.get(reused, 0);
      const at = (reused & BLOCK_MASK) * this.width;
      (this.words[reused >>> BLOCK_SHIFT] as Int32Array).fill(0, at, at + this.width);
      return reused;
    }
    const row = this.next++;
    if (row >>> BLOCK_SHIFT >= this.words.length) {
      const { memory, at } = this.regions.take();
      this.words.push(new Int32Array(memory, at, BLOCK_ROWS * this.width));
      this.doubles.push(new Float64Array(memory, at, (BLOCK_ROWS * this.width) / 2));
    }
    return row;
  }

  give(row: number): void {
    this.count--;
    this.set(row, 0, this.freed);
    this.freed = row;
  }

  giveAll(rows: Int32Array, count: number): void {
    let { freed } = this;
    for (let i = 0; i < count; i++) {
      const row = rows[i] as number;
      this.set(row, 0, freed);
      freed = row;
    }
    this.freed = freed;
    this.count -= count;
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

  get(row: number, word: number): number {
    return (this.words[row >>> BLOCK_SHIFT] as Int32Array)[(row & BLOCK_MASK) * this.width + word] as number;
  }

  set(row: number, word: number, value: number): void {
    (this.words[row >>> BLOCK_SHIFT] as Int32Array)[(row & BLOCK_MASK) * this.width + word] = value;
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
