// Objheads: a key with the chain of its objects, newest first, and the requests that wait for one of them.
//
// Links and unlinks, parks and wakes; never looks at what an object is and never frees one. A key is forgotten
// as soon as it has neither objects nor waiters: drop() is to be called after the last object was taken out.

import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import type { CacheCounters } from './cache-counters.ts';
import { KeyIndex, type Oh } from './key-index.ts';
import { BATCH, KEY_NEXT, KEY_PREV, OBJHEAD, type Oc } from './objcore.ts';
import type { RowTable } from './row-table.ts';
import { type Waiter, WaitingList } from './waiting-list.ts';

export class Objheads {
  private readonly objcores: RowTable;
  private readonly counters: CacheCounters;
  private readonly index: KeyIndex;
  private readonly waiting: WaitingList;
  private readonly defer: (run: () => void) => void;
  /** Scratch of dropAll(). */
  private readonly empty = new Uint32Array(BATCH);

  constructor(
    objcores: RowTable,
    counters: CacheCounters,
    limits: { rushExponent: number },
    seed: readonly [number, number],
    defer: (run: () => void) => void,
    memory: MemoryPart = ownMemory(),
  ) {
    this.objcores = objcores;
    this.counters = counters;
    this.index = new KeyIndex(seed[0], seed[1], 0, memory);
    this.defer = defer;
    this.waiting = new WaitingList({
      defer,
      exponent: () => limits.rushExponent,
      onEmpty: (oh) => this.drop(oh),
    });
  }

  /** The objhead of `key`, or 0. */
  find(key: string): Oh {
    return this.index.find(key);
  }

  /** The objhead of `key`, made when there is none; it is to be given an object at once. */
  findOrAdd(key: string): Oh {
    const before = this.index.count;
    const oh = this.index.findOrAdd(key);
    this.counters.n_objecthead += this.index.count - before;
    return oh;
  }

  /** The key of an objhead, or the digest that stands for it. */
  keyOf(oh: Oh): string {
    return this.index.keyOf(oh);
  }

  /** First object of the chain; the next ones are in KEY_NEXT. */
  first(oh: Oh): Oc {
    return this.index.first(oh);
  }

  linkFirst(oh: Oh, oc: Oc): void {
    const first = this.index.first(oh);
    this.objcores.set(oc, KEY_PREV, 0);
    this.objcores.set(oc, KEY_NEXT, first);
    if (first !== 0) this.objcores.set(first, KEY_PREV, oc);
    this.index.setFirst(oh, oc);
  }

  /** Takes an object out of the chain; the key stays until drop(). */
  unlink(oh: Oh, oc: Oc): void {
    const prev = this.objcores.get(oc, KEY_PREV);
    const next = this.objcores.get(oc, KEY_NEXT);
    if (prev === 0) this.index.setFirst(oh, next);
    else this.objcores.set(prev, KEY_NEXT, next);
    if (next !== 0) this.objcores.set(next, KEY_PREV, prev);
  }

  /** Takes many objects out of their chains, and forgets the keys that have no others and no waiters. */
  dropAll(ocs: Int32Array, count: number): void {
    const { objcores, index, waiting, empty } = this;
    for (let i = 0; i < count; i++) empty[i] = objcores.get(ocs[i] as Oc, OBJHEAD);
    index.touchAll(empty, count);
    let gone = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      const oh = empty[i] as Oh;
      objcores.set(oc, OBJHEAD, 0);
      this.unlink(oh, oc);
      if (index.first(oh) === 0 && (waiting.size === 0 || !waiting.has(oh))) empty[gone++] = oh;
    }
    index.removeAll(empty, gone);
    this.counters.n_objecthead -= gone;
  }

  /** Forgets a key without objects and waiters. */
  drop(oh: Oh): void {
    if (this.index.first(oh) !== 0 || this.waiting.has(oh)) return;
    this.index.remove(oh);
    this.counters.n_objecthead--;
  }

  /** Whether anybody waits for an object of this key. */
  hasWaiters(oh: Oh): boolean {
    return this.waiting.has(oh);
  }

  /** Parks a waiter; one whose key is gone by now is woken soon. Returns how to leave. */
  wait(key: string, waiter: Waiter): () => void {
    const oh = this.index.find(key);
    if (oh !== 0) return this.waiting.park(oh, waiter);
    let gone = false;
    this.defer(() => {
      if (!gone) waiter.wake(false);
    });
    return () => {
      gone = true;
    };
  }

  /** Wakes those who wait: in waves, or all at once when they cannot share what there is (`alone`). */
  rush(oh: Oh, alone: boolean): void {
    this.waiting.rush(oh, alone);
  }
}
