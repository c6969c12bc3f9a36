// Which objects are used: their hit counts and their place in the LRU of their storage.
//
// Time here is sixteenths of a second since the cache's epoch, taken from the last touch, fetch or expiry step: the
// LRU needs no better clock. Never evicts.

import type { CacheLimits } from './cache-options.ts';
import type { CacheCounters } from './counters.ts';
import { HITS, LRU_TIME, META, type Oc, OF_IN_LRU, storageIn, T_ORIGIN } from './objcore.ts';
import type { ObjectStore } from './object-store.ts';
import type { Rows } from './rows.ts';

const MOST_HITS = 0x7fffffff;
const TICKS = 16;

export class Uses {
  private readonly rows: Rows;
  private readonly store: ObjectStore;
  private readonly counters: CacheCounters;
  private readonly limits: CacheLimits;
  private readonly epoch: number;
  private ticks = TICKS;

  constructor(o: {
    rows: Rows;
    store: ObjectStore;
    counters: CacheCounters;
    limits: CacheLimits;
    epoch: number;
  }) {
    this.rows = o.rows;
    this.store = o.store;
    this.counters = o.counters;
    this.limits = o.limits;
    this.epoch = o.epoch;
  }

  /** Learns what time it is; it never goes back. */
  tick(now: number): void {
    this.ticks = Math.max(this.ticks, Math.floor((now - this.epoch) * TICKS));
  }

  countHit(oc: Oc): void {
    const hits = this.rows.get(oc, HITS);
    if (hits < MOST_HITS) this.rows.set(oc, HITS, hits + 1);
  }

  /** Moves the object to the young end, at most once in lru_interval. */
  touch(oc: Oc, now: number): void {
    if ((this.rows.get(oc, META) & OF_IN_LRU) === 0) return;
    this.tick(now);
    if (this.ticks - this.rows.get(oc, LRU_TIME) < this.limits.lruInterval * TICKS) return;
    const { lru } = this.store.stevedoreOf(oc);
    lru.remove(oc);
    lru.add(oc, this.ticks);
    this.counters.n_lru_moved++;
  }

  /** From now on the object may be evicted. */
  enter(oc: Oc): void {
    this.tick(this.rows.getDouble(oc, T_ORIGIN));
    this.store.stevedoreOf(oc).lru.add(oc, this.ticks);
  }

  /** The same as leave() for many that are not to be used again. */
  leaveAll(ocs: Int32Array, count: number): void {
    if (count === 0) return;
    const { rows } = this;
    const kind = rows.get(ocs[0] as Oc, META);
    let same = (kind & OF_IN_LRU) !== 0;
    for (let i = 1; i < count; i++) {
      const meta = rows.get(ocs[i] as Oc, META);
      if ((meta & OF_IN_LRU) === 0 || storageIn(meta) !== storageIn(kind)) same = false;
    }
    if (same) this.store.stevedoreOf(ocs[0] as Oc).lru.removeAll(ocs, count);
    else for (let i = 0; i < count; i++) this.leave(ocs[i] as Oc);
  }

  leave(oc: Oc): void {
    if ((this.rows.get(oc, META) & OF_IN_LRU) !== 0) this.store.stevedoreOf(oc).lru.remove(oc);
  }
}
