// How long requests took over the last minutes: percentiles of each slice of the time, of the facts in the sample.

import { BUCKETS, bucketOf, type Quantity, timeAt } from './latency-meter.ts';
import type { RecentFacts } from './recent-facts.ts';

/** Of each slice of the time, the oldest first: seconds, NaN where there was no request. */
export interface LatencyTrail {
  p50: readonly number[];
  p99: readonly number[];
}

/** @param from epoch seconds; what came before does not count, wherever the first slice begins */
export function latencyTrail(
  recent: RecentFacts,
  { now, seconds, slices, from, quantity }: TrailOptions,
): LatencyTrail {
  const counts = Array.from({ length: slices }, () => new Uint32Array(BUCKETS));
  recent.each(seconds, now, (facts, at) => {
    if (facts.kind !== 'request' || at < from || !(facts.seconds >= 0)) return;
    if (quantity !== 'all' && (facts.handling === 'hit') !== (quantity === 'hits')) return;
    const slice = slices - 1 - Math.floor(((now - at) / seconds) * slices);
    const there = counts[Math.max(0, slice)] as Uint32Array;
    const bucket = bucketOf(facts.seconds);
    there[bucket] = (there[bucket] as number) + 1;
  });
  const of = (share: number): number[] =>
    counts.map((there) => timeAt(share, (b) => there[b] as number) ?? Number.NaN);
  return { p50: of(0.5), p99: of(0.99) };
}

export interface TrailOptions {
  now: number;
  seconds: number;
  slices: number;
  from: number;
  quantity: Quantity;
}
