// The lifetimes of objects: set by a fetch, brought forward by soft purges and soft bans.
//
// Keeps the expiry heap in step with them. Never takes an object out. Times are seconds, points in time are seconds
// since the epoch.

import type { CacheState } from './cache-state.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';

/** A fetch's account of its object beside the bytes: when it was made, how long it lives, what kind it is. */
export interface Attributes {
  tOrigin: number;
  ttl: number;
  grace: number;
  keep: number;
  vxid: number;
  /** Of OF_ATTRIBUTES (objcore.ts). */
  flags: number;
}

/** Lifetimes that a soft purge gives: ttl from now, or since when it is over when negative; a negative grace or keep
 * stays as it is. */
export interface SoftPurge {
  ttl: number;
  grace: number;
  keep: number;
}

/** An object has to have lived at all to be stale: the least life that it is left. */
const LEAST = 0.001;

export class Lifetimes {
  private readonly state: CacheState;

  constructor(state: CacheState) {
    this.state = state;
  }

  setAttributes(oc: Oc, a: Attributes): void {
    const { objcores, transfers } = this.state;
    const transfer = transfers.get(oc);
    if (transfer !== undefined) transfer.stamp = a.vxid | 0;
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

  /** When the object is of no use any more. */
  endOf(oc: Oc): number {
    const { objcores } = this.state;
    return (
      objcores.getDouble(oc, row.T_ORIGIN) +
      objcores.getDouble(oc, row.TTL) +
      objcores.getDouble(oc, row.GRACE) +
      objcores.getDouble(oc, row.KEEP)
    );
  }

  isFresh(oc: Oc, now: number): boolean {
    const { objcores } = this.state;
    return objcores.getDouble(oc, row.T_ORIGIN) + objcores.getDouble(oc, row.TTL) > now;
  }

  /** Gives an object these lifetimes, from now on: longer ones too, and to a stale object as well. What it gains stops
   * at the end that it had. */
  reset(oc: Oc, soft: SoftPurge, now: number): void {
    const { objcores } = this.state;
    const end = this.endOf(oc);
    this.state.notBefore(now);
    if (soft.grace >= 0) objcores.setDouble(oc, row.GRACE, soft.grace);
    if (soft.keep >= 0) objcores.setDouble(oc, row.KEEP, soft.keep);
    // Nothing left is stale, less than nothing is not found any more.
    if (soft.ttl < 0) objcores.setDouble(oc, row.TTL, now + soft.ttl - objcores.getDouble(oc, row.T_ORIGIN));
    else this.endTtl(oc, now + soft.ttl);
    // As in Varnish: an object goes at its old end all the same.
    if (this.endOf(oc) >= end) return;
    this.mail(oc);
  }

  /** Makes an object stale as of `at`, from when its grace counts; false when it was stale by then. */
  soften(oc: Oc, at: number): boolean {
    const { objcores } = this.state;
    const origin = objcores.getDouble(oc, row.T_ORIGIN);
    const ttl = objcores.getDouble(oc, row.TTL);
    if (ttl <= 0 || origin + ttl <= at) return false;
    this.endTtl(oc, at);
    this.mail(oc);
    return true;
  }

  /** Moves the object in the expiry heap, and counts it as Varnish counts what its expiry thread is sent. */
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
    // Made after that, or in the same moment. A life of nothing would take its grace away too.
    const before = at - LEAST;
    objcores.setDouble(oc, row.T_ORIGIN, before);
    // Not the same as LEAST: the difference of two neighbours is exact, and so is its sum.
    objcores.setDouble(oc, row.TTL, at - before);
  }
}
