// The cache: objects under keys, with variants, lifetimes, bans and the requests that wait for them.
//
// Composes the parts of this folder; request and fetch state machines talk to this class only, in handles
// (Oc), never in objects. Nothing here waits and nothing calls into a state machine, except readers' progress
// (at once) and waiters' wake (deferred). References: who got a handle holds one until deref.

import type { HttpMessage } from '../http1/message.ts';
import type { Attributes } from './attributes.ts';
import type { BanCount } from './ban/ban-count.ts';
import { type Ban, BanList } from './ban/ban-list.ts';
import { Lurker, type LurkerLimits } from './ban/lurker.ts';
import { type CacheLimits, type CacheOptions, NO_EVENTS } from './cache-options.ts';
import type { CacheCounters } from './counters.ts';
import { Expiry } from './expiry.ts';
import { ExpirySteps } from './expiry-steps.ts';
import { Invalidation, type SoftPurge } from './invalidation.ts';
import type { Lookup, LookupQuery, LookupResult } from './lookup.ts';
import { LookupWalk } from './lookup-walk.ts';
import { OBJCORE_WORDS, type Oc } from './objcore.ts';
import { ObjectLife } from './object-life.ts';
import { ObjectReader } from './object-reader.ts';
import { ObjectStore } from './object-store.ts';
import { Objheads } from './objheads.ts';
import { Reaper } from './reaper.ts';
import { Rows } from './rows.ts';
import type { SlabStats } from './storage/slab.ts';
import type { Stevedore } from './storage/stevedore.ts';
import { DEFAULT_TAG_FIELDS, tagsOf } from './tags/tag-fields.ts';
import { TagIndex } from './tags/tag-index.ts';
import { TagPurges } from './tags/tag-purges.ts';
import { Uses } from './uses.ts';
import { resolveVary, unmatchable, type VaryKey } from './vary.ts';
import type { Waiter } from './waiting-list.ts';

export { type Attributes, FLAG } from './attributes.ts';
export type { CacheLimits, CacheOptions } from './cache-options.ts';
export type { SoftPurge } from './invalidation.ts';
export { Lookup, LookupQuery, LookupResult } from './lookup.ts';
export type { Oc } from './objcore.ts';
export type { VaryKey } from './vary.ts';

/** What a body needs beside its bytes: a page's share for its extents' heads, and a response head. */
const LEAST_BODY_SHARE = 512;
const LEAST_HEAD = 256;

export class Cache extends ObjectReader {
  readonly counters: CacheCounters;
  readonly limits: CacheLimits;
  readonly bans: BanList;
  private readonly objheads: Objheads;
  private readonly expiry: Expiry;
  private readonly uses: Uses;
  private readonly life: ObjectLife;
  private readonly invalidation: Invalidation;
  private readonly walk: LookupWalk;
  private readonly steps: ExpirySteps;
  private readonly lurker: Lurker;
  private readonly tags: TagPurges;

  constructor(o: CacheOptions) {
    const { counters, limits } = o;
    const events = o.events ?? NO_EVENTS;
    const defer = o.defer ?? ((run: () => void) => void setImmediate(run));
    const millis = o.millis ?? (() => performance.now());
    const rows = new Rows(OBJCORE_WORDS);
    const store = new ObjectStore({
      rows,
      storages: o.storages,
      counters,
      nukeLimit: () => limits.nukeLimit,
      evict: (oc, by) => {
        events.evicted(oc, by);
        life.kill(oc);
      },
      noVictim: (by) => events.noVictim(by),
    });
    super(rows, store);
    this.counters = counters;
    this.limits = limits;
    const epoch = Math.floor(o.now) - 1;
    const bans = new BanList(o.now, counters);
    const expiry = new Expiry(rows, epoch);
    const uses = new Uses({ rows, store, counters, limits, epoch });
    const objheads = new Objheads({
      rows,
      counters,
      seed: o.seed,
      defer,
      rushExponent: () => limits.rushExponent,
    });
    const tags = new TagPurges({
      rows,
      index: new TagIndex(rows, o.seed),
      kill: (ocs, count, at) => reaper.purge(ocs, count, at),
      soften: (oc, at) => this.invalidation.soften(oc, at),
      isFresh: (oc, now) => this.invalidation.isFresh(oc, now),
      defer,
      millis,
      space: () => limits.tagSpace ?? 0,
    });
    const life = new ObjectLife({ rows, store, objheads, expiry, uses, bans, tags, counters, events });
    const reaper = new Reaper({
      rows,
      store,
      objheads,
      expiry,
      uses,
      bans,
      tags: tags.index,
      life,
      counters,
      events,
    });
    this.tags = tags;
    this.bans = bans;
    this.objheads = objheads;
    this.expiry = expiry;
    this.uses = uses;
    this.life = life;
    this.invalidation = new Invalidation({
      rows,
      store,
      objheads,
      life,
      bans,
      tags,
      counters,
      limits,
      compileRegex: o.compileRegex,
      millis,
    });
    this.walk = new LookupWalk({
      rows,
      store,
      objheads,
      life,
      invalidation: this.invalidation,
      bans,
      tags,
      counters,
      limits,
    });
    this.lurker = new Lurker({
      rows,
      bans,
      counters,
      subject: (oc, now) => this.invalidation.subject(oc, now),
      kill: (oc) => life.kill(oc),
      soften: (oc, at) => this.invalidation.soften(oc, at),
      millis,
      onBanned: (oc) => events.banned(oc),
    });
    this.steps = new ExpirySteps({ expiry, store, life, reaper, uses, millis });
  }

