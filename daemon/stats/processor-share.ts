// The processor time that this process uses, as a share of one processor: what the gauges of both processes show. It asks
// the system when it is called and keeps nothing but the last answer; all threads of the process count.

/** Returns the function that gives the share since its last call, in 1/1000. */
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

/** Resident memory, null when no descriptor is free: the runtime reads it from a file. */
export function residentBytes(): number | null {
  try {
    return process.memoryUsage.rss();
  } catch {
    return null;
  }
}
