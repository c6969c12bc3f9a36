// The lookup: walks a key's objects and decides what the request gets.
//
// A fresh object wins over a stale one, a stale one in grace over waiting, and a matching busy one makes the
// caller wait. Hands out references and makes busy objects, never waits itself. Banned objects met on the way
// are killed after the walk: the key must not go while it is being walked. A hit allocates nothing.

import type { BanList } from './ban/ban-list.ts';
import type { CacheLimits } from './cache-options.ts';
import type { CacheCounters } from './counters.ts';
import type { Invalidation } from './invalidation.ts';
import type { Oh } from './key-index.ts';
import { Lookup, type LookupQuery, type LookupResult } from './lookup.ts';
import * as row from './objcore.ts';
import { type Oc, stateIn } from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectStore } from './object-store.ts';
import type { Objheads } from './objheads.ts';
import type { Rows } from './rows.ts';
import { Doom } from './tags/tag-index.ts';
import type { TagPurges } from './tags/tag-purges.ts';
import { matchesKey, matchesStored, storedNames, type VaryKey } from './vary.ts';

export class LookupWalk {
  private readonly rows: Rows;
  private readonly store: ObjectStore;
  private readonly objheads: Objheads;
  private readonly life: ObjectLife;
  private readonly invalidation: Invalidation;
  private readonly bans: BanList;
  private readonly tags: TagPurges;
  private readonly counters: CacheCounters;
  private readonly limits: CacheLimits;
  /** Met on the way, to be killed after it. */
  private readonly gone: Oc[] = [];

  constructor(o: {
    rows: Rows;
    store: ObjectStore;
    objheads: Objheads;
    life: ObjectLife;
    invalidation: Invalidation;
    bans: BanList;
    tags: TagPurges;
    counters: CacheCounters;
    limits: CacheLimits;
  }) {
    this.rows = o.rows;
    this.store = o.store;
    this.objheads = o.objheads;
    this.life = o.life;
    this.invalidation = o.invalidation;
    this.bans = o.bans;
    this.tags = o.tags;
    this.counters = o.counters;
    this.limits = o.limits;
  }

  lookup(q: LookupQuery, out: LookupResult): Lookup {
    out.clear();
    const oh = this.objheads.find(q.key);
    if (oh === 0 || q.hashAlwaysMiss) {
      out.busy = this.life.newBusy(oh === 0 ? this.objheads.findOrAdd(q.key) : oh, null);
      return Lookup.MISS;
    }
    const found = this.search(oh, q, out);
    while (this.gone.length > 0) this.life.kill(this.gone.pop() as Oc);
    return found;
  }

  private search(oh: Oh, q: LookupQuery, out: LookupResult): Lookup {
    const { rows, bans } = this;
    let busy = false;
    let stale: Oc = 0;
    let staleOrigin = Number.NEGATIVE_INFINITY;
    let varying: Oc = 0;
    for (let oc = this.objheads.first(oh); oc !== 0; ) {
      const current = oc;
      const meta = rows.get(current, row.META);
      oc = rows.get(current, row.KEY_NEXT);
      if (stateIn(meta) === row.STATE_BUSY) {
        if (!busy && !q.hashIgnoreBusy) busy = this.mayBecome(current, q);
        continue;
      }
      if (rows.getDouble(current, row.TTL) <= 0) continue;
      if ((meta & row.OF_FOR_WAITERS) !== 0 && !q.waited) continue;
      if ((meta & row.OF_TAGGED) !== 0 && this.tags.pending && this.isPurged(current)) {
        this.gone.push(current);
        continue;
      }
      if (rows.get(current, row.BAN) !== bans.current && this.invalidation.isBanned(current, q.http, q.now)) {
        this.counters.bans_obj_killed++;
        q.onBanned?.(rows.get(current, row.VXID) >>> 0);
        this.gone.push(current);
        continue;
      }
      if ((meta & row.OF_HAS_VARY) !== 0 && !q.hashIgnoreVary) {
        varying = current;
        const at = this.store.varyAt(current);
        const { gzipSupport, normaliseVary } = this.limits;
        if (!matchesStored(this.store.headChunk(current), at, q.http, gzipSupport, normaliseVary)) {
          out.variants++;
          continue;
        }
      }
      const ttl = rows.getDouble(current, row.TTL);
      const origin = rows.getDouble(current, row.T_ORIGIN);
      const usable = q.reqTtl > 0 && q.reqTtl < ttl ? q.reqTtl : ttl;
      if (origin + usable > q.now)
        return this.fresh(current, meta, origin + usable - q.now, q, out, oh, varying);
      // What only req.ttl makes too old is neither served in grace nor revalidated.
      if (origin + ttl <= q.now && origin > staleOrigin) {
        stale = current;
        staleOrigin = origin;
      }
    }
    if (stale !== 0) return this.expired(stale, busy, q, out, oh, varying);
    if (busy) return Lookup.BUSY;
    out.busy = this.life.newBusy(oh, this.predict(varying, q));
    return Lookup.MISS;
  }

