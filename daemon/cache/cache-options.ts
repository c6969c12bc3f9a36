// What the cache is made from: its storages, counters, parameters and the few things it must be given from
// outside so that it depends on nothing (clock, randomness, regular expressions, deferral).

import type { StorageSpec } from '../link.ts';
import type { CompileRegex } from './ban/ban-expression.ts';
import type { CacheCounters } from './counters.ts';
import type { Oc } from './objcore.ts';

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
  /** Fields that hold surrogate keys, in lower case; xkey alone when absent. */
  tagFields?: readonly string[];
  /** Bytes the index of surrogate keys may take; no limit when 0 or absent. */
  tagSpace?: number;
}

/** Told what becomes of objects, for the log. Times in epoch seconds; an object can still be asked about. */
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
/** For who keeps no log. */
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
}
