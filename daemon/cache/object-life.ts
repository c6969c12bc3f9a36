// The life of an objcore in the index and by its references, with the last of which its row and memory go.
//
// A handle's holder has a reference until deref; the index holds one of its own, so that an eviction never takes what
// somebody is reading. Decides nothing about requests, and does not know what a fetch brings: see object-filling.ts.

import type { CacheState } from './cache-state.ts';
import type { Oh } from './key-index.ts';
import type { Lifetimes } from './lifetimes.ts';
import * as row from './objcore.ts';
import { CLOSED, type Oc, withState } from './objcore.ts';
import type { ObjectLru } from './object-lru.ts';
import type { ObjectStore } from './object-store.ts';
import type { References } from './roles.ts';

/** Marks what is not the id of a fetch: those are below it. */
const NO_VXID = 0x80000000 | 0;

export class ObjectLife implements References {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly lru: ObjectLru;
  private readonly lifetimes: Lifetimes;
  /** One word: objects made, of all threads. */
  private readonly made: Int32Array;

  constructor(state: CacheState, store: ObjectStore, lru: ObjectLru, lifetimes: Lifetimes) {
    this.state = state;
    this.store = store;
    this.lru = lru;
    this.lifetimes = lifetimes;
    this.made = state.memory.part('life').words(1);
  }

  /** A busy object under a key. `expected`: the variant it will probably become (vary.ts). The caller holds a reference. */
  newBusy(oh: Oh, expected: number): Oc {
    const { objcores, bans, purgeLog, objheads } = this.state;
    const oc = this.take(0);
    objcores.set(oc, row.OBJHEAD, oh);
    // Counted from now, not from the end of the fetch: a ban or purge that comes in between is tested.
    objcores.set(oc, row.BAN, bans.ref());
    objcores.set(oc, row.SURROGATE, purgeLog.newest);
    objcores.set(oc, row.EXPECTED, expected);
    objheads.linkFirst(oh, oc);
    return oc;
  }

  /** A busy object outside the index; the caller holds a reference. */
  newPrivate(): Oc {
    return this.take(row.OF_PRIVATE);
  }

  /** A purge is an end brought forward, and logged as one. */
  purge(oc: Oc, now: number): void {
    const { objcores, events, counters } = this.state;
    if ((objcores.get(oc, row.META) & row.OF_INDEXED) === 0) return;
    events.rearmed(oc, this.lifetimes.endOf(oc), now);
    events.expired(oc, 0);
    counters.exp_mailed++;
    counters.exp_received++;
    // As in Varnish: a purge ends an object's time.
    counters.n_expired++;
    this.kill(oc, false);
  }

  /** Takes an object out of the cache; those who hold references go on. `mailed`: the expiry learns it from
   * outside, which Varnish counts. */
  kill(oc: Oc, mailed = true): void {
    const { objcores, tags, expiryHeap, events, counters, objheads } = this.state;
    let meta = objcores.get(oc, row.META);
    if ((meta & row.OF_INDEXED) === 0) return;
    if ((meta & row.OF_TAGGED) !== 0) {
      tags.forget(oc);
      meta &= ~row.OF_TAGGED;
    }
    objcores.set(oc, row.META, (meta & ~row.OF_INDEXED) | row.OF_DYING);
    expiryHeap.remove(oc);
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

  /** Takes a busy object out of the index: its holder keeps it alone. `alone`: those who wait for it cannot share it. */
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

  /** Takes a reference without the lock, to what may have gone meanwhile; false when nobody may take one. */
  tryRef(oc: Oc): boolean {
    const before = this.state.objcores.addTo(oc, row.REFS, 1);
    if (before > 0 && before < CLOSED) return true;
    this.state.memory.point();
    this.deref(oc);
    return false;
  }

  deref(oc: Oc): void {
    const { objcores } = this.state;
    const refs = objcores.addTo(oc, row.REFS, -1) - 1;
    if (refs < 0) throw new Error(`objcore ${oc} has no reference to give back`);
    if (refs === 0) {
      this.state.memory.point();
      this.release(oc);
      return;
    }
    // Others may look at the row, which is free or about to be moved.
    if (refs >= CLOSED) return;
    const meta = objcores.get(oc, row.META);
    if ((meta & row.OF_TRIM) !== 0) {
      if (refs === 1) this.trimWhenAlone(oc);
    } else if (this.store.inTransitOnly(oc)) this.readerLeft(oc, meta);
  }

  /** The fetch of a body for one reader may be abandoned by now: it may be another thread's that learns it. */
  private readerLeft(oc: Oc, meta: number): void {
    const { transfers, lock, memory, objcores, peers } = this.state;
    const transfer = transfers.get(oc);
    if (transfer !== undefined) {
      if (transfer.onConsume !== null) lock.after(transfer.onConsume);
    } else if (memory.isShared && (meta & row.OF_IN_LRU) === 0) {
      peers.readerLeft(objcores.get(oc, row.FETCHER) - 1, oc);
    }
  }

  /** The last reference has gone. Who comes without the lock may have taken one since, and given it back, and be here
   * as well: one of them closes the row. */
  private release(oc: Oc): void {
    const { lock, objcores } = this.state;
    lock.enter();
    try {
      if (objcores.exchange(oc, row.REFS, 0, CLOSED)) this.free(oc);
    } finally {
      lock.leave();
    }
  }

  /** Gives back what a finished object's blocks have too much, once nobody reads it. */
  trimWhenAlone(oc: Oc): void {
    const { lock, objcores } = this.state;
    lock.enter();
    try {
      const meta = objcores.get(oc, row.META);
      if ((meta & row.OF_TRIM) === 0 || (meta & row.OF_INDEXED) === 0) return;
      // The index alone: no reader can hold a view, and none may come meanwhile. Of an object taken out of it, the last
      // reference is a reader's.
      if (!objcores.exchange(oc, row.REFS, 1, CLOSED + 1)) return;
      try {
        this.state.memory.point();
        objcores.set(oc, row.META, meta & ~row.OF_TRIM);
        if ((meta & row.OF_MARKER) !== 0) this.store.dropBody(oc);
        else this.store.trim(oc);
      } finally {
        objcores.addTo(oc, row.REFS, -CLOSED);
      }
    } finally {
      lock.leave();
    }
  }

  private take(flags: number): Oc {
    const { objcores, counters } = this.state;
    const oc = objcores.take();
    objcores.set(oc, row.VXID, this.unnamed());
    objcores.set(oc, row.META, withState(flags, row.STATE_BUSY));
    objcores.addTo(oc, row.REFS, 1 - CLOSED);
    if (this.state.memory.isShared) {
      // By this its thread knows the fetch as its own.
      this.store.transferOf(oc);
      objcores.set(oc, row.FETCHER, this.state.peers.thread + 1);
    }
    counters.n_objectcore++;
    return oc;
  }

  /** The id of an object whose fetch has not begun: no other object of this row has had it for a long time. */
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
    this.store.discard(oc);
  }
}
