// A fetch's side of its object: busy, then stream (the head is visible, hits attach), then finished or failed.
//
// Caution: the order inside a step matters, as readers are called synchronously and may give their reference back. A
// marker (hit-for-miss, hit-for-pass) removes older ones of its variant: many fetches of an uncacheable URL run at once,
// and their markers would pile up until they expire.

import type { LentBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { CacheState } from './cache-state.ts';
import { setGunzippedLength } from './head-codec.ts';
import type { Oh } from './key-index.ts';
import type { Attributes, Lifetimes } from './lifetimes.ts';
import * as row from './objcore.ts';
import { type Oc, stateIn, withState } from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectLru } from './object-lru.ts';
import type { ObjectStore } from './object-store.ts';
import { decodePart, encodePart, type Segment, withPart } from './part-facts.ts';
import { tagsOf } from './tags/tag-headers.ts';
import { sameNames, sameStored, type VaryKey } from './vary.ts';

/** Surrogate keys an object may have; one with more is not kept, since a purge could not process it within a step. */
const MOST_KEYS = 4096;
/** Objects after a new one that are searched for markers; the next fetch finds the rest. */
const MARKER_SEARCH = 16;
/** Objects of a key, busy ones aside, that are searched for one whose variant is hashed (chosen). */
const SIBLING_SEARCH = 64;

/** Attributes stored with the head of a slice. */
export interface StoredSlice {
  /** Bytes of the body. */
  readonly length: number;
  /** A surrogate key of the proxy's own; null for the slice that has the object's head. */
  readonly tag: string | null;
  readonly annex: Uint8Array;
}

export class ObjectFilling {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly lru: ObjectLru;
  private readonly lifetimes: Lifetimes;
  private readonly life: ObjectLife;

  constructor(state: CacheState, store: ObjectStore, lru: ObjectLru, lifetimes: Lifetimes, life: ObjectLife) {
    this.state = state;
    this.store = store;
    this.lru = lru;
    this.lifetimes = lifetimes;
    this.life = life;
  }

  /** An object outside the index, for a pass; the caller holds a reference. */
  newPrivate(): Oc {
    return this.state.lock.hold(() => this.life.newPrivate());
  }

  setAttributes(oc: Oc, a: Attributes): void {
    this.state.lock.hold(() => this.lifetimes.setAttributes(oc, a));
  }

  /** A new busy object is to have the head of slices, of which it brings one (part-facts.ts). */
  announceSlices(oc: Oc, set: number, index: number): void {
    this.state.lock.hold(() => {
      this.state.objcores.setDouble(oc, row.COMING_INDEX, index);
      this.state.objcores.setDouble(oc, row.COMING_SET, set);
    });
  }

  /** Slices of the set are asked for; false when the object has its head by now, or will have none. */
  askForSlices(oc: Oc, set: number): boolean {
    return this.state.lock.hold(() => {
      const { objcores } = this.state;
      if (objcores.getDouble(oc, row.COMING_SET) !== set) return false;
      const index = objcores.getDouble(oc, row.COMING_INDEX);
      if (index >= 0) objcores.setDouble(oc, row.COMING_INDEX, -1 - index);
      return true;
    });
  }

  /** It is not to have one. Whether slices were asked for. */
  withdrawSlices(oc: Oc, set: number): boolean {
    return this.state.lock.hold(() => {
      const { objcores } = this.state;
      if (objcores.getDouble(oc, row.COMING_SET) !== set) return false;
      objcores.setDouble(oc, row.COMING_SET, 0);
      return objcores.getDouble(oc, row.COMING_INDEX) < 0;
    });
  }

  /** Stores the response head, replacing an earlier one and its body; false when there is no room. Storage null takes any but
   * Transient. A Content-Length decides how much room the body gets at once. The reader of a private object gets the
   * message itself, which must not change until takeBackHead(). */
  storeHead(
    oc: Oc,
    storage: string | null,
    msg: HttpMessage,
    vary: VaryKey | null,
    slice: StoredSlice | null = null,
  ): boolean {
    return this.state.lock.hold(() => {
      const { store } = this;
      if (!store.storeHead(oc, storage, msg, vary, slice?.length)) return false;
      const tags = tagsOf(msg, this.state.limits.tagHeaders);
      const tag = slice?.tag ?? null;
      store.transferOf(oc).tags = tag === null ? tags : [...(tags ?? []), tag];
      return slice === null || store.setAnnex(oc, slice.annex, 0);
    });
  }

