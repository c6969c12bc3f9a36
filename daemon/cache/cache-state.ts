// The state of one cache: its tables, lists and figures, and what it was given from outside. Built once, and handed
// whole to the parts that work on it.
//
// It decides nothing. A process may hold several: nothing in this folder is kept in a module, counters are added to
// and never set, and each state has its own epoch, seed and limits.

import type { StorageSpec } from '../link.ts';
import type { CompileRegex } from './ban/ban-expression.ts';
import { BanList } from './ban/ban-list.ts';
import type { LurkerLimits } from './ban/lurker.ts';
import type { CacheCounters } from './cache-counters.ts';
import { ExpiryHeap } from './expiry-heap.ts';
import { OBJCORE_WORDS, type Oc } from './objcore.ts';
import { Objheads } from './objheads.ts';
import { RowTable } from './row-table.ts';
import { Stevedores } from './storage/stevedores.ts';
import { PurgeLog } from './tags/purge-log.ts';
import { TagIndex } from './tags/tag-index.ts';
import { TransferTable } from './transfer-table.ts';

/** Parameters the cache reads each time it needs them, so that a change takes effect at once. */
export interface CacheLimits {
  nukeLimit: number;
  rushExponent: number;
  /** Seconds between two moves of one object in the LRU. */
  lruInterval: number;
  gzipSupport: boolean;
  /** Values that Vary names match when they differ only in how they are written. */
  normaliseVary: boolean;
  banDups: boolean;
  /** Headers that hold surrogate keys, in lower case. */
  tagHeaders: readonly string[];
  /** Bytes the index of surrogate keys may take; no limit when 0. */
  tagSpace: number;
  lurker: LurkerLimits;
}

/** Learns what becomes of objects, for the log. Times in epoch seconds; an object can still be asked about. */
export interface ObjectEvents {
  /** Whether anybody listens to rearmed() and expired(): the asking may be saved for many objects. */
  wanted(): boolean;
  /** Its end is known for the first time. */
  inserted(oc: Oc, end: number): void;
  /** Its end was another. */
  rearmed(oc: Oc, from: number, to: number): void;
  /** Taken out before its end. */
  removed(oc: Oc, end: number): void;
  /** At its end; `late` seconds have passed since. */
  expired(oc: Oc, late: number): void;
  /** Makes room for the object `by`. */
  evicted(oc: Oc, by: Oc): void;
  /** No object could make room for `by`. */
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
  /** 64 random bits for the index's hash, as two 32-bit integers. */
  seed: readonly [number, number];
  /** Runs something after the current step; setImmediate when absent. */
  defer?: (run: () => void) => void;
  /** Milliseconds from a steady clock, for bounded steps; performance.now when absent. */
  millis?: () => number;
  events?: ObjectEvents;
  /** Called when maintenance has work before the moment that its last step named. */
  wake?: () => void;
}

export class CacheState {
  // Threads that serve one cache would share these: they are tables of numbers in shared memory, or (the list of
  // bans and the log of purges, of which there are few) would be the same in each because each hears of every ban
  // and purge in the same order.

  /** A row an object: objcore.ts has the layout. */
  readonly objcores = new RowTable(OBJCORE_WORDS);
  readonly stevedores: Stevedores;
  /** The keys. Their waiting lists are a thread's own: it can wake only its own requests. */
  readonly objheads: Objheads;
  readonly expiryHeap: ExpiryHeap;
  readonly tags: TagIndex;
  readonly bans: BanList;
  readonly purgeLog: PurgeLog;
  /** Epoch seconds of the moment before all times that are kept as ticks. */
  readonly epoch: number;

  // The rest would be each thread's own, as is all that the parts keep beside the state: scratch memory, remembered
  // places and work that they have begun (a round of the lurker, the jobs of a purge, bodies that are being freed).

  /** For objects under way: the needs of their fetch and readers, callbacks among them. */
  readonly transfers = new TransferTable();
  /** A thread's share: readers of the figures add them up. */
  readonly counters: CacheCounters;
  readonly limits: CacheLimits;
  readonly events: ObjectEvents;
  readonly compileRegex: CompileRegex;
  readonly defer: (run: () => void) => void;
  readonly millis: () => number;
  readonly wake: () => void;

  constructor(o: CacheOptions) {
    this.counters = o.counters;
    this.limits = o.limits;
    this.events = o.events ?? NO_EVENTS;
    this.compileRegex = o.compileRegex;
    this.defer = o.defer ?? ((run) => void setImmediate(run));
    this.millis = o.millis ?? (() => performance.now());
    this.wake = o.wake ?? ignore;
    this.epoch = Math.floor(o.now) - 1;
    this.stevedores = new Stevedores(o.storages, this.objcores);
    this.objheads = new Objheads(this.objcores, o.counters, o.limits, o.seed, this.defer);
    this.expiryHeap = new ExpiryHeap(this.objcores, this.epoch);
    this.tags = new TagIndex(this.objcores, o.seed);
    this.bans = new BanList(o.now, o.counters);
    this.purgeLog = new PurgeLog();
  }
}
