// What one of several threads has logged and nobody has written yet: its staging buffer in shared memory, and where the
// pieces of it end that may be written, each with a number by which the pieces of all threads are in order
// (thread-logs.ts). Its thread adds pieces at any time; whichever has the ring's lock takes them, and its thread starts
// again at the beginning once all are taken.

import type { MemoryPart } from '../threads/shared-memory.ts';
import { BLOCK_HEAD } from './ring-format.ts';

/** Pieces between two starts (chosen: a turn seldom has a hundredth). */
const MOST = 4096;

/** Words of its state: the number of a write to a client whose transaction has not ended, 0 for none; and the pieces that
 * there are. */
const PENDING = 0;
const ADDED = 1;
/** Under the lock: pieces taken, the end of the last one, and its records. */
const TAKEN = 2;
const TAKEN_TO = 3;
const TAKEN_RECORDS = 4;
/** After a cache line, of each piece: its number, the last number when its transaction began, its end, the records up to it. */
const FIRST = 16;
const PIECE = 4;
const BEGAN = 1;
const END = 2;
const RECORDS = 3;

export class Outbox {
  readonly memory: SharedArrayBuffer;
  readonly bytes: Uint8Array;
  private readonly words: Int32Array;

  constructor(memory: MemoryPart, size: number) {
    this.memory = memory.piece('bytes', size);
    this.bytes = new Uint8Array(this.memory);
    this.words = memory.words(FIRST + PIECE * MOST);
    if (this.takenTo === 0) this.words[TAKEN_TO] = BLOCK_HEAD;
  }

  get pending(): number {
    return Atomics.load(this.words, PENDING);
  }

  set pending(number: number) {
    Atomics.store(this.words, PENDING, number);
  }

  /** Pieces so far. */
  get added(): number {
    return Atomics.load(this.words, ADDED);
  }

  get isFull(): boolean {
    return this.words[ADDED] === MOST;
  }

  /** The end of the last piece; the records up to it. */
  get addedTo(): number {
    const { words } = this;
    const added = words[ADDED] as number;
    return added === 0 ? BLOCK_HEAD : (words[FIRST + (added - 1) * PIECE + END] as number);
  }

  /** Adds a piece that ends at `end`, with `records` of the buffer up to there. */
  add(number: number, began: number, end: number, records: number): void {
    const { words } = this;
    const added = words[ADDED] as number;
    const at = FIRST + added * PIECE;
    words[at] = number;
    words[at + BEGAN] = began;
    words[at + END] = end;
    words[at + RECORDS] = records;
    Atomics.store(words, ADDED, added + 1);
  }

  get taken(): number {
    return this.words[TAKEN] as number;
  }

  get takenTo(): number {
    return this.words[TAKEN_TO] as number;
  }

  numberOf(piece: number): number {
    return this.words[FIRST + piece * PIECE] as number;
  }

  endOf(piece: number): number {
    return this.words[FIRST + piece * PIECE + END] as number;
  }

  beganOf(piece: number): number {
    return this.words[FIRST + piece * PIECE + BEGAN] as number;
  }

  /** Takes all pieces before this one; returns how many records they have. */
  takeUpTo(piece: number): number {
    const { words } = this;
    const last = FIRST + (piece - 1) * PIECE;
    const records = (words[last + RECORDS] as number) - (words[TAKEN_RECORDS] as number);
    words[TAKEN] = piece;
    words[TAKEN_TO] = words[last + END] as number;
    words[TAKEN_RECORDS] = words[last + RECORDS] as number;
    return records;
  }

  /** All that was in it is taken: it starts again. */
  startAgain(): void {
    const { words } = this;
    words[TAKEN] = 0;
    words[TAKEN_TO] = BLOCK_HEAD;
    words[TAKEN_RECORDS] = 0;
    Atomics.store(words, ADDED, 0);
  }
}
