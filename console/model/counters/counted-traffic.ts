// The counters of a daemon over time: values and averages, rates for charts, hit rates, and samples to compare with.
// Samples arrive in order, the history later.

import type { HistoryRequest } from '../../../protocol/messages.ts';
import { ONLY_RATED, type PastPoint } from '../../client/source.ts';
import { CounterHistory } from './counter-history.ts';
import { CounterTrail } from './counter-trail.ts';
import { HitRate, UNCACHED } from './hit-rate.ts';
import { DAY_SECONDS, HOUR_SECONDS, RateHistory, requestsOf } from './rate-history.ts';

/** Seconds of history to load: twice the longest window of changes, and more than the longest average; the last part
 * by the second, for the shorter ones. */
const RECALLED_SECONDS = 1900;
const RECALLED_FINE = 110;

/** Varnish does not have it. */
const HIT_BYTES = 'MAIN.s_resp_bodybytes_hit';

export class CountedTraffic {
  readonly counters = new CounterHistory();
  readonly trail = new CounterTrail();
  readonly hitRate = new HitRate();
  readonly rates = new RateHistory();

  /** Adds a sample. Returns the requests of clients since the one before it. @param version of the daemon */
  take(at: number, values: readonly bigint[], steady: boolean, version: string): number {
    const { counters } = this;
    const seconds = counters.update(at, values, steady);
    const looked = this.hitRate.sample(
      counters.value('MAIN.cache_hit'),
      counters.value('MAIN.cache_miss'),
      seconds,
      counters.restarted,
      UNCACHED.reduce((sum, name) => sum + counters.value(name), 0n),
      counters.get(HIT_BYTES) === undefined
        ? undefined
        : { hit: counters.value(HIT_BYTES), all: counters.value('MAIN.s_resp_bodybytes') },
    );
    if (seconds <= 0) return 0;
    const requests = requestsOf((name) => counters.rate(name), version);
    this.rates.push(at, seconds, {
      requests,
      hits: (looked?.hits ?? Number.NaN) / seconds,
      handled: (looked?.handled ?? Number.NaN) / seconds,
    });
    return requests * seconds;
  }

  /** A sample with all counters, to compare others with. */
  keep(at: number, values: readonly bigint[], steady: boolean): void {
    const names = this.counters.names;
    const doubles = Float64Array.from(values, Number);
    // Without resets an uptime that goes back means nothing.
    if (steady) doubles[names.indexOf('MAIN.uptime')] = Number.NaN;
    this.trail.add({ at, names, values: doubles });
  }

  /** Loads the rest of the history; the first screen does without. @param now epoch seconds @param interval seconds
   * between two samples */
  async recall(
    ask: (request: HistoryRequest) => Promise<readonly PastPoint[]>,
    now: number,
    interval: number,
    changed: () => void,
  ): Promise<void> {
    const fine = await ask({ from: now - RECALLED_FINE, step: 1 });
    const coarse = await ask({ from: now - RECALLED_SECONDS, step: 10 });
    this.trail.recall(coarse);
    const before = fine[0]?.at ?? now;
    this.counters.recall([...coarse.filter(({ at }) => at < before), ...fine], interval);
    changed();
    this.rates.prepend(1, await ask({ from: now - HOUR_SECONDS, step: 1, filters: ONLY_RATED }));
    changed();
    this.rates.prepend(10, await ask({ from: now - DAY_SECONDS, step: 10, filters: ONLY_RATED }));
  }
}
