// The worker's one clock: wall time in fractional seconds from a monotonic source. It is corrected against
// the system clock now and then, so timestamps neither jump within a transaction nor drift over weeks.

import { performance } from 'node:perf_hooks';
import type { EpochSeconds } from '../protocol/units.ts';

/** Seconds; a larger difference from the system's clock is adopted (chosen). */
const TOLERANCE = 0.01;
/** Seconds by which the clocks of two threads may differ: each corrects its own, and the system's counts in milliseconds here. */
export const CLOCKS_APART = 2 * TOLERANCE + 0.001;

export class Clock {
  private base = Date.now() / 1000 - performance.now() / 1000;

  /** When it was read last: milliseconds of the steady source. */
  latest = performance.now();

  now(): EpochSeconds {
    this.latest = performance.now();
    return this.base + this.latest / 1000;
  }

  /** Call about once a second. Returns the seconds by which the system's clock was set forward, negative for back. */
  correct(): number {
    const drift = Date.now() / 1000 - this.now();
    if (Math.abs(drift) <= TOLERANCE) return 0;
    this.base += drift;
    return drift;
  }
}
