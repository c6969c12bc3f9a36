// The cache: objects under keys, with variants, lifetimes, bans and waiting requests. Assembles the state and the parts that
// work on it.
//
// Everything is named by handles (Oc). Nothing here waits. Callbacks are readers' progress (at once) and waiters' wake
// (deferred). Methods that change shared data take the lock themselves, and the data structures assert that it is held.

import { NO_LOCK } from '../threads/shared-lock.ts';
import { BanService } from './ban/ban-service.ts';
import { BanTester } from './ban/ban-tester.ts';
import { Lurker } from './ban/lurker.ts';
import { type CacheOptions, CacheState } from './cache-state.ts';
import { Expiry } from './expiry.ts';
import { Lifetimes } from './lifetimes.ts';
import { CacheMaintenance } from './maintenance.ts';
import { ObjectFacts } from './object-facts.ts';
import { ObjectFilling } from './object-filling.ts';
import { ObjectInvalidation } from './object-invalidation.ts';
import { ObjectLife } from './object-life.ts';
import { ObjectLookup } from './object-lookup.ts';
import { ObjectLru } from './object-lru.ts';
import { ObjectReading } from './object-reading.ts';
import { ObjectStore } from './object-store.ts';
import { ObjectTier } from './object-tier.ts';
import { Reaper } from './reaper.ts';
import { SignalReceiver } from './signal-receiver.ts';
import type { Stevedores } from './storage/stevedores.ts';
import { TagPurges } from './tags/tag-purges.ts';

export class Cache {
  /** For requests: finds objects. */
  readonly lookup: ObjectLookup;
  /** For deliveries from the cache. */
  readonly hits: ObjectLru;
  readonly references: ObjectLife;
  /** For fetches: makes an object visible, and complete. */
  readonly filling: ObjectFilling;
  readonly reading: ObjectReading;
  readonly facts: ObjectFacts;
  readonly invalidation: ObjectInvalidation;
  readonly bans: BanService;
  readonly storages: Stevedores;
  /** For storage behind memory. */
  readonly tier: ObjectTier;
  readonly maintenance: CacheMaintenance;
  /** Handles the signals of other threads. */
  readonly receiver: SignalReceiver;

  /** Runs under the lock: other threads may be changing what it reads. */
  constructor(options: CacheOptions) {
    const lock = options.shared?.lock ?? NO_LOCK;
    lock.enter();
    try {
      const state = new CacheState(options);
      const store = new ObjectStore(state, (oc, by) => {
        state.events.evicted(oc, by);
        life.kill(oc);
      });
      state.crowds.readFrom(store);
      const lru = new ObjectLru(state);
      const lifetimes = new Lifetimes(state);
      const life = new ObjectLife(state, store, lru, lifetimes);
      const reaper = new Reaper(state, store, lru, lifetimes, life);
      const tester = new BanTester(state, store, lifetimes);
      const tagPurges = new TagPurges(state, lifetimes, reaper);
      const expiry = new Expiry(state, store, lru, lifetimes, reaper);
      const lurker = new Lurker(state, tester, lifetimes, life);
      this.receiver = new SignalReceiver(state);
      this.maintenance = new CacheMaintenance(state, expiry, lurker, tagPurges);
      this.lookup = new ObjectLookup(state, store, life, tester, tagPurges);
      this.hits = lru;
      this.references = life;
      this.filling = new ObjectFilling(state, store, lru, lifetimes, life);
      this.tier = new ObjectTier(state, store, this.filling, life);
      this.reading = new ObjectReading(state, store, this.receiver);
      this.facts = new ObjectFacts(state);
      this.invalidation = new ObjectInvalidation(state, lifetimes, life, tagPurges, tester, this.maintenance);
      this.bans = new BanService(state, tester);
      this.storages = state.stevedores;
      state.onSetGone = (set) => this.invalidation.forgetSlices(set);
    } finally {
      lock.leave();
    }
  }
}