  // ---- lookup

  /** Finds what the key has for this request; `out` has the handles. */
  lookup(q: LookupQuery, out: LookupResult): Lookup {
    return this.walk.lookup(q, out);
  }

  /** Parks a waiter until the busy objects of the key are settled; call right after a BUSY lookup. Returns
   * how to leave. The waiter looks up again and may have to wait again. */
  wait(key: string, waiter: Waiter): () => void {
    return this.objheads.wait(key, waiter);
  }

  /** Whether somebody waits for what this busy object becomes. */
  hasWaiters(oc: Oc): boolean {
    return this.life.hasWaiters(oc);
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
    return this.life.newPrivate();
  }

  setAttributes(oc: Oc, a: Attributes): void {
    this.life.setAttributes(oc, a);
  }

  /** Stores the response head, replacing an earlier one and its body; false when there is no room. Storage
   * null takes any but Transient. A Content-Length tells how much room the body gets at once. A private object's
   * reader gets the message itself: it stays as it is until takeBackHead(). */
  storeHead(oc: Oc, storage: string | null, msg: HttpMessage, vary: VaryKey | null): boolean {
    if (!this.store.storeHead(oc, storage, msg, vary)) return false;
    this.store.liveOf(oc).tags = tagsOf(msg, this.limits.tagFields ?? DEFAULT_TAG_FIELDS);
    return true;
  }

  takeBackHead(oc: Oc): void {
    this.store.takeBackHead(oc);
  }

  /** Appends body bytes; false when there is no room: the object is then to be failed. */
  append(oc: Oc, buf: Uint8Array, start: number, end: number): boolean {
    return this.store.append(oc, buf, start, end);
  }

  /** Makes the head visible: hits attach from now on, waiters look again. `uncacheable`: they will not find
   * what they waited for, so all go at once. */
  unbusy(oc: Oc, uncacheable = false): void {
    this.life.unbusy(oc, uncacheable);
  }

  /** The body is complete. An object that was not streamed becomes visible only now, as a whole. */
  finish(oc: Oc, uncacheable = false): void {
    this.life.finish(oc, uncacheable);
  }

  /** The fetch failed: nobody finds the object from now on, readers learn it, waiters go on at once. */
  fail(oc: Oc): void {
    this.life.fail(oc);
  }

  /** Lets go of a busy object that will not be fetched; its waiters look again. */
  abandon(oc: Oc): void {
    this.life.deref(oc);
  }

  /** Takes an object out of the cache; those who hold references go on. */
  kill(oc: Oc): void {
    this.life.kill(oc);
  }

  ref(oc: Oc): void {
    this.life.ref(oc);
  }

  deref(oc: Oc): void {
    this.life.deref(oc);
  }

  // ---- use

  countHit(oc: Oc): void {
    this.uses.countHit(oc);
  }

  /** Notes a use: moves the object to the young end, at most once in lru_interval. */
  touch(oc: Oc, now: number): void {
    this.uses.touch(oc, now);
  }

  // ---- invalidation and expiry