  /** The fetch is about to change the message that it lent; remaining readers get the stored head. */
  takeBackHead(oc: Oc): void {
    this.store.takeBackHead(oc);
  }

  /** Prepares a private object for a body without a head, that of a request: it stays until its last reference goes, also
   * after it was read. `length` is -1 when unknown. False when there is no room. */
  beginBody(oc: Oc, storage: string, length: number): boolean {
    return this.state.lock.hold(() => this.store.beginBody(oc, storage, length));
  }

  /** The body of beginBody() is complete. */
  endBody(oc: Oc): void {
    this.state.lock.hold(() => {
      // It has no readers yet.
      this.store.trim(oc);
      this.complete(oc, false);
    });
  }

  /** Appends body bytes; false when there is no room: the object must then be failed. */
  append(oc: Oc, buf: LentBytes, start: number, end: number): boolean {
    return this.store.append(oc, buf, start, end);
  }

  setGunzippedLength(oc: Oc, length: number): void {
    setGunzippedLength(this.store.headChunk(oc), this.store.headAt(oc), length);
  }

  /** Stores bytes beside the body: what a filter has computed from it. `flags` (OF_) are set with them. False when there is no
   * room. */
  setAnnex(oc: Oc, bytes: Uint8Array, flags = 0): boolean {
    return this.state.lock.hold(() => this.store.setAnnex(oc, bytes, flags));
  }

  /** Adds a part to the list of the first one, if there is room. */
  addPart(first: Oc, place: Segment): void {
    this.state.lock.hold(() => {
      const annex = this.store.annex(first);
      const more = annex === null ? null : withPart(decodePart(annex), place);
      if (more !== null) this.store.setAnnex(first, encodePart(more), 0);
    });
  }

  /** Makes the head visible: from now on hits attach, and waiters look up again. `uncacheable`: they will not find an object
   * to share, so all are woken at once. */
  unbusy(oc: Oc, uncacheable = false): void {
    this.state.lock.hold(() => {
      if (this.publish(oc, uncacheable)) this.store.notifyReaders(oc, this.state.transfers.get(oc));
    });
  }

  /** The body is complete. An object that was not streamed becomes visible now, as a whole. */
  finish(oc: Oc, uncacheable = false): void {
    this.state.lock.hold(() => this.complete(oc, uncacheable));
  }

  private complete(oc: Oc, uncacheable: boolean): void {
    this.publish(oc, uncacheable);
    const { objcores, transfers } = this.state;
    const meta = withState(objcores.get(oc, row.META), row.STATE_FINISHED);
    // Published: a reader without the lock that sees this state sees the whole body.
    objcores.publish(oc, row.META, meta | row.OF_TRIM);
    if ((meta & row.OF_INDEXED) !== 0) {
      this.lru.enter(oc);
      this.killMarkersAfter(oc);
      this.killReplaced(oc, meta, transfers.get(oc)?.replaces ?? 'nothing');
      this.state.tier?.completed(oc);
    }
    const transfer = transfers.get(oc);
    if (!this.store.inTransitOnly(oc)) transfers.delete(oc);
    this.store.notifyReaders(oc, transfer);
    if (objcores.get(oc, row.REFS) === 1) this.life.trimWhenAlone(oc);
  }

  /** The fetch failed: lookups no longer find the object, readers are notified, waiters are woken at once. */
  fail(oc: Oc): void {
    this.state.lock.hold(() => this.abort(oc));
  }

  private abort(oc: Oc): void {
    const { objcores, transfers } = this.state;
    const { life } = this;
    const meta = objcores.get(oc, row.META);
    const state = stateIn(meta);
    if (state === row.STATE_FAILED || state === row.STATE_FINISHED) return;
    objcores.set(oc, row.META, withState(meta, row.STATE_FAILED));
    const oh = objcores.get(oc, row.OBJHEAD);
    life.ref(oc);
    if (state === row.STATE_BUSY) life.detach(oc, true);
    else if (oh !== 0) life.kill(oc);
    this.store.notifyReaders(oc, transfers.get(oc));
    // The last reader may be on another thread.
    if (!this.store.inTransitOnly(oc)) transfers.delete(oc);
    this.state.lock.after(() => life.deref(oc));
  }

