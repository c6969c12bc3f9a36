// The state of one cache: its tables, lists and counters, and its environment. Built once and passed to the parts that work
// on it.
//
// Contains no policy. A process may have several: there is no module-level state in this folder, and each state has its own
// epoch, seed and limits.

import type { StorageSpec } from '../link.ts';
import { type Lock, NO_LOCK } from '../threads/shared-lock.ts';
import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import { Turns, turns } from '../turns/turns.ts';
import { type CompileRegex, parseBan, parseBanText } from './ban/ban-expression.ts';
import { BanList } from './ban/ban-list.ts';
import type { CacheCounters } from './cache-counters.ts';
import { Crowds } from './crowds.ts';
import { ExpiryHeap } from './expiry-heap.ts';
import { CLOSED, OBJCORE_WORDS, type Oc, REFS } from './objcore.ts';
import { Objheads } from './objheads.ts';
import { RowTable } from './row-table.ts';
import { type CacheSignals, NO_SIGNALS } from './signals.ts';
import { Stevedores } from './storage/stevedores.ts';
import { PurgeLog } from './tags/purge-log.ts';
import { TagIndex } from './tags/tag-index.ts';
import type { TierEvents } from './tier-events.ts';
import { TransferTable } from './transfers.ts';
import { VariantHash } from './vary.ts';

/** Parameters of the ban lurker, times in seconds. */
export interface LurkerLimits {
  /** ban_lurker_age: younger bans are left to lookups. */
  age: number;
  /** ban_lurker_batch: objects per batch. */
  batch: number;
  /** ban_lurker_sleep: from the beginning of one batch to that of the next; 0 turns the lurker off. */
  sleep: number;
  /** ban_cutoff: objects last tested against a ban further down the list are removed untested; 0 is none. */
  cutoff: number;
  /** ban_lurker_holdoff: pause in the middle of a batch while requests come in. */
  holdoff: number;
}

/** Parameters, read each time they are needed, so that a change takes effect at once. */
export interface CacheLimits {
  nukeLimit: number;
  rushExponent: number;
  /** Seconds between two moves of one object in the LRU. */
  lruInterval: number;
  gzipSupport: boolean;
  /** Values of headers in Vary match when they differ only in spelling. */
  normaliseVary: boolean;
  banDups: boolean;
  /** Objects of other variants that one lookup may test against bans. */
  banAnyVariant: number;
  /** Headers that hold surrogate keys, in lower case. */
  tagHeaders: readonly string[];
  /** Bytes the index of surrogate keys may take; no limit when 0. */
  tagSpace: number;
  lurker: LurkerLimits;
}

/** Events of objects, for the log. Times in epoch seconds; the object's row is still valid during the call. */
export interface ObjectEvents {
  /** Whether rearmed() and expired() are logged: if not, the calls are saved for many objects. */
  wanted(): boolean;
  /** Its expiry is set for the first time. */
  inserted(oc: Oc, end: number): void;
  /** Its expiry has changed. */
  rearmed(oc: Oc, from: number, to: number): void;
  /** Removed before its expiry. */
  removed(oc: Oc, end: number): void;
  /** Removed by a purge. */
  purged(oc: Oc, end: number, now: number): void;
  /** Removed because `by` takes its place; removed() follows. */
  superseded(oc: Oc, by: Oc): void;
  /** Removed at its expiry, `late` seconds after it. */
  expired(oc: Oc, late: number): void;
  /** Evicted to make room for the object `by`. */
  evicted(oc: Oc, by: Oc): void;
  /** No object could be evicted for `by`. */
  noVictim(by: Oc): void;
  /** Found by the ban lurker. */
  banned(oc: Oc): void;
}

const ignore = (): void => undefined;
/** For a cache without a log. */
export const NO_EVENTS: ObjectEvents = {
  wanted: () => false,
  inserted: ignore,
  rearmed: ignore,
  removed: ignore,
  purged: ignore,
  superseded: ignore,
  expired: ignore,
  evicted: ignore,
  noVictim: ignore,
  banned: ignore,
};

export interface CacheOptions {
  storages: readonly StorageSpec[];
  counters: CacheCounters;
  limits: CacheLimits;
  compileRegex: CompileRegex;
  /** Epoch seconds now. */
  now: number;
  /** 64 random bits for hashes of keys and variants, as two 32-bit integers; the same in all threads. */
  seed: readonly [number, number];
  /** Runs something after the current step; setImmediate when absent. */
  defer?: (run: () => void) => void;
  /** Milliseconds from a steady clock, for bounded steps; performance.now when absent. */
  millis?: () => number;
  events?: ObjectEvents;
  /** Transactions of all threads so far: while they increase, the lurker yields. Absent: none. */
  transactions?: () => number;
  /** Called when maintenance has work before its next step is due. */
  wake?: () => void;
  /** For several threads, each of which has a cache of its own over the same memory. */
  shared?: SharedCache;
}

export interface SharedCache {
  readonly memory: MemoryPart;
  /** Taken for everything but hits. The cache sets `entered`, to pick up changes of other threads. */
  readonly lock: Lock & { entered: () => void };
  readonly signals: CacheSignals;
  /** Whether this thread runs the maintenance, and so counts what is counted once for the whole cache. */
  readonly maintains: boolean;
}

