// The life of an object core: busy, then stream (the head is visible, hits attach), then finished or failed;
// and its references, with the last of which its row and memory go.
//
// Who got a handle holds a reference until deref; the index holds one of its own, so that an eviction never
// takes what somebody is reading. Decides nothing about requests. Awkward: the order inside a step matters, as
// readers are told synchronously and may give their reference back while they are told.

import { type Attributes, attributesIn } from './attributes.ts';
import type { BanList } from './ban/ban-list.ts';
import type { ObjectEvents } from './cache-options.ts';
import type { CacheCounters } from './counters.ts';
import type { Expiry } from './expiry.ts';
import type { Oh } from './key-index.ts';
import * as row from './objcore.ts';
import { type Oc, stateIn, withState } from './objcore.ts';
import type { ObjectStore } from './object-store.ts';
import type { Objheads } from './objheads.ts';
import type { Rows } from './rows.ts';
import { markersBehind } from './superseded.ts';
import type { TagPurges } from './tags/tag-purges.ts';
import type { Uses } from './uses.ts';
import type { VaryKey } from './vary.ts';

export class ObjectLife {
  private readonly rows: Rows;
  private readonly store: ObjectStore;
  private readonly objheads: Objheads;
  private readonly expiry: Expiry;
  private readonly uses: Uses;
  private readonly bans: BanList;
  private readonly tags: TagPurges;
  private readonly counters: CacheCounters;
  private readonly events: ObjectEvents;

  constructor(o: {
    rows: Rows;
    store: ObjectStore;
    objheads: Objheads;
    expiry: Expiry;
    uses: Uses;
    bans: BanList;
    tags: TagPurges;
    counters: CacheCounters;
    events: ObjectEvents;
  }) {
    this.rows = o.rows;
    this.store = o.store;
    this.objheads = o.objheads;
    this.expiry = o.expiry;
    this.uses = o.uses;
    this.bans = o.bans;
    this.tags = o.tags;
    this.counters = o.counters;
    this.events = o.events;
  }

  /** A busy object under a key. `predicted`: the variant it will probably become. The caller
   * holds a reference. */
  newBusy(oh: Oh, predicted: VaryKey | null): Oc {
    const oc = this.take(0);
    this.rows.set(oc, row.OBJHEAD, oh);
    // Counted from now, not from the end of the fetch: a ban that comes in between is tested.
    this.rows.set(oc, row.BAN, this.bans.ref());
    this.tags.begin(oc);
    this.objheads.linkFirst(oh, oc);
    if (predicted !== null) this.store.liveOf(oc).predicted = predicted;
    return oc;
  }

  /** An object outside the index, for a pass; the caller holds a reference. */
  newPrivate(): Oc {
    return this.take(row.OF_PRIVATE);
  }

  setAttributes(oc: Oc, a: Attributes): void {
    const { rows } = this;
    rows.setDouble(oc, row.T_ORIGIN, a.tOrigin);
    rows.setDouble(oc, row.TTL, a.ttl);
    rows.setDouble(oc, row.GRACE, a.grace);
    rows.setDouble(oc, row.KEEP, a.keep);
    rows.set(oc, row.VXID, a.vxid);
    rows.set(oc, row.META, attributesIn(rows.get(oc, row.META), a.flags));
    this.reschedule(oc);
  }

  /** To be called when lifetimes have changed. */
  reschedule(oc: Oc): void {
    if ((this.rows.get(oc, row.META) & row.OF_INDEXED) === 0) return;
    const from = this.expiry.endOf(oc);
    const to = this.endOf(oc);
    this.expiry.set(oc, to);
    if (from === null) this.events.inserted(oc, to);
    else this.events.rearmed(oc, from, to);
  }

  /** When the object is of no use any more, in epoch seconds. */
  endOf(oc: Oc): number {
    const { rows } = this;
    return (
      rows.getDouble(oc, row.T_ORIGIN) +
      rows.getDouble(oc, row.TTL) +
      rows.getDouble(oc, row.GRACE) +
      rows.getDouble(oc, row.KEEP)
    );
  }

  unbusy(oc: Oc, uncacheable: boolean): void {
    if (this.publish(oc, uncacheable)) this.store.live.get(oc)?.notify();
  }

  finish(oc: Oc, uncacheable: boolean): void {
    this.publish(oc, uncacheable);
    const { rows } = this;
    const meta = withState(rows.get(oc, row.META), row.STATE_FINISHED);
    rows.set(oc, row.META, meta | row.OF_TRIM);
    if ((meta & row.OF_INDEXED) !== 0) {
      this.uses.enter(oc);
      this.killMarkersBehind(oc);
    }
    const live = this.store.live.get(oc);
    if (!this.store.inTransitOnly(oc)) this.store.live.delete(oc);
    live?.notify();
    this.trimWhenAlone(oc);
  }

  fail(oc: Oc): void {
    const { rows } = this;
    const meta = rows.get(oc, row.META);
    const state = stateIn(meta);
    if (state === row.STATE_FAILED || state === row.STATE_FINISHED) return;
    rows.set(oc, row.META, withState(meta, row.STATE_FAILED));
    const oh = rows.get(oc, row.OBJHEAD);
    this.ref(oc);
    if (state === row.STATE_BUSY) this.detach(oc, true);
    else if (oh !== 0) this.kill(oc);
    this.store.live.get(oc)?.notify();
    this.deref(oc);
  }

  /** A purge is an end brought forward, and told as one. */
  purge(oc: Oc, now: number): void {
    if ((this.rows.get(oc, row.META) & row.OF_INDEXED) === 0) return;
    this.events.rearmed(oc, this.endOf(oc), now);
    this.events.expired(oc, 0);
    this.counters.exp_mailed++;
    this.counters.exp_received++;
    // As Varnish: a purge ends an object's time.
    this.counters.n_expired++;
    this.kill(oc, false);
  }

