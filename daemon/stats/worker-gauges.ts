// The WRK gauges: Node's figures about the worker process. Sampled about once a second; nothing here
// runs between samples except the runtime's own delay histogram. The runtime reads its size from a file, which a worker
// without a free descriptor cannot open: the last size stands then.

import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { WrkCounters } from './counter-fields.ts';

/** Returns the function that brings `wrk` up to date. */
export function sampleWorkerGauges(wrk: WrkCounters): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    wrk.loop_busy = Math.round(performance.eventLoopUtilization(now, before).utilization * 1000);
    before = now;
    wrk.loop_lag_us = Number.isFinite(delay.max) ? Math.max(0, Math.round(delay.max / 1000) - 20_000) : 0;
    delay.reset();
    const memory = memoryUsage();
    if (memory === null) return;
    wrk.heap_bytes = memory.heapUsed;
    wrk.rss_bytes = memory.rss;
  };
}

/** Null when no descriptor is free. */
function memoryUsage(): NodeJS.MemoryUsage | null {
  try {
    return process.memoryUsage();
  } catch {
    return null;
  }
}
