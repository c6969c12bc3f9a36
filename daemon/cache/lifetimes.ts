// The lifetimes of objects: set by a fetch, shortened by soft purges and soft bans.
//
// Updates the expiry heap. Never removes an object. Durations are seconds, times are seconds since the epoch.

import type { CacheState } from './cache-state.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';

/** Attributes of an object that its fetch sets. */
export interface Attributes {
  tOrigin: number;
  ttl: number;
  grace: number;
  keep: number;
  vxid: number;
  /** Of OF_ATTRIBUTES (objcore.ts). */
  flags: number;
  /** Whether requests on its waiting list may have it although it was stale when it arrived. */
  servesWaiters?: boolean;
}

/** Lifetimes set by a soft purge: ttl from now, negative for how long ago it ended; a negative grace or keep is unchanged. */
export interface SoftPurge {
  ttl: number;
  grace: number;
  keep: number;
  /** They are upper bounds: see shorten(). */
  shortens?: boolean;
}

/** Minimum lifetime in seconds of an object that only waiting requests may have (chosen): they are woken in batches, and on a busy
 * machine seconds may pass between two of them. */
const WAKING = 10;

/** The smallest ttl that is set, in seconds: an object needs one to be stale. */
const LEAST = 0.001;

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

  /** Sets lifetimes from now on, also longer ones, and also for a stale object, which still expires no later than before. */
  reset(oc: Oc, soft: SoftPurge, now: number): void {
    const { objcores } = this.state;
    const end = this.endOf(oc);
    this.state.notBefore(now);
    if (soft.grace >= 0) objcores.setDouble(oc, row.GRACE, soft.grace);
    if (soft.keep >= 0) objcores.setDouble(oc, row.KEEP, soft.keep);
    // 0 is stale, negative is not found by lookups.
    if (soft.ttl < 0) objcores.setDouble(oc, row.TTL, now + soft.ttl - objcores.getDouble(oc, row.T_ORIGIN));
    else this.endTtl(oc, now + soft.ttl);
    // As in Varnish, the object still expires at its old end.
    if (this.endOf(oc) >= end) return;
    this.mail(oc);
  }

  /** Shortens what is longer than these lifetimes from now on. */
  shorten(oc: Oc, soft: SoftPurge, now: number): void {
    const { objcores } = this.state;
    const end = this.endOf(oc);
    this.state.notBefore(now);
    for (const [field, most] of [
      [row.GRACE, soft.grace],
      [row.KEEP, soft.keep],
    ] as const)
      if (most >= 0 && objcores.getDouble(oc, field) > most) objcores.setDouble(oc, field, most);
    const origin = objcores.getDouble(oc, row.T_ORIGIN);
    if (origin + objcores.getDouble(oc, row.TTL) > now + soft.ttl) {
      if (soft.ttl < 0) objcores.setDouble(oc, row.TTL, now + soft.ttl - origin);
      else this.endTtl(oc, now + soft.ttl);
    }
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
    const origin = objcores.getDouble(oc, row.T_ORIGIN);
    if (at - origin >= LEAST) {
      objcores.setDouble(oc, row.TTL, at - origin);
      return;
    }
    // Made at that moment or later. With a ttl of 0 it would lose its grace, too.
    const before = at - LEAST;
    objcores.setDouble(oc, row.T_ORIGIN, before);
    // Not LEAST: this difference is exact, and so is its sum with the origin.
    objcores.setDouble(oc, row.TTL, at - before);
  }
}
