// Takes many objects out of the cache together: purged by key, or at their end.
//
// Each object has its place in a dozen structures, and among a million objects all of them lie anywhere in memory:
// one object after the other waits for memory a dozen times. Here each structure lets go of all objects of a batch,
// and reads ahead what it needs for them. It decides nothing about objects, and never works on more than a batch: the
// caller looks at the clock in between. Awkward: objects in use go one by one, after the others, since their readers
// are told and may do anything.

import type { BanList } from './ban/ban-list.ts';
import type { ObjectEvents } from './cache-options.ts';
import type { CacheCounters } from './counters.ts';
import type { Expiry } from './expiry.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectStore } from './object-store.ts';
import type { Objheads } from './objheads.ts';
import type { Rows } from './rows.ts';
import type { TagIndex } from './tags/tag-index.ts';
import type { Uses } from './uses.ts';

export class Reaper {
  private readonly rows: Rows;
  private readonly store: ObjectStore;
  private readonly objheads: Objheads;
  private readonly expiry: Expiry;
  private readonly uses: Uses;
  private readonly bans: BanList;
  private readonly tags: TagIndex;
  private readonly life: ObjectLife;
  private readonly counters: CacheCounters;
  private readonly events: ObjectEvents;
  private readonly inUse = new Int32Array(row.BATCH);

  constructor(o: {
    rows: Rows;
    store: ObjectStore;
    objheads: Objheads;
    expiry: Expiry;
    uses: Uses;
    bans: BanList;
    tags: TagIndex;
    life: ObjectLife;
    counters: CacheCounters;
    events: ObjectEvents;
  }) {
    this.rows = o.rows;
    this.store = o.store;
    this.objheads = o.objheads;
    this.expiry = o.expiry;
    this.uses = o.uses;
    this.bans = o.bans;
    this.tags = o.tags;
    this.life = o.life;
    this.counters = o.counters;
    this.events = o.events;
  }

  /** Purges the first `count` objects of a list, at most a batch of them; all are indexed. Uses the list up. */
  purge(ocs: Int32Array, count: number, now: number): void {
    const { counters, events, life } = this;
    if (events.wanted()) {
      for (let i = 0; i < count; i++) {
        const oc = ocs[i] as Oc;
        events.rearmed(oc, life.endOf(oc), now);
        events.expired(oc, 0);
      }
    }
    counters.exp_mailed += count;
    counters.exp_received += count;
    // As Varnish: a purge ends an object's time.
    counters.n_expired += count;
    this.takeOut(ocs, count);
  }

  /** The same for objects that are at their end. */
  expire(ocs: Int32Array, count: number, now: number): void {
    const { counters, events, life } = this;
    if (events.wanted()) {
      for (let i = 0; i < count; i++) {
        const oc = ocs[i] as Oc;
        events.expired(oc, Math.max(0, now - life.endOf(oc)));
      }
    }
    counters.n_expired += count;
    this.takeOut(ocs, count);
  }

  private takeOut(ocs: Int32Array, count: number): void {
    const { rows, inUse, counters } = this;
    // What this needs of a row lies in its second half, in one or two lines of memory.
    rows.touchAll(ocs, count, row.OBJHEAD);
    rows.touchAll(ocs, count, row.SURROGATE);
    let alone = 0;
    let used = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      // The index alone: nobody will notice.
      if (rows.get(oc, row.REFS) === 1) {
        rows.set(oc, row.REFS, 0);
        ocs[alone++] = oc;
      } else {
        inUse[used++] = oc;
      }
    }
    this.tags.forgetAll(ocs, alone);
    this.expiry.removeAll(ocs, alone);
    this.uses.leaveAll(ocs, alone);
    this.objheads.dropAll(ocs, alone);
    this.unrefBans(ocs, alone);
    this.store.discardAll(ocs, alone);
    counters.n_objectcore -= alone;
    this.killUsed(used);
  }

  private unrefBans(ocs: Int32Array, count: number): void {
    const { rows, bans } = this;
    let last = 0;
    let same = 0;
    for (let i = 0; i < count; i++) {
      const ban = rows.get(ocs[i] as Oc, row.BAN);
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
