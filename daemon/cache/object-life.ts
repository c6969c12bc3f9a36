// References to objcores, and how they enter and leave the index. With the last reference the row and its memory are freed.
//
// Each holder of a handle has a reference until deref(); the index holds one of its own, so an eviction never frees an
// object that is being read. Makes no decisions about requests; object-filling.ts has the fetch's side.

import type { CacheState } from './cache-state.ts';
import type { Oh } from './key-index.ts';
import type { Lifetimes } from './lifetimes.ts';
import * as row from './objcore.ts';
import { CLOSED, type Oc, withState } from './objcore.ts';
import type { ObjectLru } from './object-lru.ts';
import type { ObjectStore } from './object-store.ts';
import { decodePart, type PartFacts } from './part-facts.ts';

/** Set in ids that are not transaction ids, which are below it. */
const NO_VXID = 0x80000000 | 0;

export class ObjectLife {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly lru: ObjectLru;
  private readonly lifetimes: Lifetimes;
  /** One word: objects made by all threads. */
  private readonly made: Int32Array;

  constructor(state: CacheState, store: ObjectStore, lru: ObjectLru, lifetimes: Lifetimes) {
    this.state = state;
    this.store = store;
    this.lru = lru;
    this.lifetimes = lifetimes;
    this.made = state.memory.part('life').words(1);
  }

  /** A busy object under a key; the caller holds a reference. `expected`: the variant it will probably become (vary.ts). */
  newBusy(oh: Oh, expected: number): Oc {
    const { objcores, bans, purgeLog, objheads, tier } = this.state;
    const oc = this.take(0);
    objcores.set(oc, row.OBJHEAD, oh);
    // Taken now, not at the end of the fetch: bans and purges that come in between are then tested.
    objcores.set(oc, row.BAN, bans.ref());
    objcores.set(oc, row.SURROGATE, purgeLog.newest);
    objcores.set(oc, row.EXPECTED, expected);
    objheads.linkFirst(oh, oc);
    if (tier !== null) this.store.transferOf(oc).since = tier.newest;
    return oc;
  }

  /** A busy object outside the index; the caller holds a reference. */
  newPrivate(): Oc {
    return this.take(row.OF_PRIVATE);
  }

  /** Purges an object: logged as an expiry brought forward. */
  purge(oc: Oc, now: number): void {
    const { objcores, events, counters } = this.state;
    if ((objcores.get(oc, row.META) & row.OF_INDEXED) === 0) return;
    events.purged(oc, this.lifetimes.endOf(oc), now);
    counters.exp_mailed++;
    counters.exp_received++;
    // As in Varnish: a purge ends an object's time.
    counters.n_expired++;
    this.invalidate(oc, false);
  }

  /** Removes an object from the index; holders of references keep it. `mailed`: counted as mail to the expiry thread, as
   * in Varnish. */
  kill(oc: Oc, mailed = true): void {
    this.remove(oc, mailed, 0);
  }

  /** The same for an object whose place `by` takes. */
  supersede(oc: Oc, by: Oc): void {
    const { objcores, counters, events } = this.state;
    if ((objcores.get(oc, row.META) & row.OF_INDEXED) === 0) return;
    counters.n_superseded++;
    events.superseded(oc, by);
    this.remove(oc, true, 0, by);
  }

  /** The same for a purge or a ban: a fetch that holds the object can tell. */
  invalidate(oc: Oc, mailed = true): void {
    this.remove(oc, mailed, row.INVALIDATED);
  }

  /** @param heir the object that takes its place; 0 is none */
  private remove(oc: Oc, mailed: boolean, why: number, heir: Oc = 0): void {
    const { objcores, tags, expiryHeap, events, counters, objheads } = this.state;
    let meta = objcores.get(oc, row.META);
    if ((meta & row.OF_INDEXED) === 0) return;
    if ((meta & row.OF_TAGGED) !== 0) {
      tags.forget(oc);
      meta &= ~row.OF_TAGGED;
    }
    objcores.set(oc, row.META, (meta & ~row.OF_INDEXED) | row.OF_DYING);
    expiryHeap.remove(oc);
    objcores.set(oc, row.WHY_GONE, this.passesSlicesOn(oc, heir) ? row.SLICES_PASSED_ON : why);
    if (mailed) {
      events.removed(oc, this.lifetimes.endOf(oc));
      counters.exp_mailed++;
      counters.exp_received++;
    }
    this.lru.leave(oc);
    const oh = objcores.get(oc, row.OBJHEAD);
    objcores.set(oc, row.OBJHEAD, 0);
    objheads.unlink(oh, oc);
    objheads.drop(oh);
    this.deref(oc);
  }

  private passesSlicesOn(oc: Oc, heir: Oc): boolean {
    const part = heir === 0 ? null : this.partOf(oc);
    return part?.isFirst === true && this.partOf(heir)?.set === part.set;
  }

  /** No request can find the other slices of an object that is about to be freed: their room is given back soon. Not before, as
   * those who read the object go on with them. */
  dropSlices(oc: Oc): void {
    const part = this.partOf(oc);
    if (part?.isFirst !== true) return;
    const { set } = part;
    this.state.defer(() => this.state.onSetGone(set));
  }

