// The WRK gauges: what the runtime says about the worker process. Sampled about once a second; nothing here
// runs between samples except the runtime's own delay histogram.

import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { WrkCounters } from './counters.ts';

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
    const memory = process.memoryUsage();
    wrk.heap_bytes = memory.heapUsed;
    wrk.rss_bytes = memory.rss;
  };
}
