// The state of one cache: its tables, lists and figures, and what it was given from outside. Built once, and handed
// whole to the parts that work on it.
//
// It decides nothing. A process may hold several: nothing in this folder is kept in a module, counters are added to
// and never set, and each state has its own epoch, seed and limits.

import type { StorageSpec } from '../link.ts';
import { type Lock, NO_LOCK } from '../threads/shared-lock.ts';
import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import { Turns, turns } from '../turns/turns.ts';
import { type CompileRegex, parseBan, parseBanText } from './ban/ban-expression.ts';
import { BanList } from './ban/ban-list.ts';
import type { LurkerLimits } from './ban/lurker.ts';
import type { CacheCounters } from './cache-counters.ts';
import { Crowds } from './crowds.ts';
import { ExpiryHeap } from './expiry-heap.ts';
import { CLOSED, OBJCORE_WORDS, type Oc, REFS } from './objcore.ts';
import { Objheads } from './objheads.ts';
import { ALONE, type Peers } from './peers.ts';
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
  /** Transactions of all threads so far: while there are more and more, they go before the lurker. Absent: none. */
  transactions?: () => number;
  /** Called when maintenance has work before the moment that its last step named. */
  wake?: () => void;
  /** Of a cache that several threads serve: each has a cache of its own over the same memory. */
  shared?: SharedCache;
}

export interface SharedCache {
  readonly memory: MemoryPart;
  /** Taken for everything but hits. `entered` is the cache's: it takes in what others have done meanwhile. */
  readonly lock: Lock & { entered: () => void };
  readonly peers: Peers;
  /** Whether this thread runs the maintenance: the figures of the whole cache are its. */
  readonly maintains: boolean;
}

/** Short beside the time of a request; and short for others who wait for the lock (both chosen). */
const STEP = 2;
const STEP_UNDER_LOCK = 0.25;

/** Seconds that clocks of two threads are never apart. */
const AHEAD = 1;

export class CacheState {
  // Threads that serve one cache share these: they are tables of numbers in shared memory (decisions/15).

  readonly memory: MemoryPart;
  readonly lock: Lock;
  readonly peers: Peers;
  readonly maintains: boolean;
  /** A row an object: objcore.ts has the layout. */
  readonly objcores: RowTable;
  readonly stevedores: Stevedores;
  /** The keys. Their waiting lists are a thread's own: it wakes only its own requests, and tells its peers. */
  readonly objheads: Objheads;
  readonly crowds: Crowds;
  readonly expiryHeap: ExpiryHeap;
  readonly tags: TagIndex;
  readonly bans: BanList;
  readonly purgeLog: PurgeLog;
  /** Epoch seconds of the moment before all times that are kept as ticks. */
  readonly epoch: number;
  /** One number: epoch seconds of the latest soft purge or soft ban, by the clock of the thread that had it. What it ended is
   * fresh until then, also for a lookup that began after it, on a thread whose clock is some milliseconds behind. */
  readonly softPurged: Float64Array;

  // The rest is each thread's own, as is all that the parts keep beside the state: scratch memory, remembered
  // places and work that they have begun (a round of the lurker, the jobs of a purge, bodies that are being freed).

  /** For objects under way: the needs of their fetch and readers, callbacks among them. */
  readonly transfers: TransferTable;
  /** A thread's share: readers of the figures add them up. */
  readonly counters: CacheCounters;
  readonly limits: CacheLimits;
  readonly events: ObjectEvents;
  readonly compileRegex: CompileRegex;
  readonly defer: (run: () => void) => void;
  readonly millis: () => number;
  readonly turns: Turns;
  readonly seed: readonly [number, number];
  readonly transactions: () => number;
  /** Milliseconds that a step of the work that no request waits for may take. */
  readonly longestStep: number;
  readonly wake: () => void;

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
    const memory = o.shared?.memory ?? ownMemory();
    this.softPurged = new Float64Array(memory.piece('softPurged', 8));
    this.memory = memory;
    this.longestStep = memory.isShared ? STEP_UNDER_LOCK : STEP;
    this.lock = o.shared?.lock ?? NO_LOCK;
    this.peers = o.shared?.peers ?? ALONE;
    this.maintains = o.shared?.maintains ?? true;
    this.objcores = new RowTable(OBJCORE_WORDS, memory.part('objcores'), { word: REFS, fresh: CLOSED });
    this.transfers = new TransferTable(this.objcores);
    this.stevedores = new Stevedores(o.storages, this.objcores, memory.part('storages'));
    this.crowds = new Crowds(this.objcores, o.seed, memory.part('crowds'));
    this.objheads = new Objheads(
      this.objcores,
      this.crowds,
      o.counters,
      o.limits,
      o.seed,
      this.turns,
      memory.part('objheads'),
      this.peers,
    );
    this.expiryHeap = new ExpiryHeap(this.objcores, this.epoch, memory.part('expiry'));
    this.tags = new TagIndex(this.objcores, o.seed, memory.part('tags'));
    this.bans = new BanList(o.now, o.counters, {
      memory: memory.part('bans'),
      parse: (source) => {
        const parse = typeof source === 'string' ? parseBanText : parseBan;
        const parsed = parse(source as string & readonly string[], o.compileRegex);
        if (typeof parsed === 'string') throw new Error(`a ban of another thread is no ban here: ${parsed}`);
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

  /** Takes a soft purge that is in the future back to now: the system's clock was set back, and lookups are not to be as late as
   * that until it has come again. */
  clockIs(now: number): void {
    const { softPurged } = this;
    if ((softPurged[0] as number) > now + AHEAD) softPurged[0] = now;
  }

  /** Has no lookup after this be earlier than a soft purge or soft ban of that time. */
  notBefore(at: number): void {
    const { softPurged } = this;
    softPurged[0] = Math.max(softPurged[0] as number, at);
  }
}
