// Finds the largest objects in memory, in bounded steps and without touching them. Objects that come, go or grow meanwhile
// may be missing, or have the size at which they were seen.

import type { CacheState } from './cache-state.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';
import { ObjectWalk } from './object-walk.ts';

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

export class LargestObjects extends ObjectWalk {
  /** The largest first. */
  readonly found: SizedObject[] = [];
  private readonly limit: number;
  private readonly now: number;

  /** @param limit the number of objects at most, at least 1 */
  constructor(state: CacheState, limit: number, now: number) {
    super(state);
    this.limit = limit;
    this.now = now;
  }

  protected look(oc: Oc): void {
    const { objcores, objheads, stevedores } = this.state;
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
