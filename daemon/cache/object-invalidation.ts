// Takes objects out of use before their time: by key, by surrogate key, and one that another replaces.
//
// Acts at once and never waits; bans, which are remembered, are in ban/. Caution: a fetch under way may bring what is
// older than the purge, so a purge cuts it off from the key.

import type { CacheState } from './cache-state.ts';
import type { Lifetimes, SoftPurge } from './lifetimes.ts';
import * as row from './objcore.ts';
import { type Oc, stateIn } from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import type { Invalidation, Maintenance } from './roles.ts';
import { keysIn } from './tags/tag-headers.ts';
import { Doom } from './tags/tag-index.ts';
import type { TagPurges } from './tags/tag-purges.ts';

export class ObjectInvalidation implements Invalidation {
  private readonly state: CacheState;
  private readonly lifetimes: Lifetimes;
  private readonly life: ObjectLife;
  private readonly tagPurges: TagPurges;
  private readonly maintenance: Maintenance;

  constructor(
    state: CacheState,
    lifetimes: Lifetimes,
    life: ObjectLife,
    tagPurges: TagPurges,
    maintenance: Maintenance,
  ) {
    this.state = state;
    this.lifetimes = lifetimes;
    this.life = life;
    this.tagPurges = tagPurges;
    this.maintenance = maintenance;
  }

  purge(key: string, now: number, soft: SoftPurge | null = null, own: Oc = 0): number {
    const { objcores, objheads } = this.state;
    const oh = objheads.find(key);
    if (oh === 0) return 0;
    let count = 0;
    for (let oc = objheads.first(oh); oc !== 0; ) {
      const next = objcores.get(oc, row.KEY_NEXT);
      if (oc === own) {
        // It stays.
      } else if (stateIn(objcores.get(oc, row.META)) === row.STATE_BUSY) {
        this.life.detach(oc, false);
      } else {
        count += this.purgeOne(oc, now, soft);
      }
      oc = next;
    }
    return count;
  }

  purgeOne(oc: Oc, now: number, soft: SoftPurge | null = null): number {
    const { objcores, tags } = this.state;
    const meta = objcores.get(oc, row.META);
    if ((meta & row.OF_INDEXED) === 0) return 0;
    const gone = (meta & row.OF_TAGGED) !== 0 && this.tagPurges.pending && tags.doomOf(oc) === Doom.HARD;
    if (soft === null || (soft.ttl === 0 && soft.grace === 0 && soft.keep === 0)) this.life.purge(oc, now);
    else this.lifetimes.reset(oc, soft, now);
    return gone ? 0 : 1;
  }

  purgeTags(keys: string, soft: boolean, now: number): number {
    const count = this.tagPurges.purge(keysIn(keys), soft ? Doom.SOFT : Doom.HARD, now);
    this.maintenance.sample();
    return count;
  }

  kill(oc: Oc): void {
    this.life.kill(oc);
  }
}
