// An object's hits, and its place in the LRU of its storage.
//
// Time here is sixteenths of a second since the cache's epoch, taken from the last touch, fetch or expiry step: the
// LRU needs no better clock. Never evicts.

import type { CacheState } from './cache-state.ts';
import { HITS, LRU_TIME, META, type Oc, OF_IN_LRU, storageIn, T_ORIGIN } from './objcore.ts';
import type { Hits } from './roles.ts';
import type { RowTable } from './row-table.ts';

const TICKS = 16;
/** The count stays there; threads may go beyond it by a hit each. */
const MOST_HITS = 0x7fff0000;

export class ObjectLru implements Hits {
  private readonly state: CacheState;
  private readonly objcores: RowTable;
  private ticks = TICKS;

  constructor(state: CacheState) {
    this.state = state;
    this.objcores = state.objcores;
  }

  /** Learns what time it is; it never goes back. */
  tick(now: number): void {
    this.ticks = Math.max(this.ticks, Math.floor((now - this.state.epoch) * TICKS));
  }

  count(oc: Oc): void {
    if (this.objcores.get(oc, HITS) < MOST_HITS) this.objcores.addTo(oc, HITS, 1);
  }

  touch(oc: Oc, now: number): void {
    if ((this.objcores.get(oc, META) & OF_IN_LRU) === 0) return;
    this.tick(now);
    if (this.ticks - this.objcores.get(oc, LRU_TIME) < this.state.limits.lruInterval * TICKS) return;
    const { lock, counters } = this.state;
    // While another thread works on the cache, its objects keep their places: a hit waits for nobody, and the object that
    // is used again is moved then.
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

  /** From this moment the object may be evicted. */
  enter(oc: Oc): void {
    this.tick(this.objcores.getDouble(oc, T_ORIGIN));
    this.state.stevedores.of(oc).lru.add(oc, this.ticks);
  }

  /** The same as leave() for many that are not to be used again. */
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
