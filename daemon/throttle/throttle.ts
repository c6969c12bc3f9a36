// Keeps the rate limits of others: of any API that allows so many calls in so much time, across the threads of a
// process. The package exports this module as `proxyd/throttle`, so that it and all it imports need nothing else of
// the proxy; README.md beside it is for those who use it.

import { Limit } from './limit.ts';
import { LimitGroup } from './limit-group.ts';
import type { LimitOptions } from './limit-options.ts';

export type { Release } from './caller-queue.ts';
export type { EndingThread, Limit, LimitSnapshot } from './limit.ts';
export type { LimitGroup } from './limit-group.ts';
export type { LimitOptions } from './limit-options.ts';
export { daysUntilUsedUp, perMinuteFromHourly, perMinuteFromQuota } from './quota.ts';
export type { LimitClock } from './steady-clock.ts';

/** So many calls in a period, and so many at once. Throws a RangeError or TypeError for what cannot be. */
export function limit(options: LimitOptions): Limit {
  return new Limit(options);
}

/** Takes a turn at all of the limits or at none. */
export function allOf(limits: readonly Limit[]): LimitGroup {
  return new LimitGroup(limits);
}
