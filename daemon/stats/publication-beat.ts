// How often counters are published, and how many backends at a time: what the file and the reports of other threads have
// in common. Many backends take turns: a tenth of them each time, so that thousands of idle ones cost little and no
// publication takes long.

/** Milliseconds between two publications. */
export const BEAT = 100;
/** Publications in a second: about once in one gauges are sampled, and all backends have had their turn. */
export const BEATS = 10;
/** Backends that are published every time, however many there are (chosen: 1,000 values). */
const FEW = 64;

/** How many of so many backends one publication takes. */
export function shareOf(backends: number): number {
  return backends <= FEW ? FEW : Math.ceil(backends / BEATS);
}
