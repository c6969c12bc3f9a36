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

/** Told before an object goes: LRU eviction or expiry (for the ExpKill record), or the ban lurker. */
export type OnKill = (why: 'LRU' | 'EXP' | 'BAN', oc: Oc) => void;

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
  onKill?: OnKill;
}