/** Milliseconds: short compared with a request; and with the lock held, short for threads that wait for it (both chosen). */
const STEP = 2;
const STEP_UNDER_LOCK = 0.25;

/** Seconds by which clocks of two threads differ at most. */
const MAX_SKEW = 1;

export class CacheState {
  // Shared by all threads of one cache: tables of numbers in shared memory (decisions/15).

  readonly memory: MemoryPart;
  readonly lock: Lock;
  readonly signals: CacheSignals;
  readonly maintains: boolean;
  /** One row per object: objcore.ts has the layout. */
  readonly objcores: RowTable;
  readonly stevedores: Stevedores;
  /** The keys. Waiting lists are per thread: it wakes its own requests, and signals the other threads. */
  readonly objheads: Objheads;
  readonly crowds: Crowds;
  readonly variantHash: VariantHash;
  readonly expiryHeap: ExpiryHeap;
  readonly tags: TagIndex;
  readonly bans: BanList;
  readonly purgeLog: PurgeLog;
  /** Epoch seconds; times stored as ticks count from here. */
  readonly epoch: number;
  /** One number: epoch seconds of the latest soft purge or soft ban, by the clock of its thread. Lookups on a thread whose clock
   * is some milliseconds behind must not see the objects as still fresh. */
  readonly softPurged: Float64Array;

  // Private to each thread, as are the fields of the parts that work on this state.

  /** The fetches of this thread, with their readers. */
  readonly transfers: TransferTable;
  /** This thread's share: a counter's value is the sum over all threads. */
  readonly counters: CacheCounters;
  readonly limits: CacheLimits;
  readonly events: ObjectEvents;
  readonly compileRegex: CompileRegex;
  readonly defer: (run: () => void) => void;
  readonly millis: () => number;
  readonly turns: Turns;
  readonly seed: readonly [number, number];
  readonly transactions: () => number;
  /** Milliseconds that a step of background work may take. */
  readonly longestStep: number;
  readonly wake: () => void;
  /** Called when an object in slices has gone, with the name of its set. */
  onSetGone: (set: string) => void = ignore;
  /** Storage behind memory; null without. */
  tier: TierEvents | null = null;

  constructor(o: CacheOptions) {
    this.counters = o.counters;
    this.limits = o.limits;
    this.events = o.events ?? NO_EVENTS;
    this.compileRegex = o.compileRegex;
    this.defer = o.defer ?? ((run) => void setImmediate(run));
    this.millis = o.millis ?? (() => performance.now());
    this.turns = o.defer === undefined && o.millis === undefined ? turns : new Turns(this.millis, this.defer);
    this.seed = o.seed;
    this.transactions = o.transactions ?? (() => 0);
    this.wake = o.wake ?? ignore;
    this.epoch = Math.floor(o.now) - 1;
    const memory = o.shared?.memory.guardedBy(o.shared.lock) ?? ownMemory();
    this.softPurged = new Float64Array(memory.piece('softPurged', 8));
    this.memory = memory;
    this.longestStep = memory.isShared ? STEP_UNDER_LOCK : STEP;
    this.lock = o.shared?.lock ?? NO_LOCK;
    this.signals = o.shared?.signals ?? NO_SIGNALS;
    this.maintains = o.shared?.maintains ?? true;
    this.objcores = new RowTable(OBJCORE_WORDS, memory.part('objcores'), { word: REFS, fresh: CLOSED });
    this.transfers = new TransferTable(this.objcores);
    this.stevedores = new Stevedores(o.storages, this.objcores, memory.part('storages'));
    this.variantHash = new VariantHash(o.seed);
    this.crowds = new Crowds(this.objcores, o.seed, memory.part('crowds'));
    this.objheads = new Objheads(
      this.objcores,
      this.crowds,
      o.counters,
      o.limits,
      o.seed,
      this.turns,
      memory.part('objheads'),
      this.signals,
    );
    this.expiryHeap = new ExpiryHeap(this.objcores, this.epoch, memory.part('expiry'));
    this.tags = new TagIndex(this.objcores, o.seed, memory.part('tags'));
    this.bans = new BanList(o.now, o.counters, {
      memory: memory.part('bans'),
      parse: (source) => {
        const parse = typeof source === 'string' ? parseBanText : parseBan;
        const parsed = parse(source as string & readonly string[], o.compileRegex);
        if (typeof parsed === 'string') throw new Error(`Ban of another thread: ${parsed}`);
        return parsed;
      },
    });
    this.purgeLog = new PurgeLog(memory.part('purgeLog'));
    if (o.shared === undefined) return;
    o.shared.lock.entered = () => {
      memory.sync();
      this.bans.sync();
    };
  }

  /** Resets a soft purge in the future to now: the system's clock was set back, and lookups would count as that late until the
   * clock has caught up. */
  limitSoftPurge(now: number): void {
    const { softPurged } = this;
    if ((softPurged[0] as number) > now + MAX_SKEW) softPurged[0] = now;
  }

  /** Lookups from now on are not earlier than this time of a soft purge or soft ban. */
  notBefore(at: number): void {
    const { softPurged } = this;
    softPurged[0] = Math.max(softPurged[0] as number, at);
  }
}
