// The worker's clock: wall time in fractional seconds from a monotonic source. It is periodically corrected against the
// system clock, so that timestamps neither jump within a transaction nor drift over weeks.

import { performance } from 'node:perf_hooks';
import type { EpochSeconds } from '../protocol/units.ts';

/** Seconds; a larger difference from the system clock is corrected (chosen). */
const TOLERANCE = 0.01;
/** Maximum difference between the clocks of two threads, in seconds: each corrects its own, and the system clock has
 * milliseconds. */
export const CLOCKS_APART = 2 * TOLERANCE + 0.001;

export class Clock {
  private base = Date.now() / 1000 - performance.now() / 1000;

  /** The latest reading, in milliseconds of the monotonic source. */
  latest = performance.now();

  now(): EpochSeconds {
    this.latest = performance.now();
    return this.base + this.latest / 1000;
  }

  /** Call about once a second. Returns the seconds by which the clock was set forward, negative for backward. */
  correct(): number {
    const drift = Date.now() / 1000 - this.now();
    if (Math.abs(drift) <= TOLERANCE) return 0;
    this.base += drift;
    return drift;
  }
}