  /** Whether requests wait for this busy object. */
  hasWaiters(oc: Oc): boolean {
    const oh = this.state.objcores.get(oc, row.OBJHEAD);
    return oh !== 0 && this.state.objheads.hasWaiters(oh);
  }

  /** Whether only the fetch itself (and the index) still holds the object. */
  isAbandoned(oc: Oc): boolean {
    const { objcores } = this.state;
    const ofIndex = (objcores.get(oc, row.META) & row.OF_INDEXED) !== 0 ? 1 : 0;
    return objcores.get(oc, row.REFS) <= 1 + ofIndex;
  }

  /** Stored bytes that the single reader has not consumed yet. */
  inTransit(oc: Oc): number {
    return this.state.objcores.getDouble(oc, row.BODY_LENGTH) - (this.state.transfers.get(oc)?.consumed ?? 0);
  }

  /** Sets the callback of the fetch of a body for one reader, called when that reader consumes or leaves. */
  onConsume(oc: Oc, moved: () => void): void {
    this.store.transferOf(oc).onConsume = moved;
  }

  /** Busy to stream, without notifying readers; false when it was not busy. */
  private publish(oc: Oc, uncacheable: boolean): boolean {
    const { objcores, objheads } = this.state;
    if (stateIn(objcores.get(oc, row.META)) !== row.STATE_BUSY) return false;
    this.fileUnderKeys(oc);
    const meta = objcores.get(oc, row.META);
    if ((meta & row.OF_PRIVATE) !== 0) {
      objcores.set(oc, row.META, withState(meta, row.STATE_STREAM));
      return true;
    }
    const oh = objcores.get(oc, row.OBJHEAD);
    this.life.ref(oc);
    const shared = this.isForWaiters(oc, oh, meta) ? row.OF_FOR_WAITERS : 0;
    objcores.publish(oc, row.META, withState(meta | row.OF_INDEXED | shared, row.STATE_STREAM));
    this.lifetimes.mail(oc);
    objheads.unlink(oh, oc);
    objcores.set(oc, row.VARIANT, 0);
    if ((meta & row.OF_HAS_VARY) !== 0 && !this.isInCrowd(oh)) this.hashVariantOf(oc, oh);
    objheads.linkFirst(oh, oc);
    objheads.rush(oh, uncacheable || (meta & row.OF_MARKER) !== 0);
    return true;
  }

  /** Whether an object that later requests do not find, as it has no ttl, is for those who wait for it (varnish_release=9.0). */
  private isForWaiters(oc: Oc, oh: Oh, meta: number): boolean {
    const { objcores, objheads, transfers } = this.state;
    if (transfers.get(oc)?.servesWaiters !== true || (meta & row.OF_MARKER) !== 0) return false;
    return objcores.getDouble(oc, row.TTL) <= 0 && objheads.hasWaiters(oh);
  }

  /** Adds an object, also a marker, to its surrogate keys. One that must not be found, because a key was purged since its fetch
   * began or because there is no room for its keys, becomes private. */
  private fileUnderKeys(oc: Oc): void {
    const { objcores, transfers, tags, purgeLog, limits, counters } = this.state;
    const keys = transfers.get(oc)?.tags ?? null;
    if (keys === null || (objcores.get(oc, row.META) & row.OF_PRIVATE) !== 0) return;
    if (purgeLog.purgedSince(objcores.get(oc, row.SURROGATE), keys)) {
      this.life.detach(oc, false);
    } else if (keys.length > MOST_KEYS || (limits.tagSpace > 0 && tags.bytes >= limits.tagSpace)) {
      counters.xkey_refused++;
      this.life.detach(oc, false);
    } else {
      for (const key of keys) tags.add(oc, key);
    }
  }

  /** Whether the index of a crowd knows the variants of a key's objects. */
  private isInCrowd(oh: Oh): boolean {
    return this.state.crowds.isIndexed(this.state.objheads.crowdOf(oh));
  }

  /** The next older object that may be of the same variant. */
  private olderThan(oc: Oc, isInCrowd: boolean): Oc {
    return isInCrowd ? this.state.crowds.olderThan(oc) : this.state.objcores.get(oc, row.KEY_NEXT);
  }

