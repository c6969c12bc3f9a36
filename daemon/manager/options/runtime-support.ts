// Releases of Node with the end of their security fixes, for -V: a proxy whose runtime has known faults is one itself.

/** The release that packages bring, and that the benches are played on beside the oldest one. */
const RECOMMENDED = 26;

/** Major releases, and the day from which on they get no fixes (github.com/nodejs/release). Newer ones are not known here. */
const ENDS: readonly (readonly [major: number, end: string])[] = [
  [20, '2026-04-30'],
  [21, '2024-06-01'],
  [22, '2027-04-30'],
  [23, '2025-06-01'],
  [24, '2028-04-30'],
  [25, '2026-06-01'],
  [26, '2029-04-30'],
];

/**
 * A sentence about the runtime's release; '' for a recommended one and for those that are not known.
 * @param version as in process.versions.node
 * @param now milliseconds since the epoch
 */
export function runtimeSupport(version: string, now: number): string {
  const major = Number.parseInt(version, 10);
  const end = ENDS.find(([each]) => each === major)?.[1];
  const isOver = end !== undefined && now >= Date.parse(end);
  const advice = major === RECOMMENDED ? '' : `; Node ${RECOMMENDED} is recommended`;
  if (isOver) return `Warning: Node ${major} has had no security fixes since ${end}${advice}`;
  return major < RECOMMENDED ? `Node ${RECOMMENDED} is recommended` : '';
}
