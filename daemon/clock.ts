// The worker's clock: wall time in fractional seconds from a monotonic source, the same in all threads. One of them
// periodically corrects it against the system clock, so that timestamps neither jump within a transaction nor drift over weeks.

import { performance } from 'node:perf_hooks';
import type { EpochSeconds } from '../protocol/units.ts';

/** Seconds; a larger difference from the system clock is corrected (chosen). */
const TOLERANCE = 0.01;
/** How often the two sources are read side by side: a thread that loses its processor between them is far off. */
const TRIES = 5;
/** Maximum difference between the readings of two threads at one moment, in seconds (chosen: far more than the microseconds to
 * which a thread finds its offset). */
export const CLOCKS_APART = 0.001;

/** Seconds of the system's monotonic clock, which all threads share. performance.now() takes half the time, but begins at 0 in
 * each thread. */
function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds + nanoseconds / 1e9;
}

/** Reading of the monotonic clock, in seconds, when performance.now() of this thread was 0. */
function threadOrigin(): number {
  let origin = 0;
  let narrowest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES; i++) {
    const before = monotonic();
    const own = performance.now() / 1000;
    const after = monotonic();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    origin = (before + after) / 2 - own;
  }
  return origin;
}

/** Epoch seconds at 0 of the monotonic clock: one double of shared memory, for the clocks of all threads. */
export function clockBase(): Float64Array {
  return new Float64Array(new SharedArrayBuffer(8)).fill(Date.now() / 1000 - monotonic());
}

export class Clock {
  private readonly base: Float64Array;
  private readonly origin = threadOrigin();

  /** The latest reading, in milliseconds of performance.now(). */
  latest = performance.now();

  /** @param base from clockBase(), which clocks of other threads may have too */
  constructor(base: Float64Array = clockBase()) {
    this.base = base;
  }

  now(): EpochSeconds {
    this.latest = performance.now();
    return (this.base[0] as number) + this.origin + this.latest / 1000;
  }

  /** Call about once a second, in one of the threads. Returns the seconds by which the clock was set forward, negative for
   * backward. */
  correct(): number {
    const drift = Date.now() / 1000 - this.now();
    if (Math.abs(drift) <= TOLERANCE) return 0;
    this.base[0] = (this.base[0] as number) + drift;
    return drift;
  }
}
