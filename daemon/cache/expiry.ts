// Expiry in bounded steps: removes objects that are past ttl + grace + keep, and frees large bodies piece by piece.
//
// The clock is read after every batch. Lookups check freshness themselves, so an object may be removed late.

import type { CacheState } from './cache-state.ts';
import type { Lifetimes } from './lifetimes.ts';
import { BATCH } from './objcore.ts';
import type { ObjectLru } from './object-lru.ts';
import type { ObjectStore } from './object-store.ts';
import { Pace, type Reaper } from './reaper.ts';

export class Expiry {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly lru: ObjectLru;
  private readonly lifetimes: Lifetimes;
  private readonly reaper: Reaper;
  private readonly batch = new Int32Array(BATCH);
  private readonly pace = new Pace(BATCH);

  constructor(state: CacheState, store: ObjectStore, lru: ObjectLru, lifetimes: Lifetimes, reaper: Reaper) {
    this.state = state;
    this.store = store;
    this.lru = lru;
    this.lifetimes = lifetimes;
    this.reaper = reaper;
  }

  /** Works for about `budgetMs`; returns how many objects it removed. */
  step(now: number, budgetMs: number): number {
    const { store, batch, pace } = this;
    const { expiryHeap, millis } = this.state;
    let at = millis();
    const end = at + budgetMs;
    this.lru.tick(now);
    let removed = 0;
    while (at < end && (expiryHeap.firstEnd() <= now || store.hasDiscarded || expiryHeap.untidy)) {
      let count = 0;
      // Memory first: otherwise the next object that needs room would have to reclaim it.
      if (store.hasDiscarded) {
        store.reclaim();
      } else if (expiryHeap.firstEnd() > now) {
        expiryHeap.tidy(BATCH);
      } else if (expiryHeap.firstIsFar) {
        this.reschedule(now);
      } else {
        count = expiryHeap.takeEnded(now, batch, pace.count);
        this.reaper.expire(batch, count, now);
      }
      removed += count;
      const begun = at;
      at = millis();
      if (count > 0) pace.took(count, at - begun);
    }
    return removed;
  }

  /** Whether a step has left memory to reclaim or gaps in the heap. */
  get hasBacklog(): boolean {
    return this.store.hasDiscarded || this.state.expiryHeap.untidy;
  }

  /** When the next object expires, in epoch seconds; infinity when there is none. */
  nextEnd(): number {
    return this.state.expiryHeap.firstEnd();
  }

  /** The first object's end was beyond the heap's range when it was added. */
  private reschedule(now: number): void {
    const { batch } = this;
    const { expiryHeap } = this.state;
    const oc = expiryHeap.first();
    if (oc === 0) {
      expiryHeap.dropFirst();
      return;
    }
    const end = this.lifetimes.endOf(oc);
    if (end > now) {
      expiryHeap.set(oc, end);
      return;
    }
    batch[0] = oc;
    this.reaper.expire(batch, 1, now);
  }
}
