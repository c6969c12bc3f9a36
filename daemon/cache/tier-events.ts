// What the cache reports to storage behind memory.

import type { Oc } from './objcore.ts';

/** What the cache reports, synchronously and under its lock. */
export interface TierEvents {
  /** Number of the newest invalidation. */
  readonly newest: number;
  /** An object is complete and can be found. */
  completed(oc: Oc): void;
  /** From now on; with a key all its variants, with a ban its source as JSON. */
  invalidated(kind: 'key' | 'tag' | 'ban', text: string): void;
}
