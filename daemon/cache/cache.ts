// The cache: objects under keys, with variants, lifetimes, bans and the requests that wait for them.
//
// Composes the parts of this folder; request and fetch state machines talk to this class only, in handles
// (Oc), never in objects. Nothing here waits and nothing calls into a state machine, except readers' progress
// (at once) and waiters' wake (deferred). References: who got a handle holds one until deref; the index holds
// one of its own, so that an eviction never takes what somebody is reading.

import { HttpMessage } from '../http1/message.ts';
import type { StorageSpec } from '../link.ts';
import {
  type BanExpression,
  type BanSubject,
  type CompileRegex,
  parseBan,
  parseBanText,
} from './ban/ban-expression.ts';
import { type Ban, BanList } from './ban/ban-list.ts';
import type { CacheCounters } from './counters.ts';
import { Expiry } from './expiry.ts';
import { gunzippedLength, setGunzippedLength, statusOf, wireLength, wireStart } from './head-codec.ts';
import { KeyIndex, type Oh } from './key-index.ts';
import type { ProgressReader } from './live.ts';
import { Lookup, type LookupQuery, type LookupResult } from './lookup.ts';
import * as row from './objcore.ts';
import { type Oc, type OcState, stateIn, withState } from './objcore.ts';
import { ObjectStore } from './object-store.ts';
import { Rows } from './rows.ts';
import type { ChunkBytes, SlabStats } from './storage/slab.ts';
import { TRANSIENT } from './storage/stevedore.ts';
import { matchesKey, matchesStored, resolveVary, storedNames, unmatchable, type VaryKey } from './vary.ts';
import { type Waiter, WaitingList } from './waiting-list.ts';

export { Lookup, LookupQuery, LookupResult } from './lookup.ts';
export type { Oc } from './objcore.ts';
export type { VaryKey } from './vary.ts';

/** What setAttributes takes in `flags`. */
export const FLAG = {
  HIT_MISS: row.OF_HIT_MISS,
  HIT_PASS: row.OF_HIT_PASS,
  GZIPPED: row.OF_GZIPPED,
  CHG_GZIP: row.OF_CHG_GZIP,
  ESI: row.OF_ESI,
  IMS_CANDIDATE: row.OF_IMS_CANDIDATE,
  UNCACHEABLE: row.OF_UNCACHEABLE,
} as const;

/** Parameters the cache reads each time it needs them, so that a change takes effect at once. */
export interface CacheLimits {
  nukeLimit: number;
  rushExponent: number;
  /** Seconds between two moves of one object in the LRU. */
  lruInterval: number;
  gzipSupport: boolean;
  banDups: boolean;
}

export interface CacheOptions {
  storages: readonly StorageSpec[];
  counters: CacheCounters;
  limits: CacheLimits;
  compileRegex: CompileRegex;
  /** Epoch seconds now. */
  now: number;
  /** 64 random bits for the index's hash, as two 32-bit integers. */
  seed: readonly [number, number];
  /** Runs something after the current step; setImmediate when absent. */
  defer?: (run: () => void) => void;
  /** Milliseconds from a steady clock, for bounded steps; performance.now when absent. */
  millis?: () => number;
  /** Told before the object goes: LRU eviction or expiry (for the ExpKill record). */
  onKill?: (why: 'LRU' | 'EXP', oc: Oc) => void;
}

export interface Attributes {
  tOrigin: number;
  ttl: number;
  grace: number;
  keep: number;
  vxid: number;
  /** Of FLAG. */
  flags: number;
}

/** New lifetimes of a soft purge, in seconds: ttl from now; negative leaves as it is. */
export interface SoftPurge {
  ttl: number;
  grace: number;
  keep: number;
}

export class Cache {
  readonly counters: CacheCounters;
  readonly limits: CacheLimits;
  readonly bans: BanList;
  private readonly rows = new Rows(row.OBJCORE_WORDS);
  private readonly index: KeyIndex;
  private readonly store: ObjectStore;
  private readonly expiry: Expiry;
  private readonly waiting: WaitingList;
  private readonly compileRegex: CompileRegex;
  private readonly epoch: number;
  private readonly millis: () => number;
  private readonly onKill: (why: 'LRU' | 'EXP', oc: Oc) => void;
  private readonly defer: (run: () => void) => void;
  /** Scratch for the head of an object under a ban's test. */
  private readonly banHead = new HttpMessage(0);
  /** Objects a lookup found banned. */
  private readonly banned: Oc[] = [];

