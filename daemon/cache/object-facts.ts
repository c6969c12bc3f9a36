// Questions about an object by its handle: state, flags, lifetimes, figures. Read-only.

import type { CacheState } from './cache-state.ts';
import { LargestObjects } from './largest-objects.ts';
import * as row from './objcore.ts';
import { type Oc, stateIn } from './objcore.ts';
import type { RowTable } from './row-table.ts';

const UNCACHEABLE = row.OF_PRIVATE | row.OF_MARKER | row.OF_UNCACHEABLE;

/** Times in seconds, tOrigin since the epoch. */
export class ObjectFacts {
  private readonly state: CacheState;
  private readonly objcores: RowTable;

  constructor(state: CacheState) {
    this.state = state;
    this.objcores = state.objcores;
  }

  isFinished(oc: Oc): boolean {
    // Read before the body's length, which is final then.
    return stateIn(this.objcores.load(oc, row.META)) === row.STATE_FINISHED;
  }

  isFailed(oc: Oc): boolean {
    return stateIn(this.objcores.get(oc, row.META)) === row.STATE_FAILED;
  }

  /** Whether the head and at least the beginning of the body can be read. */
  isDeliverable(oc: Oc): boolean {
    const state = stateIn(this.objcores.get(oc, row.META));
    return state === row.STATE_STREAM || state === row.STATE_FINISHED;
  }

  isUncacheable(oc: Oc): boolean {
    return (this.objcores.get(oc, row.META) & UNCACHEABLE) !== 0;
  }

  /** Whether it has one of these flags (OF_ of objcore.ts). */
  has(oc: Oc, flags: number): boolean {
    return (this.objcores.get(oc, row.META) & flags) !== 0;
  }

  ttlOf(oc: Oc): number {
    return this.objcores.getDouble(oc, row.TTL);
  }

  graceOf(oc: Oc): number {
    return this.objcores.getDouble(oc, row.GRACE);
  }

  keepOf(oc: Oc): number {
    return this.objcores.getDouble(oc, row.KEEP);
  }

  tOriginOf(oc: Oc): number {
    return this.objcores.getDouble(oc, row.T_ORIGIN);
  }

  hitsOf(oc: Oc): number {
    return this.objcores.get(oc, row.HITS);
  }

  /** The transaction id of its fetch. */
  vxidOf(oc: Oc): number {
    return this.objcores.get(oc, row.VXID) >>> 0;
  }

  /** The largest objects, to be searched step by step. */
  largest(limit: number, now: number): LargestObjects {
    return new LargestObjects(this.state, limit, now);
  }

  storageOf(oc: Oc): string {
    return this.state.stevedores.of(oc).name;
  }
}