  /** Takes an object out of the cache; those who hold references go on. `mailed`: the expiry learns it from
   * outside, which Varnish counts. */
  kill(oc: Oc, mailed = true): void {
    const { rows } = this;
    let meta = rows.get(oc, row.META);
    if ((meta & row.OF_INDEXED) === 0) return;
    if ((meta & row.OF_TAGGED) !== 0) {
      this.tags.index.forget(oc);
      meta &= ~row.OF_TAGGED;
    }
    rows.set(oc, row.META, (meta & ~row.OF_INDEXED) | row.OF_DYING);
    this.expiry.remove(oc);
    if (mailed) {
      this.events.removed(oc, this.endOf(oc));
      this.counters.exp_mailed++;
      this.counters.exp_received++;
    }
    this.uses.leave(oc);
    const oh = rows.get(oc, row.OBJHEAD);
    rows.set(oc, row.OBJHEAD, 0);
    this.objheads.unlink(oh, oc);
    this.objheads.drop(oh);
    this.deref(oc);
  }

  /** Whether somebody waits for an object of its key. */
  hasWaiters(oc: Oc): boolean {
    const oh = this.rows.get(oc, row.OBJHEAD);
    return oh !== 0 && this.objheads.hasWaiters(oh);
  }

  /** Takes a busy object out of the index: what it becomes is its holder's alone. */
  detach(oc: Oc, alone: boolean): void {
    const { rows } = this;
    const oh = rows.get(oc, row.OBJHEAD);
    if (oh === 0) return;
    rows.set(oc, row.OBJHEAD, 0);
    rows.set(oc, row.META, rows.get(oc, row.META) | row.OF_PRIVATE);
    this.objheads.unlink(oh, oc);
    this.objheads.rush(oh, alone);
    this.objheads.drop(oh);
  }

  ref(oc: Oc): void {
    this.rows.set(oc, row.REFS, this.rows.get(oc, row.REFS) + 1);
  }

  deref(oc: Oc): void {
    const { rows } = this;
    const refs = rows.get(oc, row.REFS) - 1;
    if (refs < 0) throw new Error(`objcore ${oc} has no reference to give back`);
    rows.set(oc, row.REFS, refs);
    if (refs === 0) {
      this.free(oc);
      return;
    }
    const meta = rows.get(oc, row.META);
    if ((meta & row.OF_TRIM) !== 0) this.trimWhenAlone(oc);
    else if (this.store.inTransitOnly(oc)) this.store.live.get(oc)?.onConsume?.();
  }

  /** Busy to stream, without telling readers; false when it was not busy. */
  private publish(oc: Oc, uncacheable: boolean): boolean {
    const { rows } = this;
    if (stateIn(rows.get(oc, row.META)) !== row.STATE_BUSY) return false;
    this.file(oc);
    const meta = rows.get(oc, row.META);
    if ((meta & row.OF_PRIVATE) !== 0) {
      rows.set(oc, row.META, withState(meta, row.STATE_STREAM));
      return true;
    }
    const oh = rows.get(oc, row.OBJHEAD);
    rows.set(oc, row.META, withState(meta | row.OF_INDEXED, row.STATE_STREAM));
    this.ref(oc);
    this.reschedule(oc);
    this.counters.exp_mailed++;
    this.counters.exp_received++;
    this.objheads.unlink(oh, oc);
    this.objheads.linkFirst(oh, oc);
    this.objheads.rush(oh, uncacheable || (meta & row.OF_MARKER) !== 0);
    return true;
  }

  /** Files an object under its surrogate keys. Markers have keys, too. One that must not be found becomes
   * its holder's alone. */
  private file(oc: Oc): void {
    const keys = this.store.live.get(oc)?.tags ?? null;
    if (keys === null || (this.rows.get(oc, row.META) & row.OF_PRIVATE) !== 0) return;
    const filed = this.tags.admit(oc, keys);
    if (filed === 'filed') return;
    if (filed === 'full') this.counters.xkey_refused++;
    this.detach(oc, false);
  }

  /** Older markers go as soon as this object hides them; one without a ttl is not found and hides nothing. */
  private killMarkersBehind(oc: Oc): void {
    if (this.rows.getDouble(oc, row.TTL) <= 0) return;
    for (const marker of markersBehind(this.rows, this.store, oc)) this.kill(marker);
  }

  private take(flags: number): Oc {
    const oc = this.rows.take();
    this.rows.set(oc, row.REFS, 1);
    this.rows.set(oc, row.META, withState(flags, row.STATE_BUSY));
    this.counters.n_objectcore++;
    return oc;
  }

  private free(oc: Oc): void {
    const { rows } = this;
    if (rows.get(oc, row.OBJHEAD) !== 0) this.detach(oc, false);
    const ban = rows.get(oc, row.BAN);
    if (ban !== 0) this.bans.unref(ban);
    this.counters.n_objectcore--;
    this.store.discard(oc);
  }

  private trimWhenAlone(oc: Oc): void {
    const { rows } = this;
    const meta = rows.get(oc, row.META);
    // The index alone: no reader can hold a view. Of an object taken out of it, the last reference is a reader's.
    if (rows.get(oc, row.REFS) > 1 || (meta & row.OF_INDEXED) === 0) return;
    rows.set(oc, row.META, meta & ~row.OF_TRIM);
    if ((meta & row.OF_MARKER) !== 0) this.store.dropBody(oc);
    else this.store.trim(oc);
  }
}
