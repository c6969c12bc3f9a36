// The worker's one clock: wall time in fractional seconds from a monotonic source. It is corrected against
// the system clock now and then, so timestamps neither jump within a transaction nor drift over weeks.

import { performance } from 'node:perf_hooks';
import type { EpochSeconds } from '../protocol/units.ts';

/** A larger difference than this (seconds) to the system's clock is taken over. */
const TOLERANCE = 0.01;

export class Clock {
  private base = Date.now() / 1000 - performance.now() / 1000;

  now(): EpochSeconds {
    return this.base + performance.now() / 1000;
  }

  /** Call about once a second. Seconds that the system's clock has been set forward, negative for back. */
  correct(): number {
    const drift = Date.now() / 1000 - this.now();
    if (Math.abs(drift) <= TOLERANCE) return 0;
    this.base += drift;
    return drift;
  }
}
