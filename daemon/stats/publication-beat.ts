// The interval of publications, and the backends per publication: used for the file and for the reports of other
// threads. Many backends take turns, a tenth of them each time, so that thousands of idle ones cost little and no
// publication takes long.

/** Milliseconds between two publications. */
export const BEAT = 100;
/** Publications in a second: gauges are sampled, and all backends published, about once in this number. */
export const BEATS = 10;
/** Number of backends up to which all are published every time (chosen: 1,000 values). */
const FEW = 64;

/** Backends in one publication, by their total. */
export function shareOf(backends: number): number {
  return backends <= FEW ? FEW : Math.ceil(backends / BEATS);
}
