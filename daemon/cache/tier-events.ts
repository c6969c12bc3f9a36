// The interface between the cache and storage behind memory: events, and objects as records.

import type { Oc } from './objcore.ts';
import type { SoftPurge } from './soft-purge.ts';

/** Events of the cache, called synchronously and under its lock. */
export interface TierEvents {
  /** Number of the newest invalidation. */
  readonly newest: number;
  /** An object is complete and can be found. */
  completed(oc: Oc): void;
  /** From now on; with a key all its variants, with a ban its source as JSON. @param soft what a soft purge leaves */
  invalidated(kind: 'key' | 'tag' | 'ban', text: string, soft?: SoftPurge | null): void;
}

/** Body bytes in memory that are kept until release(). */
export interface TierBody {
  readonly length: number;
  /** Fills `into` from byte `at`; false when there are not as many bytes. */
  copy(at: number, into: Uint8Array): boolean;
  release(): void;
}

/** An object without its body. Times in seconds since 1970. */
export interface TierRecord {
  readonly key: string;
  /** Hash of the variant, the same in each process; 0 without one. The exact variant is in the head. */
  readonly variant: number;
  /** Number of the newest invalidation when its fetch began: only newer ones concern it. */
  readonly since: number;
  /** When it is of no use to anybody, grace and keep included. */
  readonly end: number;
  /** Surrogate keys. */
  readonly tags: readonly string[];
  /** Lifetimes, flags and the id of the fetch (object-tier.ts). */
  readonly facts: Uint8Array;
  readonly head: Uint8Array;
  /** An ESI plan; empty without one. */
  readonly annex: Uint8Array;
}
