// The clock of a limit: milliseconds, and a delayed call. The default is the one that all threads of a process share;
// `performance.now()` starts at 0 in each thread. A clock passed in may be set back: time then stands still at its
// latest value, so that no wait becomes longer and no limit is lost.

export interface LimitClock {
  /** Milliseconds with fractions; the same for all threads that share a limit. */
  now(): number;
  /** Calls back after this many milliseconds, unless the returned function is called before. */
  after(ms: number, call: () => void): () => void;
}

/** Longer waits are split: the most that a timer of Node takes. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Milliseconds of the system's monotonic clock. */
export function threadsTime(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

export const THREADS_CLOCK: LimitClock = {
  now: threadsTime,
  after(ms, call) {
    const timer = setTimeout(call, Math.min(LONGEST_TIMER, Math.ceil(ms)));
    return () => clearTimeout(timer);
  },
};

/** Wraps a clock so that it never goes back. */
export function neverBack(clock: LimitClock): LimitClock {
  if (clock === THREADS_CLOCK) return clock;
  let latest = Number.NEGATIVE_INFINITY;
  let behind = 0;
  return {
    now() {
      const shown = clock.now();
      if (!Number.isFinite(shown))
        throw new TypeError(`clock.now() gave ${shown}: it must give milliseconds as a number`);
      if (shown + behind < latest) behind = latest - shown;
      latest = shown + behind;
      return latest;
    },
    after: (ms, call) => clock.after(ms, call),
  };
}
