// A lookup's question and its answer. Both objects belong to the caller and are reused.

import type { HttpMessage } from '../http1/message.ts';
import type { Oc } from './objcore.ts';

export const LookupAnswer = {
  /** `oc` is fresh. */
  HIT: 1,
  /** `oc` is stale but in grace; `busy` is set when this caller must fetch in the background. */
  GRACE: 2,
  /** Nothing usable: the caller fetches into `busy`; `stale` may serve a conditional fetch. */
  MISS: 3,
  /** A hit-for-miss marker: as MISS, and nobody waits for the fetch. */
  HITMISS: 4,
  /** A hit-for-pass marker: the caller passes. */
  HITPASS: 5,
  /** Somebody else is fetching what may match: the caller waits and looks up again. */
  BUSY: 6,
  /** More bans have to be tested than this turn allows: the caller waits for its next one and looks up again. */
  UNTESTED: 7,
} as const;
export type LookupAnswer = (typeof LookupAnswer)[keyof typeof LookupAnswer];

export class LookupQuery {
  /** The whole key as hash_data() built it. */
  key = '';
  /** The request: for Vary and bans. */
  http: HttpMessage;
  /** Epoch seconds; a lookup moves it on to the latest soft purge of another thread. */
  now = 0;
  hashAlwaysMiss = false;
  hashIgnoreBusy = false;
  hashIgnoreVary = false;
  /** The request has waited for somebody else's fetch and comes to see what became of it. */
  waited = false;
  /** req.grace and req.ttl in seconds; negative when unset, and a req.ttl of 0 counts as unset, as in
   * Varnish. They can only shorten what the object has. */
  reqGrace = -1;
  reqTtl = -1;

  /** Called for each object that a ban takes out on the way, with the id of its fetch. */
  onBanned: ((vxid: number) => void) | null = null;

  constructor(http: HttpMessage) {
    this.http = http;
  }
}

export class LookupResult {
  /** HIT, GRACE: the object; the caller holds a reference. */
  oc: Oc = 0;
  /** The new busy object, or 0; the caller holds a reference and must finish it, fail it or give it back. */
  busy: Oc = 0;
  /** MISS: the newest stale object, or 0. HITMISS: the marker, which the new object replaces. The caller holds a
   * reference. */
  stale: Oc = 0;
  /** HITMISS, HITPASS: who made the marker, and how long it still holds in seconds. */
  hitVxid = 0;
  hitTtl = 0;
  /** Variants that were looked at in vain. */
  variants = 0;

  clear(): void {
    this.oc = 0;
    this.busy = 0;
    this.stale = 0;
    this.hitVxid = 0;
    this.hitTtl = 0;
    this.variants = 0;
  }
}
