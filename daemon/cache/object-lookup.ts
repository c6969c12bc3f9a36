// The lookup: walks the objects of a key and decides what the request gets.
//
// A fresh object wins over a stale one, a stale one in grace over waiting, and a matching busy one makes the caller wait, as
// do more new bans than may be tested in a turn. Returns references and makes busy objects, never waits itself. Banned
// objects are killed after the walk, since the key must not be freed during it. A hit allocates nothing.

import type { BanTester } from './ban/ban-tester.ts';
import type { CacheState } from './cache-state.ts';
import { CrowdSearch } from './crowd-search.ts';
import { CROWDED, type Crowd } from './crowds.ts';
import { fieldIn } from './head-codec.ts';
import type { Oh } from './key-index.ts';
import { LookupAnswer, type LookupQuery, type LookupResult } from './lookup-query.ts';
import * as row from './objcore.ts';
import { type Oc, stateIn } from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectStore } from './object-store.ts';
import { LEAST_SET } from './part-facts.ts';
import { Doom } from './tags/tag-index.ts';
import type { TagPurges } from './tags/tag-purges.ts';
import { matchesStored, mayBecome, storedNames, type VaryKey } from './vary.ts';
import type { Waiter } from './waiting-list.ts';

/** Variants compared with the request before hashing it pays (chosen). */
const HASHED_AFTER = 4;

/** Objects before the one found in a crowd that are counted, for the log (chosen). */
const COUNTED = 64;

/** Objects of a key that a lookup without the lock passes over (chosen): with more variants the locked lookup is faster. */
const MOST_UNLOCKED = 16;

export class ObjectLookup {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly life: ObjectLife;
  private readonly tester: BanTester;
  private readonly tagPurges: TagPurges;
  private readonly isShared: boolean;
  /** Purged and banned objects, to be removed after the walk. */
  private readonly gone: Oc[] = [];
  private readonly crowdSearch: CrowdSearch;
  /** Of the key; 0 when it has no index, or Vary is ignored. */
  private crowd: Crowd = 0;
  /** Objects visited. */
  private looked = 0;

  constructor(
    state: CacheState,
    store: ObjectStore,
    life: ObjectLife,
    tester: BanTester,
    tagPurges: TagPurges,
  ) {
    this.state = state;
    this.store = store;
    this.life = life;
    this.tester = tester;
    this.tagPurges = tagPurges;
    this.isShared = state.memory.isShared;
    this.crowdSearch = new CrowdSearch(state.crowds, state.variantHash);
  }

  /** Finds the object of a key for a request; `out` gets the handles. */
  find(q: LookupQuery, out: LookupResult): LookupAnswer {
    const { lock, counters } = this.state;
    counters.hcb_nolock++;
    out.clear();
    if (this.isShared) {
      const oc = this.findUnlocked(q);
      if (oc !== 0) {
        out.oc = oc;
        return LookupAnswer.HIT;
      }
    }
    lock.enter();
    try {
      // The time may have passed while this thread waited.
      if (this.isShared) q.now = Math.max(q.now, this.state.softPurged[0] as number);
      return this.findLocked(q, out);
    } finally {
      lock.leave();
    }
  }

  /** A plain hit, without the lock; 0 for everything else, and while other threads change the key. */
  private findUnlocked(q: LookupQuery): Oc {
    if (q.hashAlwaysMiss || this.tagPurges.pending) return 0;
    this.state.memory.sync();
    return this.searchUnlocked(q);
  }

  private searchUnlocked(q: LookupQuery): Oc {
    const { objcores, bans, objheads, memory } = this.state;
    let oc = objheads.firstUnlocked(q.key);
    for (let looked = 0; oc !== 0 && looked < MOST_UNLOCKED; looked++) {
      // Memory that this thread has not mapped yet, or a stale number: the locked lookup will know.
      if (!objcores.knows(oc)) return 0;
      const meta = objcores.load(oc, row.META);
      // Read before the lifetimes: a ban test publishes the ban's number after the lifetimes.
      const ban = objcores.load(oc, row.BAN);
      const ttl = objcores.getDouble(oc, row.TTL);
      const isPassedOver =
        stateIn(meta) === row.STATE_BUSY ||
        ttl <= 0 ||
        ((meta & row.OF_FOR_WAITERS) !== 0 && !q.waited) ||
        isFailureMarker(meta);
      if (isPassedOver) {
        oc = objcores.get(oc, row.KEY_NEXT);
        continue;
      }
      const usable = q.reqTtl > 0 && q.reqTtl < ttl ? q.reqTtl : ttl;
      const isFresh = objcores.getDouble(oc, row.T_ORIGIN) + usable > q.now;
      if ((meta & row.OF_MARKER) !== 0 || !isFresh || ban !== bans.current) return 0;
      memory.point();
      if (!this.life.tryRef(oc)) return 0;
      memory.point();
      // If the key has not changed, the object was the key's when the reference was taken, and stays as it is.
      memory.sync();
      const isStill =
        objheads.isUnchanged() &&
        (objcores.get(oc, row.META) & row.OF_DYING) === 0 &&
        (this.state.softPurged[0] as number) <= q.now;
      if (isStill) {
        if ((meta & row.OF_HAS_VARY) === 0 || q.hashIgnoreVary || this.isVariantOf(oc, q)) return oc;
      }
      const next = objcores.get(oc, row.KEY_NEXT);
      this.life.deref(oc);
      if (!objheads.isUnchanged()) return 0;
      oc = next;
    }
    return 0;
  }

