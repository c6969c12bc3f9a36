// A walk through all objects in memory, in bounded steps and without touching them. Objects that come or go meanwhile may be
// missed.

import type { CacheState } from './cache-state.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';

/** Rows between two reads of the clock. */
const STRIDE = 8;

export abstract class ObjectWalk {
  /** Objects seen so far. */
  objects = 0;
  protected readonly state: CacheState;
  private next: Oc = 1;

  constructor(state: CacheState) {
    this.state = state;
  }

  /** Does a bounded step; true when it is done. */
  step(): boolean {
    const { objcores, millis, lock, longestStep, turns } = this.state;
    return lock.hold(() => {
      const end = millis() + longestStep;
      while (this.next < objcores.end) {
        const oc = this.next++;
        // A freed row has no references, and links in its first words.
        if (row.isHeld(objcores.get(oc, row.REFS)) && (objcores.get(oc, row.META) & row.OF_INDEXED) !== 0) {
          this.objects++;
          this.look(oc);
        }
        if (this.next % STRIDE === 0 && (millis() >= end || !turns.mayContinue())) return false;
      }
      return true;
    });
  }

  /** Under the lock. */
  protected abstract look(oc: Oc): void;
}
