// The WRK gauges: Node's figures about the worker process. Sampled about once a second; nothing here
// runs between samples except the runtime's own delay histogram. The runtime reads its size from a file, which a worker
// without a free descriptor cannot open: the last size stands then.

import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { WrkCounters } from './counter-fields.ts';
import { processorShare } from './processor-share.ts';

/** Milliseconds between the looks at the loop's delay: of a loop with work and of an idle one, which each look wakes. */
const FINE = 20;
const COARSE = 100;
/** Share of the last second from which a loop has work (chosen). */
const WORK = 0.05;

/** Returns the function that brings `wrk` up to date. */
export function sampleWorkerGauges(wrk: WrkCounters): () => void {
  const coarse = monitorEventLoopDelay({ resolution: COARSE });
  const fine = monitorEventLoopDelay({ resolution: FINE });
  coarse.enable();
  let before = performance.eventLoopUtilization();
  const share = processorShare();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    wrk.loop_busy = Math.round(utilization * 1000);
    wrk.loop_lag_us = Math.max(worst(coarse, COARSE), worst(fine, FINE));
    if (utilization >= WORK) fine.enable();
    else fine.disable();
    wrk.cpu = share();
    const memory = memoryUsage();
    if (memory === null) return;
    wrk.heap_bytes = memory.heapUsed;
    wrk.rss_bytes = memory.rss;
  };
}

/** Microseconds since the last call, beyond the interval itself; 0 when it has not looked. */
function worst(delay: IntervalHistogram, resolution: number): number {
  const { count, max } = delay;
  delay.reset();
  return count === 0 ? 0 : Math.max(0, Math.round(max / 1000) - resolution * 1000);
}

/** Null when no descriptor is free. */
function memoryUsage(): NodeJS.MemoryUsage | null {
  try {
    return process.memoryUsage();
  } catch {
    return null;
  }
}
