// Client-side rate limits for any API that allows a number of calls per period, across the threads of a process. The
// package exports this module as `proxyd/throttle`, so that it and its imports need nothing else of the proxy;
// README.md in this folder documents it for users.

import { Limit } from './limit.ts';
import { LimitGroup } from './limit-group.ts';
import type { LimitOptions } from './limit-options.ts';

export type { Release } from './caller-queue.ts';
export type { EndingThread, Limit, LimitSnapshot } from './limit.ts';
export type { LimitGroup } from './limit-group.ts';
export type { LimitOptions } from './limit-options.ts';
export { daysUntilUsedUp, perMinuteFromHourly, perMinuteFromQuota } from './quota.ts';
export type { LimitClock } from './steady-clock.ts';

/** Makes a limit of calls per period and calls at once. Throws a RangeError or TypeError for invalid options. */
export function limit(options: LimitOptions): Limit {
  return new Limit(options);
}

/** Combines limits: a call takes a turn at all of them or at none. */
export function allOf(limits: readonly Limit[]): LimitGroup {
  return new LimitGroup(limits);
}
