// The log of purges by surrogate key, for fetches under way: such a fetch may bring what is older than a purge, and its keys
// are known only when its head arrives.
//
// Purges are numbered. A key has two slots in a table, by two hashes, and a purge writes its number to both: a key was purged
// since a fetch began if both slots have newer numbers. False positives are possible, with thousands of purges during one
// fetch once in hundreds of times, and after 2^31 purges: the object is then not kept.

import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';
import { isNewer, nextSerial } from '../serial.ts';

/** Slots per hash; a power of two. */
const SLOTS = 1 << 16;
const LAST = 0;

export class PurgeLog {
  private readonly memory: MemoryPart;
  private readonly own: Int32Array;
  private readonly first: Int32Array;
  private readonly second: Int32Array;

  constructor(memory: MemoryPart = ownMemory()) {
    this.memory = memory;
    this.own = memory.words(1);
    const slots = memory.piece('slots', SLOTS * 8);
    this.first = new Int32Array(slots, 0, SLOTS);
    this.second = new Int32Array(slots, SLOTS * 4, SLOTS);
  }

  /** Number of the newest purge; a fetch records it when it begins. */
  get newest(): number {
    return this.own[LAST] as number;
  }

  add(key: string): void {
    this.memory.assertHeld();
    const number = nextSerial(this.newest);
    this.own[LAST] = number;
    this.first[hash(key, FIRST_SEED)] = number;
    this.second[hash(key, SECOND_SEED)] = number;
  }

  /** Whether one of the keys was purged after the purge of this number, or may have been. */
  purgedSince(number: number, keys: readonly string[]): boolean {
    return isNewer(this.newest, number) && keys.some((key) => isNewer(this.lastOf(key), number));
  }

  private lastOf(key: string): number {
    const a = this.first[hash(key, FIRST_SEED)] as number;
    const b = this.second[hash(key, SECOND_SEED)] as number;
    return isNewer(a, b) ? b : a;
  }
}

const FIRST_SEED = 0x811c9dc5;
const SECOND_SEED = 0x2f0b4f3d;

/** FNV-1a, reduced to a slot. Keys come from origins and operators, not from clients: it needs no secret. */
function hash(key: string, seed: number): number {
  let h = seed;
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key.charCodeAt(i), 0x01000193);
  return ((h ^ (h >>> 15)) >>> 0) & (SLOTS - 1);
}