  /** Gives an object new lifetimes, as a soft purge does. */
  reset(oc: Oc, soft: SoftPurge, now: number): void {
    this.invalidation.reset(oc, soft, now);
  }

  /** Lets the ban lurker work for a moment; returns the seconds until it wants to be called again. */
  lurk(now: number, limits: LurkerLimits): number {
    return this.lurker.step(now, limits);
  }

  /** Purges all variants of a key, or makes them stale when `soft` is given; returns how many. Fetches under
   * way are cut off from the index, since what they bring may be older than the purge, except `own`: the
   * caller's own busy object, which it has not begun to fetch. */
  purge(key: string, now: number, soft: SoftPurge | null = null, own: Oc = 0): number {
    return this.invalidation.purge(key, now, soft, own);
  }

  /** The same for one object; 0 when it is gone already. */
  purgeOne(oc: Oc, now: number, soft: SoftPurge | null = null): number {
    return this.invalidation.purgeOne(oc, now, soft);
  }

  /** Purges the objects that carry one of the surrogate keys in a text, or makes them stale; returns how many. They
   * are as good as gone when it returns, though their memory may be given back a little later. */
  purgeTags(keys: string, soft: boolean, now: number): number {
    const count = this.invalidation.purgeTags(keys, soft, now);
    this.sampleTags();
    return count;
  }

  /** Adds a ban from command-line words; returns the error or null. Soft: what matches becomes stale. */
  ban(words: readonly string[], now: number, soft = false): string | null {
    return this.invalidation.ban(words, now, soft);
  }

  /** Adds a ban from one text, as ban() in a program has it; returns the error or null. */
  banText(text: string, now: number, soft = false): string | null {
    return this.invalidation.banText(text, now, soft);
  }

  /** Brings the figures of the surrogate-key index up to date. */
  sampleTags(): void {
    const { index } = this.tags;
    this.counters.xkey_keys = index.keyCount;
    this.counters.xkey_links = index.linkCount;
    this.counters.xkey_bytes = index.bytes;
  }

  /** A dry run of a ban, to be done step by step; a string is the error. `plainHash`: keys are URL and host. */
  banCount(words: readonly string[], now: number, plainHash: boolean): BanCount | string {
    return this.invalidation.count(words, now, plainHash);
  }

  /** The objects whose newest tested ban this is. Looks at every object: for debugging. */
  objectsOf(ban: Ban): Oc[] {
    return this.invalidation.objectsOf(ban.number);
  }

  /** All bans, newest first, for ban.list. */
  banList(): Iterable<Ban> {
    return this.bans;
  }

  /** Drops bans that nobody needs any more, after they were listed. */
  tidyBans(): void {
    this.bans.dropTail();
  }

  /** Removes objects past ttl + grace + keep, for about `budgetMs`; returns how many. Call again at once
   * while nextExpiry() is not after now. Also frees what large bodies left. */
  expire(now: number, budgetMs: number): number {
    return this.steps.expire(now, budgetMs);
  }

  /** When the next object may go, in epoch seconds; infinity when there is none. */
  nextExpiry(): number {
    return this.expiry.firstEnd();
  }

  // ---- storage

  /** The storage for the next object that asks for none: each but Transient in turn. */
  nextStorage(): string {
    return (this.store.stevedores[this.store.nextTurn()] as Stevedore).name;
  }

  /** Whether a body of so many bytes could be in a storage at all, were it empty. */
  couldHold(name: string | null, bytes: number): boolean {
    const found = this.store.stevedores.find((stevedore) => stevedore.name === name);
    const size = found?.mostOfBody ?? 0;
    return size === 0 || bytes + bytes / LEAST_BODY_SHARE + LEAST_HEAD <= size;
  }

  storageNames(): string[] {
    return this.store.stevedores.map((stevedore) => stevedore.name);
  }

  /** Configured bytes of a storage; 0 when it has no limit. */
  storageSize(name: string): number {
    return this.store.stevedores.find((stevedore) => stevedore.name === name)?.slab.size ?? 0;
  }

  /** The SMA counters of a storage, live, with g_space; null when there is no such storage. */
  storageStats(name: string): (SlabStats & { g_space: number }) | null {
    const found = this.store.stevedores.find((stevedore) => stevedore.name === name);
    return found === undefined ? null : { ...found.slab.stats, g_space: found.slab.space };
  }
}
