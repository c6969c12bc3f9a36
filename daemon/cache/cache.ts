// The cache: objects under keys, with variants, lifetimes, bans and the requests that wait for them. Puts the state
// and the parts that work on it together; roles.ts says what each role does.

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
import { PeerCalls } from './peer-calls.ts';
import { Reaper } from './reaper.ts';
import type {
  Bans,
  Facts,
  Filling,
  Hits,
  Invalidation,
  Lookup,
  Reading,
  References,
  Storages,
} from './roles.ts';
import { TagPurges } from './tags/tag-purges.ts';
import { underLock } from './under-lock.ts';

export class Cache {
  readonly lookup: Lookup;
  readonly hits: Hits;
  readonly references: References;
  readonly filling: Filling;
  readonly reading: Reading;
  readonly facts: Facts;
  readonly invalidation: Invalidation;
  readonly bans: Bans;
  readonly storages: Storages;
  readonly maintenance: CacheMaintenance;
  /** For what other threads tell. */
  readonly peerCalls: PeerCalls;

  /** Under the lock: the threads that are there already may be at work on what a new one reads, and a list of bans that is
   * read while its end is dropped would begin anywhere. */
  constructor(options: CacheOptions) {
    const construction = options.shared?.lock ?? NO_LOCK;
    construction.enter();
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
      const lock = state.memory.isShared ? state.lock : null;
      const maintenance = new CacheMaintenance(state, expiry, lurker, tagPurges);
      this.maintenance = underLock<CacheMaintenance>(maintenance, lock, ['step', 'sample']);
      this.lookup = new ObjectLookup(state, store, life, tester, tagPurges);
      this.hits = lru;
      this.references = life;
      this.filling = underLock<Filling>(new ObjectFilling(state, store, lru, lifetimes, life), lock, [
        'newPrivate',
        'setAttributes',
        'storeHead',
        'beginBody',
        'endBody',
        'setAnnex',
        'unbusy',
        'finish',
        'fail',
      ]);
      const reading = new ObjectReading(state, store);
      this.reading = underLock<Reading>(reading, lock, ['onProgress', 'consume']);
      this.facts = new ObjectFacts(state);
      const invalidation = new ObjectInvalidation(state, lifetimes, life, tagPurges, maintenance);
      this.invalidation = underLock<Invalidation>(invalidation, lock, [
        'purge',
        'purgeOne',
        'purgeTags',
        'kill',
      ]);
      this.bans = underLock<Bans>(new BanService(state, tester), lock, ['add', 'addText', 'count', 'tidy']);
      this.peerCalls = new PeerCalls(state, reading.foreign);
      this.storages = state.stevedores;
    } finally {
      construction.leave();
    }
  }
}
