// Removes objects from the cache in batches: purged by key, or expired.
//
// Each object is in a dozen structures, spread over all of memory when there are a million of them, so that removing one
// after the other waits for memory a dozen times each. Here each structure removes all objects of a batch, and prefetches
// what it needs. Never works on more than a batch: the caller reads the clock in between. Caution: objects in use are
// removed one by one, after the others, since their readers are called and may do anything.

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

  /** Purges the first `count` objects of a list, at most a batch; all are indexed. Overwrites the list. */
  purge(ocs: Int32Array, count: number, now: number): void {
    const { lifetimes } = this;
    const { counters, events } = this.state;
    if (events.wanted()) {
      for (let i = 0; i < count; i++) {
        const oc = ocs[i] as Oc;
        events.purged(oc, lifetimes.endOf(oc), now);
      }
    }
    counters.exp_mailed += count;
    counters.exp_received += count;
    // As in Varnish: a purge ends an object's time.
    counters.n_expired += count;
    this.removeAll(ocs, count, row.INVALIDATED);
  }

  /** The same for expired objects. */
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
    this.removeAll(ocs, count, 0);
  }

  private removeAll(ocs: Int32Array, count: number, why: number): void {
    const { inUse } = this;
    const { objcores, tags, expiryHeap, objheads, counters } = this.state;
    // The words needed are in the second half of a row, in one or two cache lines.
    objcores.touchAll(ocs, count, row.OBJHEAD);
    objcores.touchAll(ocs, count, row.SURROGATE);
    let unused = 0;
    let used = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      // Only the index holds a reference.
      if (objcores.exchange(oc, row.REFS, 1, row.CLOSED)) {
        ocs[unused++] = oc;
        this.life.dropSlices(oc);
      } else {
        inUse[used++] = oc;
      }
    }
    tags.forgetAll(ocs, unused);
    expiryHeap.removeAll(ocs, unused);
    this.lru.leaveAll(ocs, unused);
    objheads.dropAll(ocs, unused);
    this.unrefBans(ocs, unused);
    this.store.discardAll(ocs, unused);
    counters.n_objectcore -= unused;
    this.killUsed(used, why);
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

  /** References keep the rows from being reused while readers of others are called. */
  private killUsed(count: number, why: number): void {
    const { inUse, life } = this;
    for (let i = 0; i < count; i++) life.ref(inUse[i] as Oc);
    for (let i = 0; i < count; i++) {
      if (why === row.INVALIDATED) life.invalidate(inUse[i] as Oc, false);
      else life.kill(inUse[i] as Oc, false);
    }
    for (let i = 0; i < count; i++) life.deref(inUse[i] as Oc);
  }
}

/** Target in milliseconds: more than twice this is too long, less is too short. */
const PART = 0.2;
const FIRST = 32;

/** The number of objects to process between two reads of the clock. Some objects take a hundred times as long as others, and
 * the first ones do until the code is compiled. */
export class Pace {
  private readonly most: number;
  private size: number;

  constructor(most: number) {
    this.most = most;
    this.size = Math.min(FIRST, most);
  }

  /** Objects to process next. */
  get count(): number {
    return this.size;
  }

  /** Reports how long `count` objects took. */
  took(count: number, millis: number): void {
    if (millis > 2 * PART) this.size = Math.max(1, this.size >>> 1);
    else if (millis < PART && count >= this.size) this.size = Math.min(this.most, this.size * 2);
  }
}
