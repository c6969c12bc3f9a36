// Requests, hits and lookups a second, for charts: by the second for an hour, by ten seconds for a day, as the daemon keeps
// its counters. Both go on while the console looks, and take what was before when it has come. Fixed in size.

import type { PastPoint, RATED } from '../../client/source.ts';
import { Series } from './series.ts';

export const HOUR_SECONDS = 3600;
export const DAY_SECONDS = 86_400;
const COARSE_STEP = 10;
/** Steps without a sample that are a hole: the daemon did not run, or did not keep any. */
const HOLE = 5;

/** Requests of clients. The counter has one twice that waited for the fetch of another, here and in Varnish up to 7.1.1: it
 * comes in again. Varnish 7.7.0 has it once; since when is not known, and taken to be the release that changed its log.
 * @param version as the daemon says it */
export function requestsOf(
  of: (name: 'MAIN.client_req' | 'MAIN.busy_wakeup') => number,
  version: string,
): number {
  const [, major = 0, minor = 0] = (/^varnish-(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  const again = major * 1000 + minor >= 7003 ? 0 : of('MAIN.busy_wakeup');
  return Math.max(0, of('MAIN.client_req') - again);
}

/** Only this project's daemon keeps a past of its counters. */
const OWN = '';

/** A second; hits and lookups are NaN where nothing was looked up. */
export interface Rates {
  requests: number;
  hits: number;
  lookups: number;
}

const UNKNOWN: Rates = { requests: Number.NaN, hits: Number.NaN, lookups: Number.NaN };

class RateSeries {
  readonly requests: Series;
  readonly hits: Series;
  readonly lookups: Series;

  constructor(capacity: number) {
    this.requests = new Series(capacity);
    this.hits = new Series(capacity);
    this.lookups = new Series(capacity);
  }

  push(at: number, { requests, hits, lookups }: Rates): void {
    this.requests.push(at, requests);
    this.hits.push(at, hits);
    this.lookups.push(at, lookups);
  }

  /** Samples of before the first one; what is not older is left out. */
  prepend(samples: readonly (Rates & { at: number })[]): void {
    const first = this.requests.timeAt(0) ?? Number.POSITIVE_INFINITY;
    const older = samples.filter((sample) => sample.at < first);
    const at = older.map((sample) => sample.at);
    for (const name of ['requests', 'hits', 'lookups'] as const)
      this[name].prepend(
        at,
        older.map((sample) => sample[name]),
      );
  }
}

export class RateHistory {
  readonly fine = new RateSeries(HOUR_SECONDS + 100);
  readonly coarse = new RateSeries(DAY_SECONDS / COARSE_STEP + 100);
  /** What of the present ten seconds has come. */
  private sums = { seconds: 0, requests: 0, hits: 0, lookups: 0 };

  /** Rates over the `seconds` that end at `at`. */
  push(at: number, seconds: number, rates: Rates): void {
    this.fine.push(at, rates);
    const { sums } = this;
    sums.seconds += seconds;
    sums.requests += rates.requests * seconds;
    if (rates.lookups > 0) {
      sums.hits += rates.hits * seconds;
      sums.lookups += rates.lookups * seconds;
    }
    if (sums.seconds < COARSE_STEP) return;
    const over = (sum: number): number => sum / sums.seconds;
    this.coarse.push(at, {
      requests: over(sums.requests),
      hits: over(sums.hits),
      lookups: over(sums.lookups),
    });
    this.sums = { seconds: 0, requests: 0, hits: 0, lookups: 0 };
  }

  gap(at: number): void {
    this.fine.push(at, UNKNOWN);
    this.coarse.push(at, UNKNOWN);
    this.sums = { seconds: 0, requests: 0, hits: 0, lookups: 0 };
  }

  /** For a chart of the last `seconds`. */
  over(seconds: number): RateSeries {
    return seconds > HOUR_SECONDS ? this.coarse : this.fine;
  }

  /** Samples of the daemon's history, so many seconds apart. */
  prepend(step: number, points: readonly PastPoint[]): void {
    (step < COARSE_STEP ? this.fine : this.coarse).prepend(ratesOf(points, step));
  }
}

function ratesOf(points: readonly PastPoint[], step: number): (Rates & { at: number })[] {
  const out: (Rates & { at: number })[] = [];
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1] as PastPoint, points[i] as PastPoint];
    const seconds = b.at - a.at;
    if (seconds > HOLE * step) {
      out.push({ at: a.at + 1, ...UNKNOWN });
      continue;
    }
    const began = reading(b, 'MAIN.uptime') < reading(a, 'MAIN.uptime');
    const rate = (name: (typeof RATED)[number]): number => {
      const [before, after] = [reading(a, name), reading(b, name)];
      return (began || after < before ? after : after - before) / seconds;
    };
    const hits = rate('MAIN.cache_hit');
    out.push({ at: b.at, requests: requestsOf(rate, OWN), hits, lookups: hits + rate('MAIN.cache_miss') });
  }
  return out;
}

function reading({ names, values }: PastPoint, name: string): number {
  return values[names.indexOf(name)] ?? 0;
}
