// Requests, hits and all that was answered a second, for charts: by the second for an hour, by ten seconds for a day, as the
// daemon keeps its counters. Both grow while the console runs, and take earlier samples once those are loaded. Fixed in size.

import type { PastPoint, RATED } from '../../client/source.ts';
import { UNCACHED } from './hit-rate.ts';
import { Series } from './series.ts';

export const HOUR_SECONDS = 3600;
export const DAY_SECONDS = 86_400;
const COARSE_STEP = 10;
/** Steps without a sample that are a gap: the daemon did not run, or kept no samples. */
const HOLE = 5;

type Counted = 'MAIN.client_req' | 'MAIN.client_req_again' | 'MAIN.busy_wakeup';

/** Requests of clients. Before 7.2 Varnish counts a request again each time that it has waited for the fetch of another;
 * this project's daemon does so unless it follows a newer release, and says how many it counted again.
 * @param version as the daemon reports it */
export function requestsOf(of: (name: Counted) => number, version: string): number {
  const varnish = /^varnish-(\d+)\.(\d+)/.exec(version);
  if (varnish === null) return Math.max(0, of('MAIN.client_req') - of('MAIN.client_req_again'));
  const [, major = 0, minor = 0] = varnish.map(Number);
  const again = major * 1000 + minor >= 7002 ? 0 : of('MAIN.busy_wakeup');
  return Math.max(0, of('MAIN.client_req') - again);
}

/** Only this project's daemon keeps a history of its counters. */
const OWN = '';

/** Per second; `handled`: hits, misses, passes, pipes and synthetic answers, of pages and fragments. */
export interface Rates {
  requests: number;
  hits: number;
  handled: number;
}

const UNKNOWN: Rates = { requests: Number.NaN, hits: Number.NaN, handled: Number.NaN };

class RateSeries {
  readonly requests: Series;
  readonly hits: Series;
  readonly handled: Series;

  constructor(capacity: number) {
    this.requests = new Series(capacity);
    this.hits = new Series(capacity);
    this.handled = new Series(capacity);
  }

  push(at: number, { requests, hits, handled }: Rates): void {
    this.requests.push(at, requests);
    this.hits.push(at, hits);
    this.handled.push(at, handled);
  }

  /** Adds samples from before the first one; others are ignored. */
  prepend(samples: readonly (Rates & { at: number })[]): void {
    const first = this.requests.timeAt(0) ?? Number.POSITIVE_INFINITY;
    const older = samples.filter((sample) => sample.at < first);
    const at = older.map((sample) => sample.at);
    for (const name of ['requests', 'hits', 'handled'] as const)
      this[name].prepend(
        at,
        older.map((sample) => sample[name]),
      );
  }
}

export class RateHistory {
  readonly fine = new RateSeries(HOUR_SECONDS + 100);
  readonly coarse = new RateSeries(DAY_SECONDS / COARSE_STEP + 100);
  /** Sums over the samples of the present ten seconds. */
  private sums = { seconds: 0, requests: 0, hits: 0, handled: 0 };

  /** Rates over the `seconds` that end at `at`. */
  push(at: number, seconds: number, rates: Rates): void {
    this.fine.push(at, rates);
    const { sums } = this;
    sums.seconds += seconds;
    sums.requests += rates.requests * seconds;
    if (rates.handled > 0) {
      sums.hits += rates.hits * seconds;
      sums.handled += rates.handled * seconds;
    }
    if (sums.seconds < COARSE_STEP) return;
    const over = (sum: number): number => sum / sums.seconds;
    this.coarse.push(at, {
      requests: over(sums.requests),
      hits: over(sums.hits),
      handled: over(sums.handled),
    });
    this.sums = { seconds: 0, requests: 0, hits: 0, handled: 0 };
  }

  gap(at: number): void {
    this.fine.push(at, UNKNOWN);
    this.coarse.push(at, UNKNOWN);
    this.sums = { seconds: 0, requests: 0, hits: 0, handled: 0 };
  }

  /** For a chart of the last `seconds`. */
  over(seconds: number): RateSeries {
    return seconds > HOUR_SECONDS ? this.coarse : this.fine;
  }

  /** Adds samples of the daemon's history, `step` seconds apart. */
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
    const handled = UNCACHED.reduce((sum, name) => sum + rate(name), hits + rate('MAIN.cache_miss'));
    out.push({ at: b.at, requests: requestsOf(rate, OWN), hits, handled });
  }
  return out;
}

function reading({ names, values }: PastPoint, name: string): number {
  return values[names.indexOf(name)] ?? 0;
}
