// The query of a lookup and its result. Both objects belong to the caller and are reused.

import type { HttpMessage } from '../http1/message.ts';
import type { Oc } from './objcore.ts';

export const LookupAnswer = {
  /** `oc` is fresh. */
  HIT: 1,
  /** `oc` is stale but in grace; `busy` is set when this caller must fetch in the background. */
  GRACE: 2,
  /** Nothing usable: the caller fetches into `busy`; `stale` may serve a conditional fetch. */
  MISS: 3,
  /** A hit-for-miss marker: as MISS, but no request waits for the fetch. */
  HITMISS: 4,
  /** A hit-for-pass marker: the caller passes. */
  HITPASS: 5,
  /** A fetch under way may bring a match: the caller waits and looks up again. */
  BUSY: 6,
  /** More bans must be tested than this turn allows: the caller waits for its turn and looks up again. */
  UNTESTED: 7,
} as const;
export type LookupAnswer = (typeof LookupAnswer)[keyof typeof LookupAnswer];

export class LookupQuery {
  /** The key built by hash_data(). */
  key = '';
  /** The request: for Vary and bans. */
  http: HttpMessage;
  /** Epoch seconds; a lookup advances it to the latest soft purge of another thread. */
  now = 0;
  hashAlwaysMiss = false;
  hashIgnoreBusy = false;
  hashIgnoreVary = false;
  /** The request has waited for another request's fetch. */
  waited = false;
  /** req.grace and req.ttl in seconds; negative when unset, and a req.ttl of 0 counts as unset, as in
   * Varnish. They can only shorten what the object has. */
  reqGrace = -1;
  reqTtl = -1;

  /** Called for each object that a ban removes, with the id of its fetch. */
  onBanned: ((vxid: number) => void) | null = null;

  constructor(http: HttpMessage) {
    this.http = http;
  }
}

export class LookupResult {
  /** HIT, GRACE: the object; the caller holds a reference. */
  oc: Oc = 0;
  /** The new busy object, or 0; the caller holds a reference and must finish it, fail it or release it. */
  busy: Oc = 0;
  /** MISS: the newest stale object, or 0. HITMISS: the marker, which the new object replaces. The caller holds a
   * reference. */
  stale: Oc = 0;
  /** HITMISS, HITPASS: id of the marker's fetch, and its remaining ttl in seconds. */
  hitVxid = 0;
  hitTtl = 0;
  /** Variants that did not match. */
  variants = 0;
  /** BUSY: the set of slices (part-facts.ts) whose head is on its way, 0 is none, the busy object that is to have it, without a
   * reference, and the number of the slice that comes with it. */
  comingSet = 0;
  comingOc: Oc = 0;
  comingIndex = 0;

  clear(): void {
    this.oc = 0;
    this.busy = 0;
    this.stale = 0;
    this.hitVxid = 0;
    this.hitTtl = 0;
    this.variants = 0;
    this.comingSet = 0;
  }
}
