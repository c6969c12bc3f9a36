// The processor time of this process as a share of one processor, for the gauges of manager and worker. It queries the
// system when called and keeps only the last answer; all threads of the process count.

/** Returns a function that gives the share since its last call, in 1/1000. */
export function processorShare(): () => number {
  let used = process.cpuUsage();
  let at = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(used);
    const now = performance.now();
    const share = now > at ? (user + system) / (now - at) : 0;
    used = process.cpuUsage();
    at = now;
    return Math.round(share);
  };
}

/** Resident memory in bytes; null when no descriptor is free, because the runtime reads it from a file. */
export function residentBytes(): number | null {
  try {
    return process.memoryUsage.rss();
  } catch {
    return null;
  }
}
