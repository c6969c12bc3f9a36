// A fetch's side of its object: busy, then stream (the head is visible, hits attach), then finished or failed.
//
// Caution: the order inside a step matters, as readers are called synchronously and may give their reference back
// meanwhile. A marker (hit-for-miss, hit-for-pass) takes older ones of its variant with it, since many fetches of an
// uncacheable URL run at once and start from the same one: the others would pile up until they expire.

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
import type { Filling } from './roles.ts';
import { tagsOf } from './tags/tag-headers.ts';
import { hashStored, sameNames, sameStored, type VaryKey } from './vary.ts';

/** Surrogate keys an object may have; one with more is not kept, since a purge could not get to it within a step. */
const MOST_KEYS = 4096;
/** Objects after a new one in which markers are looked for: those that it leaves, the next fetch finds. */
const MARKER_SEARCH = 16;
/** Objects of a key, without those that are being fetched, that are looked at for one whose variant is hashed (chosen). */
const SIBLING_SEARCH = 64;

export class ObjectFilling implements Filling {
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

  newPrivate(): Oc {
    return this.life.newPrivate();
  }

  setAttributes(oc: Oc, a: Attributes): void {
    this.lifetimes.setAttributes(oc, a);
  }

  storeHead(oc: Oc, storage: string | null, msg: HttpMessage, vary: VaryKey | null): boolean {
    if (!this.store.storeHead(oc, storage, msg, vary)) return false;
    this.store.transferOf(oc).tags = tagsOf(msg, this.state.limits.tagHeaders);
    return true;
  }

  beginBody(oc: Oc, storage: string, length: number): boolean {
    return this.store.beginBody(oc, storage, length);
  }

  endBody(oc: Oc): void {
    // Nobody reads it yet.
    this.store.trim(oc);
    this.finish(oc);
  }

  takeBackHead(oc: Oc): void {
    this.store.takeBackHead(oc);
  }

  append(oc: Oc, buf: LentBytes, start: number, end: number): boolean {
    return this.store.append(oc, buf, start, end);
  }

  setGunzippedLength(oc: Oc, length: number): void {
    setGunzippedLength(this.store.headChunk(oc), this.store.headAt(oc), length);
  }

  setAnnex(oc: Oc, bytes: Uint8Array, flags = 0): boolean {
    return this.store.setAnnex(oc, bytes, flags);
  }

  unbusy(oc: Oc, uncacheable = false): void {
    if (this.publish(oc, uncacheable)) this.store.tellReaders(oc, this.state.transfers.get(oc));
  }

  finish(oc: Oc, uncacheable = false): void {
    this.publish(oc, uncacheable);
    const { objcores, transfers } = this.state;
    const meta = withState(objcores.get(oc, row.META), row.STATE_FINISHED);
    // Who sees this without the lock sees the body whole.
    objcores.publish(oc, row.META, meta | row.OF_TRIM);
    if ((meta & row.OF_INDEXED) !== 0) {
      this.lru.enter(oc);
      this.killMarkersAfter(oc);
      this.killReplaced(oc, meta, transfers.get(oc)?.replaces ?? 'nothing');
    }
    const transfer = transfers.get(oc);
    if (!this.store.inTransitOnly(oc)) transfers.delete(oc);
    this.store.tellReaders(oc, transfer);
    if (objcores.get(oc, row.REFS) === 1) this.life.trimWhenAlone(oc);
  }

  fail(oc: Oc): void {
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
    this.store.tellReaders(oc, transfers.get(oc));
    // The last reader may be another thread's.
    if (!this.store.inTransitOnly(oc)) transfers.delete(oc);
    this.state.lock.after(() => life.deref(oc));
  }

  hasWaiters(oc: Oc): boolean {
    const oh = this.state.objcores.get(oc, row.OBJHEAD);
    return oh !== 0 && this.state.objheads.hasWaiters(oh);
  }

  isAbandoned(oc: Oc): boolean {
    const { objcores } = this.state;
    const ofIndex = (objcores.get(oc, row.META) & row.OF_INDEXED) !== 0 ? 1 : 0;
    return objcores.get(oc, row.REFS) <= 1 + ofIndex;
  }

  inTransit(oc: Oc): number {
    return this.state.objcores.getDouble(oc, row.BODY_LENGTH) - (this.state.transfers.get(oc)?.consumed ?? 0);
  }

  onConsume(oc: Oc, moved: () => void): void {
    this.store.transferOf(oc).onConsume = moved;
  }

  /** Busy to stream, without a word to readers; false when it was not busy. */
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
    objcores.publish(oc, row.META, withState(meta | row.OF_INDEXED, row.STATE_STREAM));
    this.lifetimes.mail(oc);
    objheads.unlink(oh, oc);
    objcores.set(oc, row.VARIANT, 0);
    if ((meta & row.OF_HAS_VARY) !== 0 && !this.isInCrowd(oh)) this.hashVariantOf(oc, oh);
    objheads.linkFirst(oh, oc);
    objheads.rush(oh, uncacheable || (meta & row.OF_MARKER) !== 0);
    return true;
  }

  /** Files an object under its surrogate keys. Markers have keys, too. One that must not be found, because a key was
   * purged since its fetch began or because there is no room to keep its keys, becomes its holder's alone. */
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

  /** An object whose variant is hashed has the same names as all others of its key that are. */
  private hashVariantOf(oc: Oc, oh: number): void {
    const { objcores, objheads } = this.state;
    const { store } = this;
    let other = objheads.first(oh);
    for (let looked = 0; other !== 0; ) {
      // A crowd may have begun to fetch its variants since the last one came.
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
    objcores.set(oc, row.VARIANT, hashStored(store.headChunk(oc), store.varyAt(oc)));
  }

  /** Older markers go as soon as this object hides them; one without a ttl is not found and hides nothing. */
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
      // Behind a marker that is none of a failure there may be what must not come back.
      const mayGo = !isFailure || (meta & row.OF_FAILURE) !== 0;
      if (isMarker && mayGo && this.sameVariant(oc, other)) hidden.push(other);
      other = this.olderThan(other, isInCrowd);
    }
    for (const marker of hidden) this.life.kill(marker);
  }

  /** A forced miss replaces the variant that was asked for, or all: what it has made older goes as soon as it is whole.
   * Neither a marker nor a failure does. */
  private killReplaced(oc: Oc, meta: number, replaces: 'nothing' | 'variant' | 'all'): void {
    const { objcores } = this.state;
    const isOther = (meta & (row.OF_MARKER | row.OF_FAILURE)) !== 0;
    if (replaces === 'nothing' || isOther || objcores.getDouble(oc, row.TTL) <= 0) return;
    const replaced: Oc[] = [];
    const isInCrowd = replaces === 'variant' && this.isInCrowd(objcores.get(oc, row.OBJHEAD));
    for (let other = this.olderThan(oc, isInCrowd); other !== 0; other = this.olderThan(other, isInCrowd)) {
      const whole = stateIn(objcores.get(other, row.META)) === row.STATE_FINISHED;
      if (whole && (replaces === 'all' || this.sameVariant(oc, other))) replaced.push(other);
    }
    for (const other of replaced) this.life.kill(other);
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