  /** Hashes the variant of an object, unless other hashed ones of its key vary by other headers. */
  private hashVariantOf(oc: Oc, oh: number): void {
    const { objcores, objheads } = this.state;
    const { store } = this;
    let other = objheads.first(oh);
    for (let looked = 0; other !== 0; ) {
      // There may be any number of busy ones: they are not counted.
      const isBusy = stateIn(objcores.get(other, row.META)) === row.STATE_BUSY;
      if (!isBusy && looked++ === SIBLING_SEARCH) return;
      if (!isBusy && objcores.get(other, row.VARIANT) !== 0) {
        const same = sameNames(
          store.headChunk(oc),
          store.varyAt(oc),
          store.headChunk(other),
          store.varyAt(other),
        );
        if (!same) return;
        break;
      }
      other = objcores.get(other, row.KEY_NEXT);
    }
    objcores.set(oc, row.VARIANT, this.state.variantHash.ofStored(store.headChunk(oc), store.varyAt(oc)));
  }

  /** Removes older markers that this object hides; one without a ttl is not found and hides nothing. */
  private killMarkersAfter(oc: Oc): void {
    const { objcores } = this.state;
    if (objcores.getDouble(oc, row.TTL) <= 0) return;
    const isFailure = (objcores.get(oc, row.META) & row.OF_FAILURE) !== 0;
    const hidden: Oc[] = [];
    const isInCrowd = this.isInCrowd(objcores.get(oc, row.OBJHEAD));
    let other = this.olderThan(oc, isInCrowd);
    for (let looked = 0; other !== 0 && looked < MARKER_SEARCH; looked++) {
      const meta = objcores.get(other, row.META);
      const isMarker = (meta & row.OF_MARKER) !== 0 && stateIn(meta) === row.STATE_FINISHED;
      // Older objects behind a marker that is not a failure's must not become visible again.
      const mayGo = !isFailure || (meta & row.OF_FAILURE) !== 0;
      if (isMarker && mayGo && this.sameVariant(oc, other)) hidden.push(other);
      other = this.olderThan(other, isInCrowd);
    }
    for (const marker of hidden) this.life.kill(marker);
  }

  /** A forced miss replaces the requested variant, or all: removes older whole ones. Markers and failures replace nothing. */
  private killReplaced(oc: Oc, meta: number, replaces: 'nothing' | 'variant' | 'all'): void {
    const { objcores } = this.state;
    const isOther = (meta & (row.OF_MARKER | row.OF_FAILURE)) !== 0;
    if (replaces === 'nothing' || isOther || objcores.getDouble(oc, row.TTL) <= 0) return;
    this.invalidateCopies(oc);
    const replaced: Oc[] = [];
    const isInCrowd = replaces === 'variant' && this.isInCrowd(objcores.get(oc, row.OBJHEAD));
    for (let other = this.olderThan(oc, isInCrowd); other !== 0; other = this.olderThan(other, isInCrowd)) {
      const whole = stateIn(objcores.get(other, row.META)) === row.STATE_FINISHED;
      if (whole && (replaces === 'all' || this.sameVariant(oc, other))) replaced.push(other);
    }
    for (const other of replaced) this.life.supersede(other, oc);
  }

  /** Objects replaced by a forced miss must not be loaded from the disk tier again. The new object counts as
   * newer than that invalidation. */
  private invalidateCopies(oc: Oc): void {
    const { tier, objheads, objcores, transfers } = this.state;
    if (tier === null) return;
    tier.invalidated('key', objheads.keyOf(objcores.get(oc, row.OBJHEAD)));
    const transfer = transfers.get(oc);
    if (transfer !== undefined && transfer.since >= 0) transfer.since = tier.newest;
  }

  private sameVariant(a: Oc, b: Oc): boolean {
    const { objcores } = this.state;
    const { store } = this;
    const varies = objcores.get(a, row.META) & row.OF_HAS_VARY;
    if (varies !== (objcores.get(b, row.META) & row.OF_HAS_VARY)) return false;
    return (
      varies === 0 || sameStored(store.headChunk(a), store.varyAt(a), store.headChunk(b), store.varyAt(b))
    );
  }
}
