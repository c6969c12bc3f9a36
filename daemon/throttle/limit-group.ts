// Several limits that one call has to keep at once, such as the requests and the objects of an API: it takes a turn at
// all of them or at none, and never overtakes a call that waits at one of them. When another thread intervenes,
// everything taken so far is given back; a strict limit may lose a call for a period this way, and never gains one.

import { CallerQueue, type Release } from './caller-queue.ts';
import { inTurn, Limit } from './limit.ts';
import { shown } from './limit-options.ts';
import type { HeldSlot } from './slots.ts';
import { THREADS_CLOCK } from './steady-clock.ts';

export class LimitGroup {
  private readonly limits: readonly Limit[];
  private readonly queue: CallerQueue<readonly number[]>;
  /** Functions that unregister from the limits; registered only while calls wait. */
  private unwatch: (() => void)[] = [];

  constructor(limits: readonly Limit[]) {
    if (!Array.isArray(limits) || limits.length === 0 || !limits.every((one) => one instanceof Limit))
      throw new TypeError('allOf(): its argument is not a list of limits; give [limit({…}), limit({…})]');
    if (new Set(limits).size < limits.length)
      throw new RangeError('allOf(): a limit is in the list twice; take more calls of it instead');
    this.limits = [...limits];
    // Each limit's waits are in the time of its own clock; the first one's is used for all.
    this.queue = new CallerQueue((counts) => this.attempt(counts), this.limits[0]?.clock ?? THREADS_CLOCK);
  }

  /** Like Limit.take() at all limits: a number of calls for each of them, or a list with one number per limit. */
  async take(calls: number | readonly number[] = 1, signal?: AbortSignal): Promise<Release> {
    const counts = this.counts('take()', calls);
    signal?.throwIfAborted();
    const turn = this.queue.tryTake(counts);
    if (turn !== undefined) return turn;
    if (this.unwatch.length === 0)
      this.unwatch = this.limits.map((one) => one.queue.watch(() => this.queue.wake()));
    try {
      return await this.queue.take(counts, signal);
    } finally {
      if (this.queue.size === 0) for (const end of this.unwatch.splice(0)) end();
    }
  }

  tryTake(calls: number | readonly number[] = 1): Release | undefined {
    return this.queue.tryTake(this.counts('tryTake()', calls));
  }

  /** Like Limit.sleepAndRetry(). */
  sleepAndRetry<A extends unknown[], R>(
    fn: (...args: A) => R | Promise<R>,
    signal?: AbortSignal,
  ): (...args: A) => Promise<R> {
    return inTurn(fn, () => this.take(1, signal));
  }

  private counts(what: string, calls: number | readonly number[]): readonly number[] {
    const counts = typeof calls === 'number' ? this.limits.map(() => calls) : calls;
    if (!Array.isArray(counts) || counts.length !== this.limits.length)
      throw new RangeError(
        `${what}: the numbers of calls are ${shown(calls)}; give one number, or ${this.limits.length} in a list, one for each limit`,
      );
    return this.limits.map((one, i) => one.checked(`${what} of limit ${i + 1}`, counts[i]));
  }

  private attempt(counts: readonly number[]): Release | number {
    let wait = 0;
    for (const [i, one] of this.limits.entries()) {
      // That limit's queue calls back when it is empty.
      if (one.queue.size > 0) return Number.POSITIVE_INFINITY;
      wait = Math.max(wait, one.gate.wait(counts[i] as number));
    }
    if (wait > 0) return wait;
    const taken: (HeldSlot | 0)[] = [];
    for (const [i, one] of this.limits.entries()) {
      const held = one.gate.attempt(counts[i] as number);
      if (typeof held !== 'number' || held === 0) {
        taken.push(held);
        continue;
      }
      for (const [k, back] of taken.entries()) this.limits[k]?.gate.undo(counts[k] as number, back);
      return held;
    }
    return () => {
      for (const [i, held] of taken.entries()) if (held !== 0) this.limits[i]?.end(held);
    };
  }
}