  constructor(o: CacheOptions) {
    this.counters = o.counters;
    this.limits = o.limits;
    this.compileRegex = o.compileRegex;
    this.epoch = Math.floor(o.now) - 1;
    this.millis = o.millis ?? (() => performance.now());
    this.onKill = o.onKill ?? (() => {});
    this.defer = o.defer ?? ((run) => setImmediate(run));
    this.index = new KeyIndex(o.seed[0], o.seed[1]);
    this.bans = new BanList(o.now, o.counters);
    this.expiry = new Expiry(this.rows, this.epoch);
    this.store = new ObjectStore({
      rows: this.rows,
      storages: o.storages,
      counters: o.counters,
      nukeLimit: () => this.limits.nukeLimit,
      evict: (oc) => {
        this.onKill('LRU', oc);
        this.kill(oc);
      },
    });
    this.waiting = new WaitingList({
      defer: this.defer,
      exponent: () => this.limits.rushExponent,
      onEmpty: (oh) => this.dropKey(oh),
    });
  }

  // ---- lookup

  /** Finds what the key has for this request. Fresh objects win over stale ones, a stale one in grace over
   * waiting, and a matching busy one makes the caller wait. */
  lookup(q: LookupQuery, out: LookupResult): Lookup {
    out.clear();
    const oh = this.index.find(q.key);
    if (oh === 0 || q.hashAlwaysMiss) {
      out.busy = this.newBusy(oh === 0 ? this.index.findOrAdd(q.key) : oh, null);
      return Lookup.MISS;
    }
    const found = this.search(oh, q, out);
    // Only now: the key must not go while it is being searched.
    while (this.banned.length > 0) {
      this.counters.bans_obj_killed++;
      this.kill(this.banned.pop() as Oc);
    }
    return found;
  }

