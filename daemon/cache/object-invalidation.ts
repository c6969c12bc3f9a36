// Invalidates objects at once: by key, by surrogate key, and one that another replaces. Bans, which are lazy, are in ban/.
//
// Caution: a fetch under way may bring what is older than the purge, so a purge removes it from the key.

import type { HttpMessage } from '../http1/message.ts';
import type { BanTester } from './ban/ban-tester.ts';
import type { CacheState } from './cache-state.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { CacheMaintenance } from './maintenance.ts';
import * as row from './objcore.ts';
import { type Oc, stateIn } from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import { partTag } from './part-facts.ts';
import type { SoftPurge } from './soft-purge.ts';
import { keysIn } from './tags/tag-headers.ts';
import { Doom } from './tags/tag-index.ts';
import type { TagPurges } from './tags/tag-purges.ts';

/** A soft purge by surrogate key leaves grace and keep, from now on. */
const STALE: SoftPurge = { ttl: 0, grace: -1, keep: -1, shortens: true };

export class ObjectInvalidation {
  private readonly state: CacheState;
  private readonly lifetimes: Lifetimes;
  private readonly life: ObjectLife;
  private readonly tagPurges: TagPurges;
  private readonly tester: BanTester;
  private readonly maintenance: CacheMaintenance;

  constructor(
    state: CacheState,
    lifetimes: Lifetimes,
    life: ObjectLife,
    tagPurges: TagPurges,
    tester: BanTester,
    maintenance: CacheMaintenance,
  ) {
    this.state = state;
    this.lifetimes = lifetimes;
    this.life = life;
    this.tagPurges = tagPurges;
    this.tester = tester;
    this.maintenance = maintenance;
  }

  /** Purges all variants of a key, or makes them stale when `soft` is given; returns how many. Fetches under way are removed
   * from the index, since they may bring what is older than the purge. `own` stays: the caller's own object, which it has
   * not begun to fetch, or has just fetched. */
  purge(key: string, now: number, soft: SoftPurge | null = null, own: Oc = 0): number {
    return this.state.lock.hold(() => this.purgeKey(key, now, soft, own));
  }

  private purgeKey(key: string, now: number, soft: SoftPurge | null, own: Oc): number {
    const { objcores, objheads, tier, transfers } = this.state;
    tier?.invalidated('key', key, isHard(soft) ? null : soft);
    const ofOwn = own === 0 ? undefined : transfers.get(own);
    if (tier !== null && ofOwn !== undefined && ofOwn.since >= 0) ofOwn.since = tier.newest;
    const oh = objheads.find(key);
    if (oh === 0) return 0;
    let count = 0;
    for (let oc = objheads.first(oh); oc !== 0; ) {
      const next = objcores.get(oc, row.KEY_NEXT);
      const isBusy = stateIn(objcores.get(oc, row.META)) === row.STATE_BUSY;
      if (oc !== own && isBusy) this.life.detach(oc, false);
      else if (oc !== own) count += this.purgeObject(oc, now, soft);
      oc = next;
    }
    return count;
  }

  /** Purges one object, or makes it stale; returns 0 when it is gone already, 1 otherwise. */
  purgeOne(oc: Oc, now: number, soft: SoftPurge | null = null): number {
    return this.state.lock.hold(() => {
      const { tier, objheads, objcores } = this.state;
      const oh = objcores.get(oc, row.OBJHEAD);
      // Copies are invalidated by key: the other variants are fetched again once memory has lost them.
      if (tier !== null && oh !== 0) tier.invalidated('key', objheads.keyOf(oh));
      return this.purgeObject(oc, now, soft);
    });
  }

  private purgeObject(oc: Oc, now: number, soft: SoftPurge | null): number {
    const { objcores, tags } = this.state;
    const meta = objcores.get(oc, row.META);
    if ((meta & row.OF_INDEXED) === 0) return 0;
    const gone = (meta & row.OF_TAGGED) !== 0 && this.tagPurges.pending && tags.doomOf(oc) === Doom.HARD;
    if (isHard(soft)) this.life.purge(oc, now);
    else this.lifetimes.reset(oc, soft, now);
    return gone ? 0 : 1;
  }

  /** Purges the objects that carry one of the surrogate keys in a text, or makes them stale; returns how many. Lookups do not
   * find them any more when it returns, though their memory may be freed later. */
  purgeTags(keys: string, soft: boolean, now: number): number {
    return this.state.lock.hold(() => {
      const names = keysIn(keys);
      for (const name of names) this.state.tier?.invalidated('tag', name, soft ? STALE : null);
      const count = this.tagPurges.purge(names, soft ? Doom.SOFT : Doom.HARD, now);
      this.maintenance.sample();
      return count;
    });
  }

  /** Removes the slices of a set, which no request can find any more: their room is given back soon. */
  forgetSlices(set: string): void {
    this.state.lock.hold(() => void this.tagPurges.purge([partTag(set)], Doom.HARD, 0));
  }

  /**
   * Whether a purge or a ban has removed an object, to which the caller has a reference, or a newer ban matches it: that one
   * is then removed, as by a lookup. An object that has expired, was evicted or was replaced is as valid as it was. Never
   * waits: with more new bans than may be tested in a turn it counts as valid.
   * @param request for the bans on requests
   */
  isInvalidated(oc: Oc, request: HttpMessage, now: number): boolean {
    return this.state.lock.hold(() => this.judge(oc, request, now));
  }

  private judge(oc: Oc, request: HttpMessage, now: number): boolean {
    const { objcores, bans, counters, tags } = this.state;
    const meta = objcores.get(oc, row.META);
    if ((meta & row.OF_DYING) !== 0) return objcores.get(oc, row.WHY_GONE) === row.INVALIDATED;
    if ((meta & row.OF_INDEXED) === 0) return false;
    if ((meta & row.OF_TAGGED) !== 0 && this.tagPurges.pending && tags.doomOf(oc) === Doom.HARD) return true;
    const isTested = objcores.get(oc, row.BAN) === bans.current;
    if (isTested || this.tester.test(oc, request, now) !== 'banned') return false;
    counters.bans_obj_killed++;
    this.life.invalidate(oc);
    return true;
  }

  /** Removes an object that another one replaces; holders of references keep it. */
  supersede(oc: Oc, by: Oc): void {
    this.state.lock.hold(() => this.life.supersede(oc, by));
  }
}

/** Whether nothing is left of what is purged. */
function isHard(soft: SoftPurge | null): soft is null {
  return soft === null || (soft.ttl === 0 && soft.grace === 0 && soft.keep === 0);
}
