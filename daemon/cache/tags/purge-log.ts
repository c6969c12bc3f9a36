// The log of purges by surrogate key, for fetches that were under way: such a fetch may bring what is older than a
// purge, and its keys are known only when its head comes.
//
// Purges are numbered. A key has two places in a table, by two hashes, and a purge leaves its number in both: a key was
// purged since a fetch began if both of its places have newer numbers. That may be said of a key that was not, among
// thousands of purges within one fetch one time in hundreds: what the fetch brought is then not kept.

import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';

/** Places of a hash; a power of two. */
const PLACES = 1 << 16;
const LAST = 0;

export class PurgeLog {
  /** The number of the newest purge. */
  private readonly own: Int32Array;
  private readonly first: Int32Array;
  private readonly second: Int32Array;

  constructor(memory: MemoryPart = ownMemory()) {
    this.own = memory.words(1);
    const places = memory.piece('places', PLACES * 8);
    this.first = new Int32Array(places, 0, PLACES);
    this.second = new Int32Array(places, PLACES * 4, PLACES);
  }

  /** Number of the newest purge: a fetch that begins notes it. */
  get newest(): number {
    return this.own[LAST] as number;
  }

  add(key: string): void {
    const number = this.newest + 1;
    this.own[LAST] = number;
    this.first[hash(key, FIRST_SEED)] = number;
    this.second[hash(key, SECOND_SEED)] = number;
  }

  /** Whether one of the keys was purged after the purge of this number, or may have been. */
  purgedSince(number: number, keys: readonly string[]): boolean {
    return number < this.newest && keys.some((key) => this.lastOf(key) > number);
  }

  private lastOf(key: string): number {
    const { first, second } = this;
    return Math.min(first[hash(key, FIRST_SEED)] as number, second[hash(key, SECOND_SEED)] as number);
  }
}

const FIRST_SEED = 0x811c9dc5;
const SECOND_SEED = 0x2f0b4f3d;

/** FNV-1a, folded into a place. */
function hash(key: string, seed: number): number {
  let h = seed;
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key.charCodeAt(i), 0x01000193);
  return ((h ^ (h >>> 15)) >>> 0) & (PLACES - 1);
}
