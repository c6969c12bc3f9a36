// Finds backends that begin to answer slowly, and when they answer as before, from the fetches in the sample. The counters
// of a daemon have no times, so it is each console that finds out.

import type { BackendTraffic } from './backend-traffic.ts';

/** Seconds of the current period (chosen). */
export const SLOW_NOW = 20;
/** Fetches in the current period, and before it, below which nothing is reported (chosen). */
const FEW = 10;
/** How many times the usual median, and how many seconds above it, is slow (chosen); half of both is slow no longer. */
const TIMES = 3;
const MORE_SECONDS = 0.2;

export interface SlowChange {
  backend: string;
  /** Seconds to the first byte, medians. */
  usual: number;
  now: number;
  isOver: boolean;
}

export class SlowBackends {
  /** The usual median of those that are slow. */
  private readonly slow = new Map<string, number>();

  /** Backends that became slow or fast. @param all of some minutes @param recent of SLOW_NOW seconds */
  take(all: ReadonlyMap<string, BackendTraffic>, recent: ReadonlyMap<string, BackendTraffic>): SlowChange[] {
    const out: SlowChange[] = [];
    for (const [backend, { fetches, p50: now }] of recent) {
      const whole = all.get(backend);
      if (whole === undefined || now === null || fetches < FEW) continue;
      const before = this.slow.get(backend);
      if (before !== undefined) {
        if (isSlow(before, now, 0.5)) continue;
        this.slow.delete(backend);
        out.push({ backend, usual: before, now, isOver: true });
      } else if (whole.p50 !== null && whole.fetches - fetches >= FEW && isSlow(whole.p50, now, 1)) {
        this.slow.set(backend, whole.p50);
        out.push({ backend, usual: whole.p50, now, isOver: false });
      }
    }
    return out;
  }
}

function isSlow(usual: number, now: number, part: number): boolean {
  return now > usual * Math.max(1, TIMES * part) && now > usual + MORE_SECONDS * part;
}
