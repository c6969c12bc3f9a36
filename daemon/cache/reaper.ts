// Takes many objects out of the cache together: purged by key, or at their end.
//
// Each object has its place in a dozen structures, and among a million objects all of them lie anywhere in memory:
// one object after the other waits for memory a dozen times. Here each structure lets go of all objects of a batch,
// and reads ahead what it needs for them. It decides nothing about objects, and never works on more than a batch: the
// caller looks at the clock in between. Caution: objects in use go one by one, after the others, since their readers
// are called and may do anything.

import type { CacheState } from './cache-state.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectLru } from './object-lru.ts';
import type { ObjectStore } from './object-store.ts';

export class Reaper {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly lru: ObjectLru;
  private readonly lifetimes: Lifetimes;
  private readonly life: ObjectLife;
  private readonly inUse = new Int32Array(row.BATCH);

  constructor(state: CacheState, store: ObjectStore, lru: ObjectLru, lifetimes: Lifetimes, life: ObjectLife) {
    this.state = state;
    this.store = store;
    this.lru = lru;
    this.lifetimes = lifetimes;
    this.life = life;
  }

  /** Purges the first `count` objects of a list, at most a batch of them; all are indexed. Uses the list up. */
  purge(ocs: Int32Array, count: number, now: number): void {
    const { lifetimes } = this;
    const { counters, events } = this.state;
    if (events.wanted()) {
      for (let i = 0; i < count; i++) {
        const oc = ocs[i] as Oc;
        events.rearmed(oc, lifetimes.endOf(oc), now);
        events.expired(oc, 0);
      }
    }
    counters.exp_mailed += count;
    counters.exp_received += count;
    // As in Varnish: a purge ends an object's time.
    counters.n_expired += count;
    this.takeOut(ocs, count);
  }

  /** The same for objects that are at their end. */
  expire(ocs: Int32Array, count: number, now: number): void {
    const { lifetimes } = this;
    const { counters, events } = this.state;
    if (events.wanted()) {
      for (let i = 0; i < count; i++) {
        const oc = ocs[i] as Oc;
        events.expired(oc, Math.max(0, now - lifetimes.endOf(oc)));
      }
    }
    counters.n_expired += count;
    this.takeOut(ocs, count);
  }

  private takeOut(ocs: Int32Array, count: number): void {
    const { inUse } = this;
    const { objcores, tags, expiryHeap, objheads, counters } = this.state;
    // The words of a row that this needs lie in its second half, in one or two lines of memory.
    objcores.touchAll(ocs, count, row.OBJHEAD);
    objcores.touchAll(ocs, count, row.SURROGATE);
    let alone = 0;
    let used = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      // The index alone: nobody will notice.
      if (objcores.exchange(oc, row.REFS, 1, row.CLOSED)) {
        ocs[alone++] = oc;
      } else {
        inUse[used++] = oc;
      }
    }
    tags.forgetAll(ocs, alone);
    expiryHeap.removeAll(ocs, alone);
    this.lru.leaveAll(ocs, alone);
    objheads.dropAll(ocs, alone);
    this.unrefBans(ocs, alone);
    this.store.discardAll(ocs, alone);
    counters.n_objectcore -= alone;
    this.killUsed(used);
  }

  private unrefBans(ocs: Int32Array, count: number): void {
    const { objcores, bans } = this.state;
    let last = 0;
    let same = 0;
    for (let i = 0; i < count; i++) {
      const ban = objcores.get(ocs[i] as Oc, row.BAN);
      if (ban !== last) {
        bans.unrefAll(last, same);
        last = ban;
        same = 0;
      }
      same++;
    }
    bans.unrefAll(last, same);
  }

  /** A reference keeps each row what it is, whatever the readers of the others do. */
  private killUsed(count: number): void {
    const { inUse, life } = this;
    for (let i = 0; i < count; i++) life.ref(inUse[i] as Oc);
    for (let i = 0; i < count; i++) life.kill(inUse[i] as Oc, false);
    for (let i = 0; i < count; i++) life.deref(inUse[i] as Oc);
  }
}
