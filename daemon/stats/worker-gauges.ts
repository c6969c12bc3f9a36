// The WRK gauges: Node's figures about the worker process, sampled about once a second. Nothing runs between samples
// except the runtime's own delay histogram. The runtime reads its memory size from a file, which a worker without a
// free descriptor cannot open: then the last size stays.

import { performance } from 'node:perf_hooks';
import type { TurnWatch } from '../turns/turn-watch.ts';
import type { WrkCounters } from './counter-fields.ts';
import { LoopDelay } from './loop-delay.ts';
import { processorShare } from './processor-share.ts';
import { threadTimes } from './thread-times.ts';

/** Milliseconds between delay samples: of a busy loop, and of an idle one, which each sample wakes. */
const FINE = 20;
const COARSE = 100;
/** Share of the last second from which a loop counts as busy (chosen). */
const WORK = 0.05;

/** Returns a function that updates `wrk`. */
export function sampleWorkerGauges(wrk: WrkCounters, watch: TurnWatch): () => void {
  const coarse = new LoopDelay(COARSE);
  const fine = new LoopDelay(FINE);
  coarse.enable(true);
  let before = performance.eventLoopUtilization();
  const share = processorShare();
  const times = threadTimes();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    wrk.loop_busy = Math.round(utilization * 1000);
    wrk.loop_lag_us = Math.max(coarse.worst(), fine.worst());
    watch.lagged(wrk.loop_lag_us / 1000, times());
    wrk.longest_turn_us = Math.round((watch.longest()?.millis ?? 0) * 1000);
    fine.enable(utilization >= WORK);
    wrk.cpu = share();
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