  private partOf(oc: Oc): PartFacts | null {
    if ((this.state.objcores.get(oc, row.META) & row.OF_PART) === 0) return null;
    const annex = this.store.annex(oc);
    return annex === null ? null : decodePart(annex);
  }

  /** Removes a busy object from the index; its fetch keeps it. `alone`: its waiters need not wait for another fetch. */
  detach(oc: Oc, alone: boolean): void {
    const { objcores, objheads } = this.state;
    const oh = objcores.get(oc, row.OBJHEAD);
    if (oh === 0) return;
    objcores.set(oc, row.OBJHEAD, 0);
    objcores.set(oc, row.META, objcores.get(oc, row.META) | row.OF_PRIVATE);
    objheads.unlink(oh, oc);
    objheads.rush(oh, alone);
    objheads.drop(oh);
  }

  ref(oc: Oc): void {
    this.state.objcores.addTo(oc, row.REFS, 1);
  }

  /** Takes a reference without the lock; false when the row is free or closed by now. */
  tryRef(oc: Oc): boolean {
    const before = this.state.objcores.addTo(oc, row.REFS, 1);
    if (before > 0 && before < CLOSED) return true;
    this.state.memory.point();
    this.deref(oc);
    return false;
  }

  /** Gives a reference back. With the last one of a busy object that was never filled, its waiters are woken. */
  deref(oc: Oc): void {
    const { objcores } = this.state;
    const refs = objcores.addTo(oc, row.REFS, -1) - 1;
    if (refs < 0) throw new Error(`objcore ${oc} has no reference to give back`);
    if (refs === 0) {
      this.state.memory.point();
      this.release(oc);
      return;
    }
    // The row is free, or its blocks are being moved.
    if (refs >= CLOSED) return;
    const meta = objcores.get(oc, row.META);
    if ((meta & row.OF_TRIM) !== 0) {
      if (refs === 1) this.trimWhenAlone(oc);
    } else if (this.store.inTransitOnly(oc)) this.readerLeft(oc, meta);
  }

  /** The fetch of a body for one reader may be abandoned by now; it may be another thread's. */
  private readerLeft(oc: Oc, meta: number): void {
    const { transfers, lock, memory, objcores, signals } = this.state;
    const transfer = transfers.get(oc);
    if (transfer !== undefined) {
      if (transfer.onConsume !== null) lock.after(transfer.onConsume);
    } else if (memory.isShared && (meta & row.OF_IN_LRU) === 0) {
      signals.readerLeft(objcores.get(oc, row.FETCHER) - 1, oc);
    }
  }

  /** The last reference has gone. A lookup without the lock may have taken one since and given it back, and may be here as
   * well: only one of them closes the row. */
  private release(oc: Oc): void {
    const { lock, objcores } = this.state;
    lock.hold(() => {
      if (objcores.exchange(oc, row.REFS, 0, CLOSED)) this.free(oc);
    });
  }

  /** Frees the unused end of a finished object's blocks once it has no readers. */
  trimWhenAlone(oc: Oc): void {
    this.state.lock.hold(() => this.trim(oc));
  }

  private trim(oc: Oc): void {
    const { objcores } = this.state;
    const meta = objcores.get(oc, row.META);
    if ((meta & row.OF_TRIM) === 0 || (meta & row.OF_INDEXED) === 0) return;
    // One reference, the index's: no reader holds a view, and a closed row admits none. Of an object outside the index the
    // last reference is a reader's.
    if (!objcores.exchange(oc, row.REFS, 1, CLOSED + 1)) return;
    try {
      this.state.memory.point();
      objcores.set(oc, row.META, meta & ~row.OF_TRIM);
      if ((meta & row.OF_MARKER) !== 0) this.store.dropBody(oc);
      else this.store.trim(oc);
    } finally {
      objcores.addTo(oc, row.REFS, -CLOSED);
    }
  }

  private take(flags: number): Oc {
    const { objcores, counters } = this.state;
    const oc = objcores.take();
    objcores.set(oc, row.VXID, this.unnamed());
    objcores.set(oc, row.META, withState(flags, row.STATE_BUSY));
    objcores.addTo(oc, row.REFS, 1 - CLOSED);
    if (this.state.memory.isShared) {
      // Marks the fetch as this thread's.
      this.store.transferOf(oc);
      objcores.set(oc, row.FETCHER, this.state.signals.thread + 1);
    }
    counters.n_objectcore++;
    return oc;
  }

  /** The id of an object whose fetch has not begun. Repeats after 2^31 objects: see decision 15. */
  private unnamed(): number {
    const made = ((this.made[0] as number) + 1) & 0x7fffffff;
    this.made[0] = made;
    return made | NO_VXID;
  }

  private free(oc: Oc): void {
    const { objcores, bans, counters } = this.state;
    if (objcores.get(oc, row.OBJHEAD) !== 0) this.detach(oc, false);
    const ban = objcores.get(oc, row.BAN);
    if (ban !== 0) bans.unref(ban);
    counters.n_objectcore--;
    const isRemoved = (objcores.get(oc, row.META) & row.OF_DYING) !== 0;
    if (isRemoved && objcores.get(oc, row.WHY_GONE) !== row.SLICES_PASSED_ON) this.dropSlices(oc);
    this.store.discard(oc);
  }
}