  /** Whether a purge by surrogate key has the object, though not got to it; a soft one is applied now. */
  private isPurged(oc: Oc): boolean {
    const doom = this.tags.doomOf(oc);
    if (doom === Doom.SOFT) this.tags.softenNow(oc);
    return doom === Doom.HARD;
  }

  private fresh(
    oc: Oc,
    meta: number,
    left: number,
    q: LookupQuery,
    out: LookupResult,
    oh: Oh,
    varying: Oc,
  ): Lookup {
    if ((meta & row.OF_MARKER) === 0) {
      this.life.ref(oc);
      out.oc = oc;
      return Lookup.HIT;
    }
    out.hitVxid = this.rows.get(oc, row.VXID) >>> 0;
    out.hitTtl = left;
    if ((meta & row.OF_HIT_PASS) !== 0) return Lookup.HITPASS;
    this.life.ref(oc);
    out.stale = oc;
    out.busy = this.life.newBusy(oh, this.predict(varying, q));
    return Lookup.HITMISS;
  }

  private expired(oc: Oc, busy: boolean, q: LookupQuery, out: LookupResult, oh: Oh, varying: Oc): Lookup {
    const { rows, life } = this;
    const meta = rows.get(oc, row.META);
    const end = rows.getDouble(oc, row.T_ORIGIN) + rows.getDouble(oc, row.TTL);
    if ((meta & row.OF_HIT_MISS) !== 0) {
      // Still a sign that waiting would be in vain: its grace and keep serve to say so.
      life.ref(oc);
      out.stale = oc;
      out.hitVxid = rows.get(oc, row.VXID) >>> 0;
      out.hitTtl = end - q.now;
      out.busy = life.newBusy(oh, this.predict(varying, q));
      return Lookup.HITMISS;
    }
    const own = rows.getDouble(oc, row.GRACE);
    const grace = q.reqGrace >= 0 && q.reqGrace < own ? q.reqGrace : own;
    if ((meta & row.OF_HIT_PASS) === 0 && end + grace >= q.now) {
      life.ref(oc);
      out.oc = oc;
      if (!busy) out.busy = life.newBusy(oh, this.predict(varying, q));
      return Lookup.GRACE;
    }
    if (busy) return Lookup.BUSY;
    life.ref(oc);
    out.stale = oc;
    out.busy = life.newBusy(oh, this.predict(varying, q));
    return Lookup.MISS;
  }

  /** Whether a fetch under way may bring what this request can use. */
  private mayBecome(busy: Oc, q: LookupQuery): boolean {
    const predicted = this.store.live.get(busy)?.predicted ?? null;
    const { gzipSupport, normaliseVary } = this.limits;
    return (
      predicted === null || q.hashIgnoreVary || matchesKey(predicted, q.http, gzipSupport, normaliseVary)
    );
  }

  /** The variant a fetch for this request will become, if it varies as its sibling does. */
  private predict(sibling: Oc, q: LookupQuery): VaryKey | null {
    if (sibling === 0) return null;
    const names = storedNames(this.store.headChunk(sibling), this.store.varyAt(sibling));
    return { names, values: names.map((name) => q.http.getAll(name)) };
  }
}
