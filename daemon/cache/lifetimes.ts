// The lifetimes of objects: set by a fetch, shortened by soft purges and soft bans.
//
// Updates the expiry heap. Never removes an object. Durations are seconds, times are seconds since the epoch.

import type { CacheState } from './cache-state.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';
import { endingAt, type Lives, type SoftPurge, softened } from './soft-purge.ts';

/** Attributes of an object that its fetch sets. */
export interface Attributes extends Lives {
  vxid: number;
  /** Of OF_ATTRIBUTES (objcore.ts). */
  flags: number;
  /** Whether requests on its waiting list may have it although it was stale when it arrived. */
  servesWaiters?: boolean;
}

/** Minimum lifetime in seconds of an object that only waiting requests may have (chosen): they are woken in batches, and on a busy
 * machine seconds may pass between two of them. */
const WAKING = 10;

export class Lifetimes {
  private readonly state: CacheState;

  constructor(state: CacheState) {
    this.state = state;
  }

  setAttributes(oc: Oc, a: Attributes): void {
    const { objcores, transfers } = this.state;
    const transfer = transfers.get(oc);
    if (transfer !== undefined) {
      transfer.stamp = a.vxid | 0;
      transfer.servesWaiters = a.servesWaiters === true;
    }
    objcores.setDouble(oc, row.T_ORIGIN, a.tOrigin);
    objcores.setDouble(oc, row.TTL, a.ttl);
    objcores.setDouble(oc, row.GRACE, a.grace);
    objcores.setDouble(oc, row.KEEP, a.keep);
    objcores.set(oc, row.VXID, a.vxid);
    objcores.set(
      oc,
      row.META,
      (objcores.get(oc, row.META) & ~row.OF_ATTRIBUTES) | (a.flags & row.OF_ATTRIBUTES),
    );
    this.reschedule(oc);
  }

  /** When the object expires: the end of ttl, grace and keep. */
  endOf(oc: Oc): number {
    const { objcores } = this.state;
    const life =
      objcores.getDouble(oc, row.TTL) + objcores.getDouble(oc, row.GRACE) + objcores.getDouble(oc, row.KEEP);
    const isForWaiters = (objcores.get(oc, row.META) & row.OF_FOR_WAITERS) !== 0;
    return objcores.getDouble(oc, row.T_ORIGIN) + (isForWaiters ? Math.max(life, WAKING) : life);
  }

  isFresh(oc: Oc, now: number): boolean {
    const { objcores } = this.state;
    return objcores.getDouble(oc, row.T_ORIGIN) + objcores.getDouble(oc, row.TTL) > now;
  }

  /** As softened(); the object still expires no later than before. */
  reset(oc: Oc, soft: SoftPurge, now: number): void {
    const { objcores } = this.state;
    const end = this.endOf(oc);
    this.state.notBefore(now);
    const { tOrigin, ttl, grace, keep } = softened(this.livesOf(oc), soft, now);
    objcores.setDouble(oc, row.T_ORIGIN, tOrigin);
    objcores.setDouble(oc, row.TTL, ttl);
    objcores.setDouble(oc, row.GRACE, grace);
    objcores.setDouble(oc, row.KEEP, keep);
    // As in Varnish, the object still expires at its old end.
    if (this.endOf(oc) < end) this.mail(oc);
  }

  /** Makes an object stale as of `at`, from when its grace counts; false when it was already stale. */
  soften(oc: Oc, at: number): boolean {
    const { objcores } = this.state;
    const origin = objcores.getDouble(oc, row.T_ORIGIN);
    const ttl = objcores.getDouble(oc, row.TTL);
    if (ttl <= 0 || origin + ttl <= at) return false;
    this.endTtl(oc, at);
    this.mail(oc);
    return true;
  }

  /** Moves the object in the expiry heap, counted as mail to Varnish's expiry thread. */
  mail(oc: Oc): void {
    this.reschedule(oc);
    this.state.counters.exp_mailed++;
    this.state.counters.exp_received++;
  }

  private reschedule(oc: Oc): void {
    const { objcores, expiryHeap, events } = this.state;
    if ((objcores.get(oc, row.META) & row.OF_INDEXED) === 0) return;
    const from = expiryHeap.endOf(oc);
    const to = this.endOf(oc);
    expiryHeap.set(oc, to);
    if (from === null) events.inserted(oc, to);
    else events.rearmed(oc, from, to);
  }

  private endTtl(oc: Oc, at: number): void {
    const { objcores } = this.state;
    const { tOrigin, ttl } = endingAt(objcores.getDouble(oc, row.T_ORIGIN), at);
    objcores.setDouble(oc, row.T_ORIGIN, tOrigin);
    objcores.setDouble(oc, row.TTL, ttl);
  }

  private livesOf(oc: Oc): Lives {
    const { objcores } = this.state;
    return {
      tOrigin: objcores.getDouble(oc, row.T_ORIGIN),
      ttl: objcores.getDouble(oc, row.TTL),
      grace: objcores.getDouble(oc, row.GRACE),
      keep: objcores.getDouble(oc, row.KEEP),
    };
  }
}