  private isVariantOf(oc: Oc, q: LookupQuery): boolean {
    const { gzipSupport, normaliseVary } = this.state.limits;
    const { store } = this;
    const chunk = store.headChunk(oc);
    const language =
      normaliseVary && q.http.has('accept-language')
        ? fieldIn(chunk, store.headAt(oc), 'content-language')
        : null;
    return matchesStored(chunk, store.varyAt(oc), q.http, gzipSupport, normaliseVary, language);
  }

  private findLocked(q: LookupQuery, out: LookupResult): LookupAnswer {
    const { objheads } = this.state;
    const oh = objheads.find(q.key);
    if (oh === 0 || q.hashAlwaysMiss) {
      out.busy = this.life.newBusy(oh === 0 ? objheads.findOrAdd(q.key) : oh, 0);
      if (oh !== 0) {
        this.store.transferOf(out.busy).replaces = q.hashIgnoreVary ? 'all' : 'variant';
      }
      return LookupAnswer.MISS;
    }
    const found = this.search(oh, q, out);
    while (this.gone.length > 0) this.life.invalidate(this.gone.pop() as Oc);
    // Unless UNTESTED, the key still has an object.
    if (this.looked >= CROWDED && found !== LookupAnswer.UNTESTED) objheads.makeCrowd(oh);
    return found;
  }

  /** Parks a waiter until the busy objects of the key are settled; call right after a BUSY answer. Returns how to cancel.
   * The waiter looks up again and may have to wait again. */
  wait(key: string, waiter: Waiter): () => void {
    const { lock, objheads } = this.state;
    return lock.hold(() => objheads.wait(key, waiter));
  }

  /** The same after an UNTESTED answer, until the waiter may continue testing. */
  waitTurn(waiter: Waiter): () => void {
    return this.tester.turns.wait(waiter);
  }

