// Hit counts, and the position of objects in the LRU of their storage.
//
// Time is sixteenths of a second since the cache's epoch, as of the last touch, fetch or expiry step: precise enough for
// the LRU. Never evicts.

import type { CacheState } from './cache-state.ts';
import { HITS, LRU_TICKS, LRU_TIME, META, type Oc, OF_IN_LRU, storageIn, T_ORIGIN } from './objcore.ts';
import type { RowTable } from './row-table.ts';

/** The count saturates here; threads may exceed it by a hit each. */
const MOST_HITS = 0x7fff0000;

export class ObjectLru {
  private readonly state: CacheState;
  private readonly objcores: RowTable;
  private ticks = LRU_TICKS;

  constructor(state: CacheState) {
    this.state = state;
    this.objcores = state.objcores;
  }

  /** Moves the LRU's clock forward; never back. */
  tick(now: number): void {
    this.ticks = Math.max(this.ticks, Math.floor((now - this.state.epoch) * LRU_TICKS));
  }

  /** Counts a hit on an object. */
  count(oc: Oc): void {
    if (this.objcores.get(oc, HITS) < MOST_HITS) this.objcores.addTo(oc, HITS, 1);
  }

  /** Moves the object to the young end of its storage's LRU, at most once in lru_interval. */
  touch(oc: Oc, now: number): void {
    if ((this.objcores.get(oc, META) & OF_IN_LRU) === 0) return;
    this.tick(now);
    if (this.ticks - this.objcores.get(oc, LRU_TIME) < this.state.limits.lruInterval * LRU_TICKS) return;
    const { lock, counters } = this.state;
    // A hit does not wait for the lock: while another thread holds it, the object stays where it is until its next hit.
    if (!lock.tryEnter()) return;
    try {
      if ((this.objcores.get(oc, META) & OF_IN_LRU) === 0) return;
      const { lru } = this.state.stevedores.of(oc);
      lru.remove(oc);
      lru.add(oc, this.ticks);
      counters.n_lru_moved++;
    } finally {
      lock.leave();
    }
  }

  /** Adds an object, which may be evicted from now on. */
  enter(oc: Oc): void {
    this.tick(this.objcores.getDouble(oc, T_ORIGIN));
    this.state.stevedores.of(oc).lru.add(oc, this.ticks);
  }

  /** leave() for many objects that will not be used again. */
  leaveAll(ocs: Int32Array, count: number): void {
    if (count === 0) return;
    const { objcores } = this;
    const kind = objcores.get(ocs[0] as Oc, META);
    let same = (kind & OF_IN_LRU) !== 0;
    for (let i = 1; i < count; i++) {
      const meta = objcores.get(ocs[i] as Oc, META);
      if ((meta & OF_IN_LRU) === 0 || storageIn(meta) !== storageIn(kind)) same = false;
    }
    if (same) this.state.stevedores.of(ocs[0] as Oc).lru.removeAll(ocs, count);
    else for (let i = 0; i < count; i++) this.leave(ocs[i] as Oc);
  }

  leave(oc: Oc): void {
    if ((this.objcores.get(oc, META) & OF_IN_LRU) !== 0) this.state.stevedores.of(oc).lru.remove(oc);
  }
}
