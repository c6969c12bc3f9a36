// Expiry in steps of bounded time: kills what is past ttl + grace + keep, frees large bodies piece by piece.
//
// The clock is read after every object: one may take a hundred times as long as another. Decides nothing about
// freshness, which lookups see by themselves; an object may be removed late.

import type { ObjectEvents } from './cache-options.ts';
import type { CacheCounters } from './counters.ts';
import type { Expiry } from './expiry.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectStore } from './object-store.ts';
import type { Uses } from './uses.ts';

export class ExpirySteps {
  private readonly expiry: Expiry;
  private readonly store: ObjectStore;
  private readonly life: ObjectLife;
  private readonly uses: Uses;
  private readonly counters: CacheCounters;
  private readonly events: ObjectEvents;
  private readonly millis: () => number;

  constructor(o: {
    expiry: Expiry;
    store: ObjectStore;
    life: ObjectLife;
    uses: Uses;
    counters: CacheCounters;
    events: ObjectEvents;
    millis: () => number;
  }) {
    this.expiry = o.expiry;
    this.store = o.store;
    this.life = o.life;
    this.uses = o.uses;
    this.counters = o.counters;
    this.events = o.events;
    this.millis = o.millis;
  }

  /** Works for about `budgetMs`; returns how many objects it removed. */
  expire(now: number, budgetMs: number): number {
    const end = this.millis() + budgetMs;
    this.uses.tick(now);
    let count = 0;
    while (this.expiry.firstEnd() <= now || this.store.hasDiscarded) {
      // Memory first: whoever needs room would have to do it otherwise.
      if (this.store.hasDiscarded) this.store.reclaim();
      else if (this.removeFirst(now)) count++;
      if (this.millis() >= end) break;
    }
    return count;
  }

  /** False when the object that comes first lives on: its end was too far off to be noted. */
  private removeFirst(now: number): boolean {
    const oc = this.expiry.first();
    const end = this.life.endOf(oc);
    if (end > now && this.expiry.firstIsFar) {
      this.expiry.set(oc, end);
      return false;
    }
    this.events.expired(oc, Math.max(0, now - end));
    this.life.kill(oc, false);
    this.counters.n_expired++;
    return true;
  }
}