  private search(oh: Oh, q: LookupQuery, out: LookupResult): LookupAnswer {
    const { objcores, bans, objheads } = this.state;
    const crowd = this.begin(oh, q);
    let busy = false;
    /** There are fetches that may bring other variants. */
    let expecting = false;
    let stale: Oc = 0;
    let staleOrigin = Number.NEGATIVE_INFINITY;
    /** The newest marker of a failure. */
    let failure: Oc = 0;
    let varying: Oc = 0;
    /** Hash of the request's variant, computed once there are many variants. */
    let wanted = 0;
    /** Objects that may still be tested against bans before it is known whether they match. */
    let anyVariant = this.state.limits.banAnyVariant;
    for (let oc = crowd === 0 ? objheads.first(oh) : this.crowdSearch.next(); oc !== 0; ) {
      const current = oc;
      const meta = objcores.get(current, row.META);
      oc = crowd === 0 ? objcores.get(current, row.KEY_NEXT) : this.crowdSearch.next();
      this.looked++;
      if (stateIn(meta) === row.STATE_BUSY) {
        if (q.hashIgnoreBusy) continue;
        if (q.hashIgnoreVary || objcores.get(current, row.EXPECTED) === 0) busy = true;
        else expecting = true;
        const set = objcores.getDouble(current, row.COMING_SET);
        if (set >= LEAST_SET) {
          const index = objcores.getDouble(current, row.COMING_INDEX);
          out.comingSet = set;
          out.comingOc = current;
          out.comingIndex = index < 0 ? -1 - index : index;
        }
        continue;
      }
      if (objcores.getDouble(current, row.TTL) <= 0 && !this.cameForWaiter(current, meta, q)) continue;
      if ((meta & row.OF_FOR_WAITERS) !== 0 && !q.waited) continue;
      if ((meta & row.OF_TAGGED) !== 0 && this.tagPurges.pending && this.isPurged(current)) {
        this.gone.push(current);
        continue;
      }
      if (objcores.get(current, row.BAN) !== bans.current) {
        if ((meta & row.OF_HAS_VARY) !== 0 && !q.hashIgnoreVary && --anyVariant < 0) {
          varying = current;
          if (!this.isVariantOf(current, q)) {
            out.variants++;
            continue;
          }
        }
        const verdict = this.tester.test(current, q.http, q.now);
        if (verdict === 'unfinished') return LookupAnswer.UNTESTED;
        if (verdict === 'banned') {
          this.banned(current, q);
          continue;
        }
      }
      if ((meta & row.OF_HAS_VARY) !== 0 && !q.hashIgnoreVary) {
        varying = current;
        if (crowd === 0 && out.variants >= HASHED_AFTER) {
          const kept = objcores.get(current, row.VARIANT);
          if (kept !== 0) {
            if (wanted === 0) wanted = this.state.variantHash.ofKey(this.variantOf(current, q));
            if (kept !== wanted) {
              out.variants++;
              continue;
            }
          }
        }
        if (!this.isVariantOf(current, q)) {
          out.variants++;
          continue;
        }
      }
      const ttl = objcores.getDouble(current, row.TTL);
      const origin = objcores.getDouble(current, row.T_ORIGIN);
      if (isFailureMarker(meta)) {
        const holds = (meta & row.OF_HIT_PASS) === 0 || origin + ttl > q.now;
        if (failure === 0 && holds) failure = current;
        continue;
      }
      const usable = q.reqTtl > 0 && q.reqTtl < ttl ? q.reqTtl : ttl;
      if (origin + usable > q.now || ttl <= 0) {
        if (crowd !== 0) out.variants = this.variantsBefore(oh, current);
        return this.fresh(current, meta, origin + usable - q.now, q, out, oh, varying);
      }
      // An object that only req.ttl makes too old is neither served in grace nor revalidated.
      if (origin + ttl <= q.now && origin > staleOrigin) {
        stale = current;
        staleOrigin = origin;
      }
    }
    if (crowd !== 0) {
      out.variants = this.state.crowds.varying(crowd);
      busy = !q.hashIgnoreBusy && this.crowdSearch.isAwaited(this.state.limits.gzipSupport);
    } else if (expecting && !busy) busy = this.mayBecome(oh, varying, q);
    if (failure !== 0 && (stale === 0 || !this.serves(stale, q))) {
      // A stale object can still be revalidated.
      const left = this.endOf(failure) - q.now;
      return this.marked(failure, left, stale === 0 ? failure : stale, q, out, oh, varying);
    }
    if (stale !== 0) return this.expired(stale, busy, q, out, oh, varying);
    if (busy) return LookupAnswer.BUSY;
    out.busy = this.life.newBusy(oh, this.predict(varying, q));
    return LookupAnswer.MISS;
  }

  /** Whether an object without a ttl arrived while the request waited, which is as good as a fetch of its own. */
  private cameForWaiter(oc: Oc, meta: number, q: LookupQuery): boolean {
    return (
      q.waited &&
      (meta & row.OF_FOR_WAITERS) !== 0 &&
      this.state.objcores.getDouble(oc, row.T_ORIGIN) >= q.now
    );
  }

  /** The crowd whose index the lookup uses; 0 when it walks the chain. */
  private begin(oh: Oh, q: LookupQuery): Crowd {
    this.looked = 0;
    this.crowd = this.state.objheads.crowdOf(oh);
    if (this.crowd === 0) return 0;
    if (q.hashIgnoreVary || !this.state.crowds.isIndexed(this.crowd)) this.crowd = 0;
    else this.crowdSearch.begin(this.crowd, q.http);
    return this.crowd;
  }

  /** Variants that a walk of the chain would have passed; all of the crowd when they are very many. */
  private variantsBefore(oh: Oh, found: Oc): number {
    const { objcores, objheads, crowds } = this.state;
    let variants = 0;
    let oc = objheads.first(oh);
    for (let looked = 0; looked < COUNTED && oc !== 0; looked++) {
      if (oc === found) return variants;
      const meta = objcores.get(oc, row.META);
      if ((meta & row.OF_HAS_VARY) !== 0 && stateIn(meta) !== row.STATE_BUSY) variants++;
      oc = objcores.get(oc, row.KEY_NEXT);
    }
    return crowds.varying(this.crowd);
  }

  private banned(oc: Oc, q: LookupQuery): void {
    this.state.counters.bans_obj_killed++;
    q.onBanned?.(this.state.objcores.get(oc, row.VXID) >>> 0);
    this.gone.push(oc);
  }