  private search(oh: Oh, q: LookupQuery, out: LookupResult): Lookup {
    const { rows } = this;
    let busy = false;
    let stale: Oc = 0;
    let staleOrigin = Number.NEGATIVE_INFINITY;
    let varying: Oc = 0;
    for (let oc = this.index.first(oh); oc !== 0; ) {
      const current = oc;
      const meta = rows.get(current, row.META);
      oc = rows.get(current, row.KEY_NEXT);
      if (stateIn(meta) === row.STATE_BUSY) {
        if (!busy && !q.hashIgnoreBusy) busy = this.mayBecome(current, q);
        continue;
      }
      const ttl = rows.getDouble(current, row.TTL);
      if (ttl <= 0) continue;
      if (rows.get(current, row.BAN) !== this.bans.current && this.isBanned(current, q.http, q.now)) {
        this.banned.push(current);
        continue;
      }
      if ((meta & row.OF_HAS_VARY) !== 0 && !q.hashIgnoreVary) {
        varying = current;
        const at = this.store.varyAt(current);
        if (!matchesStored(this.store.headChunk(current), at, q.http, this.limits.gzipSupport)) continue;
      }
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
    out.busy = this.newBusy(oh, this.predict(varying, q));
    return Lookup.MISS;
  }

  /** Parks a waiter until the busy objects of the key are settled; call right after a BUSY lookup. Returns
   * how to leave. The waiter looks up again and may have to wait again. */
  wait(key: string, waiter: Waiter): () => void {
    const oh = this.index.find(key);
    if (oh !== 0) return this.waiting.park(oh, waiter);
    let gone = false;
    this.defer(() => {
      if (!gone) waiter.wake(false);
    });
    return () => {
      gone = true;
    };
  }

  /** The request values a response's Vary asks for; null when it varies by nothing. An illegal Vary gives a
   * key that never matches. */
  varyKey(vary: string, request: HttpMessage): VaryKey | null {
    const key = resolveVary(vary, request);
    return typeof key === 'string' ? unmatchable() : key;
  }

  // ---- the life of an object

  /** An object outside the index, for a pass; the caller holds a reference. */
  newPrivate(): Oc {
    const oc = this.take();
    this.rows.set(oc, row.META, withState(row.OF_PRIVATE, row.STATE_BUSY));
    return oc;
  }

  setAttributes(oc: Oc, a: Attributes): void {
    const { rows } = this;
    rows.setDouble(oc, row.T_ORIGIN, a.tOrigin);
    rows.setDouble(oc, row.TTL, a.ttl);
    rows.setDouble(oc, row.GRACE, a.grace);
    rows.setDouble(oc, row.KEEP, a.keep);
    rows.set(oc, row.VXID, a.vxid);
    rows.set(oc, row.META, (rows.get(oc, row.META) & ~row.OF_ATTRIBUTES) | (a.flags & row.OF_ATTRIBUTES));
    if ((rows.get(oc, row.META) & row.OF_INDEXED) !== 0) this.expiry.set(oc, this.endOf(oc));
  }

  /** Stores the response head, replacing an earlier one and its body; false when there is no room. Storage
   * null takes any but Transient. A Content-Length tells how much room the body gets at once. */
  storeHead(oc: Oc, storage: string | null, msg: HttpMessage, vary: VaryKey | null): boolean {
    return this.store.storeHead(oc, storage, msg, vary);
  }

  /** Appends body bytes; false when there is no room: the object is then to be failed. */
  append(oc: Oc, buf: Uint8Array, start: number, end: number): boolean {
    return this.store.append(oc, buf, start, end);
  }

  /** Makes the head visible: hits attach from now on, waiters look again. `uncacheable`: they will not find
   * what they waited for, so all go at once. */
  unbusy(oc: Oc, uncacheable = false): void {
    if (this.publish(oc, uncacheable)) this.store.live.get(oc)?.notify();
  }

  /** Busy to stream, without telling readers; false when it was not busy. */
  private publish(oc: Oc, uncacheable: boolean): boolean {
    const { rows } = this;
    const meta = rows.get(oc, row.META);
    if (stateIn(meta) !== row.STATE_BUSY) return false;
    if ((meta & row.OF_PRIVATE) !== 0) {
      rows.set(oc, row.META, withState(meta, row.STATE_STREAM));
      return true;
    }
    const oh = rows.get(oc, row.OBJHEAD);
    rows.set(oc, row.META, withState(meta | row.OF_INDEXED, row.STATE_STREAM));
    rows.set(oc, row.REFS, rows.get(oc, row.REFS) + 1);
    this.expiry.set(oc, this.endOf(oc));
    this.counters.exp_mailed++;
    this.counters.exp_received++;
    this.unlink(oh, oc);
    this.linkFirst(oh, oc);
    this.waiting.rush(oh, uncacheable || (meta & (row.OF_HIT_MISS | row.OF_HIT_PASS)) !== 0);
    return true;
  }

  /** The body is complete. An object that was not streamed becomes visible only now, as a whole. */
  finish(oc: Oc, uncacheable = false): void {
    this.publish(oc, uncacheable);
    const { rows } = this;
    const meta = withState(rows.get(oc, row.META), row.STATE_FINISHED);
    rows.set(oc, row.META, meta | row.OF_TRIM);
    if ((meta & row.OF_INDEXED) !== 0) this.store.stevedoreOf(oc).lru.add(oc, this.lruNow);
    const live = this.store.live.get(oc);
    if (!this.store.inTransitOnly(oc)) this.store.live.delete(oc);
    live?.notify();
    this.trimWhenAlone(oc);
  }

  /** The fetch failed: nobody finds the object from now on, readers learn it, waiters go on at once. */
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

  /** Lets go of a busy object that will not be fetched; its waiters look again. */
  abandon(oc: Oc): void {
    this.deref(oc);
  }

  /** Takes an object out of the cache; those who hold references go on. */
  kill(oc: Oc): void {
    const { rows } = this;
    const meta = rows.get(oc, row.META);
    if ((meta & row.OF_INDEXED) === 0) return;
    rows.set(oc, row.META, (meta & ~row.OF_INDEXED) | row.OF_DYING);
    this.expiry.remove(oc);
    if ((meta & row.OF_IN_LRU) !== 0) this.store.stevedoreOf(oc).lru.remove(oc);
    const oh = rows.get(oc, row.OBJHEAD);
    rows.set(oc, row.OBJHEAD, 0);
    this.unlink(oh, oc);
    this.dropKey(oh);
    this.deref(oc);
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

  // ---- bodies in the making

  /** Tells a reader when the body grows, finishes or fails, or the head becomes visible; returns how to stop. */
  onProgress(oc: Oc, reader: ProgressReader): () => void {
    if (this.isFinished(oc) || this.isFailed(oc)) return () => {};
    return this.store.liveOf(oc).attach(reader);
  }

  /** Tells the fetch of a body for one reader when that reader moved on or left. */
  onConsume(oc: Oc, told: () => void): void {
    this.store.liveOf(oc).onConsume = told;
  }

  /** Body bytes before `upTo` may go: has effect on bodies for one reader only. */
  consume(oc: Oc, upTo: number): void {
    this.store.consume(oc, upTo);
  }

  /** Stored bytes that the one reader has not used up yet. */
  inTransit(oc: Oc): number {
    return this.bodyLength(oc) - (this.store.live.get(oc)?.consumed ?? 0);
  }

  /** Whether only the fetch itself (and the index) still holds the object. */
  isAbandoned(oc: Oc): boolean {
    return this.rows.get(oc, row.REFS) <= 1 + this.indexRefs(oc);
  }

  /** What the response announced as its length; -1 when unknown or no longer of interest. */
  declaredLength(oc: Oc): number {
    return this.store.live.get(oc)?.expected ?? -1;
  }

  // ---- reading

  state(oc: Oc): OcState {
    return stateIn(this.rows.get(oc, row.META));
  }

  isFinished(oc: Oc): boolean {
    return this.state(oc) === row.STATE_FINISHED;
  }

  isFailed(oc: Oc): boolean {
    return this.state(oc) === row.STATE_FAILED;
  }

  /** Whether head and at least the beginning of the body can be read. */
  isDeliverable(oc: Oc): boolean {
    const state = this.state(oc);
    return state === row.STATE_STREAM || state === row.STATE_FINISHED;
  }

  /** Decodes the stored head into a message, which keeps its kind and log. */
  head(oc: Oc, into: HttpMessage): void {
    this.store.head(oc, into);
  }

  /** Calls back with the head's wire bytes (status line and fields, each with CRLF, no empty line). */
  headWire<T>(oc: Oc, use: (chunk: ChunkBytes, start: number, length: number) => T): T {
    const chunk = this.store.headChunk(oc);
    const at = this.store.headAt(oc);
    return use(chunk, wireStart(chunk, at), wireLength(chunk, at));
  }

  status(oc: Oc): number {
    return statusOf(this.store.headChunk(oc), this.store.headAt(oc));
  }

  bodyLength(oc: Oc): number {
    return this.rows.getDouble(oc, row.BODY_LENGTH);
  }

  /** Copies at most `max` body bytes from offset `from`; returns how many there were. */
  copyBody(oc: Oc, from: number, dst: Uint8Array, dstAt: number, max: number): number {
    return this.store.copyBody(oc, from, dst, dstAt, max);
  }

  /** A view of body bytes from `from` on, at most `max`, perhaps fewer; valid while the reference is held. */
  slice(oc: Oc, from: number, max: number): Buffer {
    return this.store.slice(oc, from, max);
  }

  /** Views of the whole body from `from` on, as far as it is stored. */
  *bodySlices(oc: Oc, from = 0): IterableIterator<Buffer> {
    for (let at = from; ; ) {
      const piece = this.slice(oc, at, Number.MAX_SAFE_INTEGER);
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
  }

  gunzippedLength(oc: Oc): number {
    return gunzippedLength(this.store.headChunk(oc), this.store.headAt(oc));
  }

  setGunzippedLength(oc: Oc, length: number): void {
    setGunzippedLength(this.store.headChunk(oc), this.store.headAt(oc), length);
  }

  ttlOf(oc: Oc): number {
    return this.rows.getDouble(oc, row.TTL);
  }

  graceOf(oc: Oc): number {
    return this.rows.getDouble(oc, row.GRACE);
  }

  keepOf(oc: Oc): number {
    return this.rows.getDouble(oc, row.KEEP);
  }

  tOriginOf(oc: Oc): number {
    return this.rows.getDouble(oc, row.T_ORIGIN);
  }

  hits(oc: Oc): number {
    return this.rows.get(oc, row.HITS);
  }

  vxidOf(oc: Oc): number {
    return this.rows.get(oc, row.VXID) >>> 0;
  }

  flagsOf(oc: Oc): number {
    return this.rows.get(oc, row.META) & row.OF_ATTRIBUTES;
  }

  isGzipped(oc: Oc): boolean {
    return (this.rows.get(oc, row.META) & row.OF_GZIPPED) !== 0;
  }

  isUncacheable(oc: Oc): boolean {
    return (
      (this.rows.get(oc, row.META) &
        (row.OF_PRIVATE | row.OF_HIT_MISS | row.OF_HIT_PASS | row.OF_UNCACHEABLE)) !==
      0
    );
  }

  storageNameOf(oc: Oc): string {
    return this.store.stevedoreOf(oc).name;
  }

  countHit(oc: Oc): void {
    const hits = this.rows.get(oc, row.HITS);
    if (hits < 0x7fffffff) this.rows.set(oc, row.HITS, hits + 1);
  }

  /** Notes a use: moves the object to the young end, at most once in lru_interval. */
  touch(oc: Oc, now: number): void {
    if ((this.rows.get(oc, row.META) & row.OF_IN_LRU) === 0) return;
    this.lruNow = Math.max(this.lruNow, Math.floor(now - this.epoch));
    if (this.lruNow - this.rows.get(oc, row.LRU_TIME) < this.limits.lruInterval) return;
    const { lru } = this.store.stevedoreOf(oc);
    lru.remove(oc);
    lru.add(oc, this.lruNow);
    this.counters.n_lru_moved++;
  }

  // ---- invalidation and expiry

  /** Shortens or sets lifetimes; negative leaves one as it is; ttl counts from `now`. */
  reset(oc: Oc, soft: SoftPurge, now: number): void {
    const { rows } = this;
    if (soft.ttl >= 0) rows.setDouble(oc, row.TTL, now + soft.ttl - rows.getDouble(oc, row.T_ORIGIN));
    if (soft.grace >= 0) rows.setDouble(oc, row.GRACE, soft.grace);
    if (soft.keep >= 0) rows.setDouble(oc, row.KEEP, soft.keep);
    if ((rows.get(oc, row.META) & row.OF_INDEXED) !== 0) this.expiry.set(oc, this.endOf(oc));
  }

  /** Purges all variants of a key, or makes them stale when `soft` is given; returns how many. Fetches under
   * way are cut off from the index, since what they bring may be older than the purge, except `own`: the
   * caller's own busy object, which it has not begun to fetch. */
  purge(key: string, now: number, soft: SoftPurge | null = null, own: Oc = 0): number {
    const oh = this.index.find(key);
    if (oh === 0) return 0;
    const hard = soft === null || (soft.ttl === 0 && soft.grace === 0 && soft.keep === 0);
    let count = 0;
    for (let oc = this.index.first(oh); oc !== 0; ) {
      const next = this.rows.get(oc, row.KEY_NEXT);
      if (stateIn(this.rows.get(oc, row.META)) === row.STATE_BUSY) {
        if (oc !== own) this.detach(oc, false);
      } else {
        count++;
        if (hard) this.kill(oc);
        else this.reset(oc, soft, now);
      }
      oc = next;
    }
    return count;
  }

  /** Adds a ban from command-line words; returns the error or null. */
  ban(words: readonly string[], now: number): string | null {
    return this.addBan(parseBan(words, this.compileRegex), now);
  }

  /** Adds a ban from one text, as ban() in a program has it; returns the error or null. */
  banText(text: string, now: number): string | null {
    return this.addBan(parseBanText(text, this.compileRegex), now);
  }

  /** All bans, newest first, for ban.list. */
  banList(): Iterable<Ban> {
    return this.bans;
  }

  /** Removes objects past ttl + grace + keep, for at most `budgetMs`; returns how many. Call again at once
   * while nextExpiry() is not after now. Also drops bans nobody needs. */
  expire(now: number, budgetMs: number): number {
    this.lruNow = Math.max(this.lruNow, Math.floor(now - this.epoch));
    this.bans.dropTail();
    const start = this.millis();
    let count = 0;
    for (;;) {
      if (this.expiry.firstEnd() > now) return count;
      const oc = this.expiry.first();
      const end = this.endOf(oc);
      if (end > now) {
        this.expiry.set(oc, end);
      } else {
        this.onKill('EXP', oc);
        this.kill(oc);
        this.counters.n_expired++;
        count++;
      }
      if ((count & 15) === 15 && this.millis() - start >= budgetMs) return count;
    }
  }

  /** When the next object may go, in epoch seconds; infinity when there is none. */
  nextExpiry(): number {
    return this.expiry.firstEnd();
  }

  // ---- storage

  /** The storage for an object: the one asked for, Transient for what lives less than `shortlived`, null (any)
   * otherwise. Times in seconds. */
  pickStorage(name: string | null, lifetime: number, shortlived: number): string | null {
    return name !== null || lifetime >= shortlived ? name : TRANSIENT;
  }

  storageNames(): string[] {
    return this.store.stevedores.map((stevedore) => stevedore.name);
  }

  /** The SMA counters of a storage, live, with g_space; null when there is no such storage. */
  storageStats(name: string): (SlabStats & { g_space: number }) | null {
    const found = this.store.stevedores.find((stevedore) => stevedore.name === name);
    return found === undefined ? null : { ...found.slab.stats, g_space: found.slab.space };
  }

  // ---- inside

  /** Seconds since the epoch of the last touch or expiry step: the LRU needs no better clock. */
  private lruNow = 1;

  private fresh(
    oc: Oc,
    meta: number,
    left: number,
    q: LookupQuery,
    out: LookupResult,
    oh: Oh,
    varying: Oc,
  ): Lookup {
    if ((meta & (row.OF_HIT_MISS | row.OF_HIT_PASS)) === 0) {
      this.ref(oc);
      out.oc = oc;
      return Lookup.HIT;
    }
    out.hitVxid = this.vxidOf(oc);
    out.hitTtl = left;
    if ((meta & row.OF_HIT_PASS) !== 0) return Lookup.HITPASS;
    this.ref(oc);
    out.stale = oc;
    out.busy = this.newBusy(oh, this.predict(varying, q));
    return Lookup.HITMISS;
  }

  private expired(oc: Oc, busy: boolean, q: LookupQuery, out: LookupResult, oh: Oh, varying: Oc): Lookup {
    const { rows } = this;
    const meta = rows.get(oc, row.META);
    const end = this.tOriginOf(oc) + this.ttlOf(oc);
    if ((meta & row.OF_HIT_MISS) !== 0) {
      // Still a sign that waiting would be in vain: its grace and keep serve to say so.
      this.ref(oc);
      out.stale = oc;
      out.hitVxid = this.vxidOf(oc);
      out.hitTtl = end - q.now;
      out.busy = this.newBusy(oh, this.predict(varying, q));
      return Lookup.HITMISS;
    }
    const grace = this.graceOf(oc);
    if (
      (meta & row.OF_HIT_PASS) === 0 &&
      end + (q.reqGrace >= 0 && q.reqGrace < grace ? q.reqGrace : grace) >= q.now
    ) {
      this.ref(oc);
      out.oc = oc;
      if (!busy) out.busy = this.newBusy(oh, this.predict(varying, q));
      return Lookup.GRACE;
    }
    if (busy) return Lookup.BUSY;
    this.ref(oc);
    out.stale = oc;
    out.busy = this.newBusy(oh, this.predict(varying, q));
    return Lookup.MISS;
  }

  /** Whether a fetch under way may bring what this request can use. */
  private mayBecome(busy: Oc, q: LookupQuery): boolean {
    const predicted = this.store.live.get(busy)?.predicted ?? null;
    return predicted === null || q.hashIgnoreVary || matchesKey(predicted, q.http, this.limits.gzipSupport);
  }

  /** The variant a fetch for this request will become, if it varies as its sibling does. */
  private predict(sibling: Oc, q: LookupQuery): VaryKey | null {
    if (sibling === 0) return null;
    const names = storedNames(this.store.headChunk(sibling), this.store.varyAt(sibling));
    return { names, values: names.map((name) => q.http.getAll(name)) };
  }

  private isBanned(oc: Oc, request: HttpMessage, now: number): boolean {
    const subject = (): BanSubject => {
      this.head(oc, this.banHead);
      const age = now - this.tOriginOf(oc);
      return {
        http: this.banHead,
        age,
        ttl: this.ttlOf(oc) - age,
        grace: this.graceOf(oc),
        keep: this.keepOf(oc),
      };
    };
    const from = this.rows.get(oc, row.BAN);
    if (this.bans.matches(from, subject, request)) return true;
    this.bans.unref(from);
    this.rows.set(oc, row.BAN, this.bans.ref());
    return false;
  }

  private addBan(parsed: BanExpression | string, now: number): string | null {
    if (typeof parsed === 'string') return parsed;
    this.bans.add(parsed, now, this.limits.banDups);
    return null;
  }

  private newBusy(oh: Oh, predicted: VaryKey | null): Oc {
    const oc = this.take();
    this.rows.set(oc, row.META, withState(0, row.STATE_BUSY));
    this.rows.set(oc, row.OBJHEAD, oh);
    // Counted from now, not from the end of the fetch: a ban that comes in between is tested.
    this.rows.set(oc, row.BAN, this.bans.ref());
    this.linkFirst(oh, oc);
    this.counters.n_objecthead = this.index.count;
    if (predicted !== null) this.store.liveOf(oc).predicted = predicted;
    return oc;
  }

  private take(): Oc {
    const oc = this.rows.take();
    this.rows.set(oc, row.REFS, 1);
    this.counters.n_objectcore++;
    return oc;
  }

  /** Takes a busy object out of the index: what it becomes is its holder's alone. */
  private detach(oc: Oc, alone: boolean): void {
    const { rows } = this;
    const oh = rows.get(oc, row.OBJHEAD);
    if (oh === 0) return;
    rows.set(oc, row.OBJHEAD, 0);
    rows.set(oc, row.META, rows.get(oc, row.META) | row.OF_PRIVATE);
    this.unlink(oh, oc);
    this.waiting.rush(oh, alone);
    this.dropKey(oh);
  }

  private free(oc: Oc): void {
    const { rows } = this;
    if (rows.get(oc, row.OBJHEAD) !== 0) this.detach(oc, false);
    const ban = rows.get(oc, row.BAN);
    if (ban !== 0) this.bans.unref(ban);
    this.store.freeBytes(oc);
    this.store.live.delete(oc);
    rows.give(oc);
    this.counters.n_objectcore--;
  }

  private trimWhenAlone(oc: Oc): void {
    const { rows } = this;
    // The index alone: no reader can hold a view. Of an object taken out of it, the last reference is a reader's.
    if (rows.get(oc, row.REFS) > 1 || (rows.get(oc, row.META) & row.OF_INDEXED) === 0) return;
    rows.set(oc, row.META, rows.get(oc, row.META) & ~row.OF_TRIM);
    const meta = rows.get(oc, row.META);
    if ((meta & row.OF_PRIVATE) !== 0) return;
    if ((meta & (row.OF_HIT_MISS | row.OF_HIT_PASS)) !== 0) this.store.dropBody(oc);
    else this.store.trim(oc);
  }

  private indexRefs(oc: Oc): number {
    return (this.rows.get(oc, row.META) & row.OF_INDEXED) !== 0 ? 1 : 0;
  }

  private endOf(oc: Oc): number {
    return this.tOriginOf(oc) + this.ttlOf(oc) + this.graceOf(oc) + this.keepOf(oc);
  }

  private linkFirst(oh: Oh, oc: Oc): void {
    const first = this.index.first(oh);
    this.rows.set(oc, row.KEY_PREV, 0);
    this.rows.set(oc, row.KEY_NEXT, first);
    if (first !== 0) this.rows.set(first, row.KEY_PREV, oc);
    this.index.setFirst(oh, oc);
  }

  private unlink(oh: Oh, oc: Oc): void {
    const prev = this.rows.get(oc, row.KEY_PREV);
    const next = this.rows.get(oc, row.KEY_NEXT);
    if (prev === 0) this.index.setFirst(oh, next);
    else this.rows.set(prev, row.KEY_NEXT, next);
    if (next !== 0) this.rows.set(next, row.KEY_PREV, prev);
  }

  /** Forgets a key without objects and waiters. */
  private dropKey(oh: Oh): void {
    if (this.index.first(oh) !== 0 || this.waiting.has(oh)) return;
    this.index.remove(oh);
    this.counters.n_objecthead = this.index.count;
  }
}
