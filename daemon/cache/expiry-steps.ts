// Expiry in steps of bounded time: kills what is past ttl + grace + keep, frees large bodies piece by piece.
//
// The clock is read after every batch. Decides nothing about freshness, which lookups see by themselves; an object
// may be removed late.

import type { Expiry } from './expiry.ts';
import { BATCH } from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectStore } from './object-store.ts';
import { Pace } from './pace.ts';
import type { Reaper } from './reaper.ts';
import type { Uses } from './uses.ts';

export class ExpirySteps {
  private readonly expiry: Expiry;
  private readonly store: ObjectStore;
  private readonly life: ObjectLife;
  private readonly uses: Uses;
  private readonly reaper: Reaper;
  private readonly millis: () => number;
  private readonly batch = new Int32Array(BATCH);
  private readonly pace = new Pace(BATCH);

  constructor(o: {
    expiry: Expiry;
    store: ObjectStore;
    life: ObjectLife;
    uses: Uses;
    reaper: Reaper;
    millis: () => number;
  }) {
    this.expiry = o.expiry;
    this.store = o.store;
    this.life = o.life;
    this.uses = o.uses;
    this.reaper = o.reaper;
    this.millis = o.millis;
  }

  /** Works for about `budgetMs`; returns how many objects it removed. */
  expire(now: number, budgetMs: number): number {
    const { expiry, store, batch, pace } = this;
    let at = this.millis();
    const end = at + budgetMs;
    this.uses.tick(now);
    let removed = 0;
    while (at < end && (expiry.firstEnd() <= now || store.hasDiscarded || expiry.untidy)) {
      let count = 0;
      // Memory first: whoever needs room would have to do it otherwise.
      if (store.hasDiscarded) {
        store.reclaim();
      } else if (expiry.firstEnd() > now) {
        expiry.tidy(BATCH);
      } else if (expiry.firstIsFar) {
        this.lookAgain(now);
      } else {
        count = expiry.takeEnded(now, batch, pace.count);
        this.reaper.expire(batch, count, now);
      }
      removed += count;
      const begun = at;
      at = this.millis();
      if (count > 0) pace.took(count, at - begun);
    }
    return removed;
  }

  /** The first object's end was too far off to be noted. */
  private lookAgain(now: number): void {
    const { expiry, batch } = this;
    const oc = expiry.first();
    if (oc === 0) {
      expiry.dropFirst();
      return;
    }
    const end = this.life.endOf(oc);
    if (end > now) {
      expiry.set(oc, end);
      return;
    }
    batch[0] = oc;
    this.reaper.expire(batch, 1, now);
  }
}