  /** Whether a pending purge by surrogate key will remove the object; a soft one is applied now. */
  private isPurged(oc: Oc): boolean {
    const doom = this.state.tags.doomOf(oc);
    if (doom === Doom.SOFT) this.tagPurges.softenNow(oc);
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
  ): LookupAnswer {
    if ((meta & row.OF_MARKER) === 0) {
      this.life.ref(oc);
      out.oc = oc;
      return LookupAnswer.HIT;
    }
    return this.marked(oc, left, oc, q, out, oh, varying);
  }

  /** Only a marker was found. `stale` is replaced by the new object. */
  private marked(
    marker: Oc,
    left: number,
    stale: Oc,
    q: LookupQuery,
    out: LookupResult,
    oh: Oh,
    varying: Oc,
  ): LookupAnswer {
    const { objcores } = this.state;
    out.hitVxid = objcores.get(marker, row.VXID) >>> 0;
    out.hitTtl = left;
    if ((objcores.get(marker, row.META) & row.OF_HIT_PASS) !== 0) return LookupAnswer.HITPASS;
    this.life.ref(stale);
    out.stale = stale;
    out.busy = this.life.newBusy(oh, this.predict(varying, q));
    return LookupAnswer.HITMISS;
  }

  /** Whether a stale object may be delivered: it is no marker, and in grace. */
  private serves(oc: Oc, q: LookupQuery): boolean {
    const { objcores } = this.state;
    if ((objcores.get(oc, row.META) & row.OF_MARKER) !== 0) return false;
    const own = objcores.getDouble(oc, row.GRACE);
    const grace = q.reqGrace >= 0 && q.reqGrace < own ? q.reqGrace : own;
    return this.endOf(oc) + grace >= q.now;
  }

  private endOf(oc: Oc): number {
    const { objcores } = this.state;
    return objcores.getDouble(oc, row.T_ORIGIN) + objcores.getDouble(oc, row.TTL);
  }

  private expired(
    oc: Oc,
    busy: boolean,
    q: LookupQuery,
    out: LookupResult,
    oh: Oh,
    varying: Oc,
  ): LookupAnswer {
    const { life } = this;
    const { objcores } = this.state;
    const meta = objcores.get(oc, row.META);
    if ((meta & row.OF_HIT_MISS) !== 0) {
      // Within grace and keep it still says that requests should not wait for each other.
      return this.marked(oc, this.endOf(oc) - q.now, oc, q, out, oh, varying);
    }
    if (this.serves(oc, q)) {
      life.ref(oc);
      out.oc = oc;
      if (!busy) out.busy = life.newBusy(oh, this.predict(varying, q));
      return LookupAnswer.GRACE;
    }
    if (busy) return LookupAnswer.BUSY;
    life.ref(oc);
    out.stale = oc;
    out.busy = life.newBusy(oh, this.predict(varying, q));
    return LookupAnswer.MISS;
  }

  /** Whether a fetch under way that is expected to become a variant may bring what this request can use. */
  private mayBecome(oh: Oh, sibling: Oc, q: LookupQuery): boolean {
    const { objcores, objheads } = this.state;
    // The object by which it was predicted is gone.
    if (sibling === 0) return true;
    const wanted = this.predict(sibling, q);
    for (let oc = objheads.first(oh); oc !== 0; oc = objcores.get(oc, row.KEY_NEXT)) {
      const isBusy = stateIn(objcores.get(oc, row.META)) === row.STATE_BUSY;
      if (isBusy && mayBecome(objcores.get(oc, row.EXPECTED), wanted)) return true;
    }
    return false;
  }

  /** The variant that a fetch for this request will become if it varies as its sibling does; 0 without a sibling. */
  private predict(sibling: Oc, q: LookupQuery): number {
    if (this.crowd !== 0) return this.crowdSearch.expected(this.state.limits.gzipSupport);
    const { variantHash, limits } = this.state;
    return sibling === 0 ? 0 : variantHash.expected(this.variantOf(sibling, q), limits.gzipSupport);
  }

  /** The request's values of the headers that an object varies by. */
  private variantOf(sibling: Oc, q: LookupQuery): VaryKey {
    const names = storedNames(this.store.headChunk(sibling), this.store.varyAt(sibling));
    return { names, values: names.map((name) => q.http.getAll(name)) };
  }
}

/** A failure's marker is used only when there is nothing better. */
function isFailureMarker(meta: number): boolean {
  return (meta & row.OF_FAILURE) !== 0 && (meta & row.OF_MARKER) !== 0;
}
