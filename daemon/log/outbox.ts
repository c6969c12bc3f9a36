// The records that one of several threads has logged and that are not in the ring yet: its staging buffer in shared
// memory, and the ends of the pieces in it that may be written, each with a number that orders the pieces of all
// threads (thread-logs.ts). The owner adds pieces at any time; the holder of the ring's lock takes them; the owner
// rewinds the buffer once all are taken.

import type { MemoryPart } from '../threads/shared-memory.ts';
import { BLOCK_HEAD } from './ring-format.ts';

/** Pieces between two rewinds (chosen: a turn seldom has a hundredth of them). */
const MOST = 4096;

/** Words of the state: the number of a write to a client whose transaction has not ended, 0 for none; and the number of
 * pieces added. */
const PENDING = 0;
const ADDED = 1;
/** Written under the lock: pieces taken, the end of the last one, and the records up to there. */
const TAKEN = 2;
const TAKEN_TO = 3;
const TAKEN_RECORDS = 4;
/** Words per piece, after a cache line: number, last number given out when its transaction began, end, records up to
 * it. */
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

  /** Number of pieces added. */
  get added(): number {
    return Atomics.load(this.words, ADDED);
  }

  get isFull(): boolean {
    return this.words[ADDED] === MOST;
  }

  /** End of the last piece added. */
  get addedTo(): number {
    const { words } = this;
    const added = words[ADDED] as number;
    return added === 0 ? BLOCK_HEAD : (words[FIRST + (added - 1) * PIECE + END] as number);
  }

  /** Adds a piece that ends at `end`, with `records` records in the buffer up to there. */
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

  /** Takes all pieces before this one; returns their number of records. */
  takeUpTo(piece: number): number {
    const { words } = this;
    const last = FIRST + (piece - 1) * PIECE;
    const records = (words[last + RECORDS] as number) - (words[TAKEN_RECORDS] as number);
    words[TAKEN] = piece;
    words[TAKEN_TO] = words[last + END] as number;
    words[TAKEN_RECORDS] = words[last + RECORDS] as number;
    return records;
  }

  /** Rewinds the buffer; only when all pieces are taken. */
  startAgain(): void {
    const { words } = this;
    words[TAKEN] = 0;
    words[TAKEN_TO] = BLOCK_HEAD;
    words[TAKEN_RECORDS] = 0;
    Atomics.store(words, ADDED, 0);
  }
}
