// Objheads: a key with the chain of its objects, newest first, and its waiting requests.
//
// Links and unlinks, parks and wakes; never frees an object. A key is removed as soon as it has neither objects nor waiters:
// call drop() after unlinking the last object.

import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import type { Turns } from '../turns/turns.ts';
import type { CacheCounters } from './cache-counters.ts';
import type { Crowd, Crowds } from './crowds.ts';
import { KeyIndex, type Oh } from './key-index.ts';
import { BATCH, KEY_NEXT, KEY_PREV, META, OBJHEAD, type Oc, STATE_BUSY, stateIn } from './objcore.ts';
import type { RowTable } from './row-table.ts';
import { type CacheSignals, NO_SIGNALS } from './signals.ts';
import { type Waiter, WaitingList } from './waiting-list.ts';

/** Change counters, each shared by many keys; a power of two. */
const CHANGE_WORDS = 1 << 16;
/** Extra word of a key: its crowd, or 0. */
const CROWD = 0;

export class Objheads {
  private readonly objcores: RowTable;
  private readonly crowds: Crowds;
  private readonly counters: CacheCounters;
  private readonly index: KeyIndex;
  private readonly waiting: WaitingList;
  private readonly turns: Turns;
  private readonly signals: CacheSignals;
  /** By a key's place: how often an object was unlinked there, for lookups without the lock. A lookup would have to last for 2^32
   * of them to miss one. */
  private readonly changes: Int32Array;
  private readonly memory: MemoryPart;
  private readonly isShared: boolean;
  private seen = 0;
  private place = 0;
  /** Scratch of dropAll(). */
  private readonly empty = new Uint32Array(BATCH);
  private readonly places = new Uint32Array(BATCH);

  constructor(
    objcores: RowTable,
    crowds: Crowds,
    counters: CacheCounters,
    limits: { rushExponent: number },
    seed: readonly [number, number],
    turns: Turns,
    memory: MemoryPart = ownMemory(),
    signals: CacheSignals = NO_SIGNALS,
  ) {
    this.signals = signals;
    this.memory = memory;
    this.isShared = memory.isShared;
    this.changes = new Int32Array(memory.piece('changes', CHANGE_WORDS * 4));
    this.objcores = objcores;
    this.crowds = crowds;
    this.counters = counters;
    this.index = new KeyIndex(seed[0], seed[1], 1, memory);
    this.turns = turns;
    this.waiting = new WaitingList({
      turns,
      exponent: () => limits.rushExponent,
      onEmpty: (oh) => {
        signals.removeWaiter(oh);
        // With several threads, a key with waiters has a busy object.
        if (!memory.isShared) this.drop(oh);
      },
    });
  }

  /** The objhead of `key`, or 0. */
  find(key: string): Oh {
    return this.index.find(key);
  }

  /** The objhead of `key`, made when there is none; the caller links an object at once. */
  findOrAdd(key: string): Oh {
    const before = this.index.count;
    const oh = this.index.findOrAdd(key);
    if (this.index.count !== before) {
      this.counters.n_objecthead++;
      this.counters.hcb_lock++;
      this.counters.hcb_insert++;
    }
    return oh;
  }

  /** The key of an objhead, or its digest. */
  keyOf(oh: Oh): string {
    return this.index.keyOf(oh);
  }

  /** The first object of a key without the lock: 0 when there is none, and sometimes when there is. What is read from it on is
   * valid if isUnchanged() afterwards. */
  firstUnlocked(key: string): Oc {
    this.place = this.index.prepare(key) & (CHANGE_WORDS - 1);
    this.seen = Atomics.load(this.changes, this.place);
    const oh = this.index.findPrepared();
    this.memory.point();
    return oh === 0 ? 0 : this.index.first(oh);
  }

  /** Whether no object was unlinked since firstUnlocked(), and no key removed, among the keys with the same counter. */
  isUnchanged(): boolean {
    return Atomics.load(this.changes, this.place) === this.seen;
  }

  /** First object of the chain; the next ones are in KEY_NEXT. */
  first(oh: Oh): Oc {
    return this.index.first(oh);
  }

  linkFirst(oh: Oh, oc: Oc): void {
    this.memory.assertHeld();
    const first = this.index.first(oh);
    this.objcores.set(oc, KEY_PREV, 0);
    this.objcores.set(oc, KEY_NEXT, first);
    if (first !== 0) this.objcores.set(first, KEY_PREV, oc);
    this.index.setFirst(oh, oc);
    const crowd = this.index.extra(oh, CROWD);
    if (crowd !== 0) this.crowds.enter(crowd, oc);
  }

