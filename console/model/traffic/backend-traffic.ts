// How backends answered recently: time to the first byte, failures, and both over time, of the fetches in the sample. A
// fetch names its backend without the program: backends of one name in several programs are counted together.

import { earliest } from './rankings.ts';
import type { RecentFacts } from './recent-facts.ts';

/** Seconds covered: all that the sample keeps. */
export const TRAFFIC_SECONDS = 300;
/** Parts of that time; of twenty seconds each, where it is all. */
export const PARTS = 15;
/** Seconds that figures of now cover: what has just begun would be lost among all before it. */
export const LAST_MINUTE = 60;

export interface BackendTraffic {
  fetches: number;
  /** Epoch seconds at which the oldest fetch ended; 0 when unknown. */
  since: number;
  /** Failed, or with a status from 500 on. */
  errors: number;
  /** The newest failure with a reason, as its FetchError says it, and when (epoch seconds); null without one. */
  lastError: { readonly text: string; readonly at: number } | null;
  /** Seconds to the first byte; null where no fetch had one. */
  p50: number | null;
  p99: number | null;
  /** By part of the time, the oldest first: the p99, the share of errors; NaN without fetches. */
  slow: readonly number[];
  failing: readonly number[];
}

interface Part {
  times: number[];
  since: number;
  fetches: number;
  errors: number;
  lastError: BackendTraffic['lastError'];
}

export function backendTraffic(
  recent: RecentFacts,
  now: number,
  seconds: number,
): Map<string, BackendTraffic> {
  const parts = new Map<string, Part[]>();
  recent.each(seconds, now, (facts, at) => {
    if (facts.kind !== 'fetch' || facts.backend === '') return;
    let of = parts.get(facts.backend);
    if (of === undefined) {
      of = Array.from({ length: PARTS }, () => ({
        times: [],
        since: 0,
        fetches: 0,
        errors: 0,
        lastError: null,
      }));
      parts.set(facts.backend, of);
    }
    const age = Math.max(0, Math.floor(((now - at) / seconds) * PARTS));
    const part = of[Math.max(0, PARTS - 1 - age)] as Part;
    part.fetches++;
    part.since = earliest(part.since, facts.ended);
    if (facts.failed || facts.status >= 500) part.errors++;
    if (facts.error !== '') part.lastError = { text: facts.error, at };
    if (facts.seconds >= 0) part.times.push(facts.seconds);
  });
  return new Map([...parts].map(([name, of]) => [name, summary(of)]));
}

function summary(parts: readonly Part[]): BackendTraffic {
  const all = Float64Array.from(parts.flatMap((part) => part.times)).sort();
  const sum = (of: (part: Part) => number): number => parts.reduce((total, part) => total + of(part), 0);
  return {
    fetches: sum((part) => part.fetches),
    since: parts.reduce((since, part) => earliest(since, part.since), 0),
    errors: sum((part) => part.errors),
    lastError: parts.findLast((part) => part.lastError !== null)?.lastError ?? null,
    p50: percentile(all, 0.5),
    p99: percentile(all, 0.99),
    slow: parts.map(({ times }) => percentile(Float64Array.from(times).sort(), 0.99) ?? Number.NaN),
    failing: parts.map(({ errors, fetches }) => (fetches === 0 ? Number.NaN : errors / fetches)),
  };
}

/** The value that this share (0..1) of the sorted values does not exceed. */
function percentile(sorted: Float64Array, share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}
