// Finds the largest objects in memory, in bounded steps and without touching them. Objects that come, go or grow meanwhile
// may be missing, or have the size at which they were seen.

import type { CacheState } from './cache-state.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';

/** Rows between two reads of the clock. */
const STRIDE = 8;

export interface SizedObject {
  /** Of the body as stored. */
  readonly bytes: number;
  /** The lookup key, or its digest. */
  readonly key: string;
  readonly hits: number;
  /** Seconds; the ttl may be negative. */
  readonly age: number;
  readonly ttl: number;
  readonly storage: string;
}

export class LargestObjects {
  /** The largest first. */
  readonly found: SizedObject[] = [];
  objects = 0;
  private readonly state: CacheState;
  private readonly limit: number;
  private readonly now: number;
  private next: Oc = 1;

  /** @param limit at most so many objects are found, at least 1 */
  constructor(state: CacheState, limit: number, now: number) {
    this.state = state;
    this.limit = limit;
    this.now = now;
  }

  /** Does a bounded step; true when it is done. */
  step(): boolean {
    const { objcores, millis, lock, longestStep, turns } = this.state;
    return lock.hold(() => {
      const end = millis() + longestStep;
      while (this.next < objcores.end) {
        this.look(this.next++);
        if (this.next % STRIDE === 0 && (millis() >= end || !turns.mayContinue())) return false;
      }
      return true;
    });
  }

  private look(oc: Oc): void {
    const { objcores, objheads, stevedores } = this.state;
    // A freed row has no references, and links in its first words.
    if (!row.isHeld(objcores.get(oc, row.REFS)) || (objcores.get(oc, row.META) & row.OF_INDEXED) === 0)
      return;
    this.objects++;
    const { found, limit } = this;
    const bytes = objcores.getDouble(oc, row.BODY_LENGTH);
    if (found.length === limit && bytes <= (found[limit - 1] as SizedObject).bytes) return;
    const age = this.now - objcores.getDouble(oc, row.T_ORIGIN);
    const object = {
      bytes,
      key: objheads.keyOf(objcores.get(oc, row.OBJHEAD)),
      hits: objcores.get(oc, row.HITS),
      age,
      ttl: objcores.getDouble(oc, row.TTL) - age,
      storage: stevedores.of(oc).name,
    };
    const at = found.findIndex((other) => other.bytes < bytes);
    found.splice(at < 0 ? found.length : at, 0, object);
    if (found.length > limit) found.pop();
  }
}