  /** Unlinks an object from the chain; the key stays until drop(). */
  unlink(oh: Oh, oc: Oc): void {
    this.memory.assertHeld();
    const prev = this.objcores.get(oc, KEY_PREV);
    const next = this.objcores.get(oc, KEY_NEXT);
    if (prev === 0) this.index.setFirst(oh, next);
    else this.objcores.set(prev, KEY_NEXT, next);
    if (next !== 0) this.objcores.set(next, KEY_PREV, prev);
    if (this.index.extra(oh, CROWD) !== 0) this.leaveCrowd(oh, oc);
    if (this.isShared) this.changed(this.index.placeOf(oh));
  }

  private leaveCrowd(oh: Oh, oc: Oc): void {
    const { crowds, index } = this;
    const crowd = index.extra(oh, CROWD);
    if (crowds.leave(crowd, oc)) return;
    crowds.dissolve(crowd, index.first(oh));
    index.setExtra(oh, CROWD, 0);
  }

  /** The crowd of a key with very many objects, or 0. */
  crowdOf(oh: Oh): Crowd {
    return this.index.extra(oh, CROWD);
  }

  /** Makes a crowd of a key's objects, unless there is one. */
  makeCrowd(oh: Oh): void {
    const { index } = this;
    if (index.extra(oh, CROWD) === 0) index.setExtra(oh, CROWD, this.crowds.make(index.first(oh)));
  }

  private changed(place: number): void {
    this.memory.point();
    Atomics.add(this.changes, place & (CHANGE_WORDS - 1), 1);
  }

  /** Unlinks many objects, and removes the keys that are left without objects and waiters. */
  dropAll(ocs: Int32Array, count: number): void {
    const { objcores, index, empty, places } = this;
    for (let i = 0; i < count; i++) empty[i] = objcores.get(ocs[i] as Oc, OBJHEAD);
    index.touchAll(empty, count);
    let gone = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      const oh = empty[i] as Oh;
      objcores.set(oc, OBJHEAD, 0);
      this.unlink(oh, oc);
      if (!this.isUnused(oh)) continue;
      places[gone] = index.placeOf(oh);
      empty[gone++] = oh;
    }
    index.removeAll(empty, gone);
    if (this.isShared) for (let i = 0; i < gone; i++) this.changed(places[i] as number);
    this.counters.n_objecthead -= gone;
  }

  /** Removes a key without objects and waiters. */
  drop(oh: Oh): void {
    if (!this.isUnused(oh)) return;
    const place = this.index.placeOf(oh);
    this.index.remove(oh);
    if (this.isShared) this.changed(place);
    this.counters.n_objecthead--;
  }

  /** With several threads a key may have waiters: remaining ones wait for a busy object that was just removed, and will be woken,
   * by the rush on this thread or by a signal. The objhead may serve another key by then, and they look up again in vain. */
  private isUnused(oh: Oh): boolean {
    if (this.index.first(oh) !== 0) return false;
    return this.isShared || this.waiting.size === 0 || !this.waiting.has(oh);
  }

  /** Whether requests of any thread wait for an object of this key. */
  hasWaiters(oh: Oh): boolean {
    return this.waiting.has(oh) || this.signals.hasRemoteWaiters(oh);
  }

  /** Parks a waiter; when the key is gone or settled, it is woken soon. Returns how to cancel. */
  wait(key: string, waiter: Waiter): () => void {
    const oh = this.index.find(key);
    // Otherwise another thread has settled them, and has already woken their waiters.
    if (oh !== 0 && this.hasBusy(oh)) {
      if (!this.waiting.has(oh)) this.signals.addWaiter(oh);
      return this.waiting.park(oh, waiter);
    }
    let gone = false;
    this.turns.later(() => {
      if (!gone) waiter.wake(false);
    });
    return () => {
      gone = true;
    };
  }

  /** Wakes the waiters of all threads: in waves, or all at once when they cannot share the object (`alone`). */
  rush(oh: Oh, alone: boolean): void {
    this.signals.rush(oh, alone);
    this.rushOwn(oh, alone);
  }

  /** Wakes the waiters of this thread. */
  rushOwn(oh: Oh, alone: boolean): void {
    if (!this.waiting.has(oh)) return;
    this.signals.removeWaiter(oh);
    this.waiting.rush(oh, alone);
  }

  private hasBusy(oh: Oh): boolean {
    const crowd = this.index.extra(oh, CROWD);
    if (this.crowds.isIndexed(crowd)) return this.crowds.hasBusy(crowd);
    for (let oc = this.index.first(oh); oc !== 0; oc = this.objcores.get(oc, KEY_NEXT)) {
      if (stateIn(this.objcores.get(oc, META)) === STATE_BUSY) return true;
    }
    return false;
  }
}
