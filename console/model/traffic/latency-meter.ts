// Latencies of the last requests on a logarithmic scale, hits apart from the rest, with percentiles: a ring of the last
// values, those of the last minutes, and percentiles by slices of these.

import type { RecentFacts } from './recent-facts.ts';

/** Buckets per power of ten, and the exponents of the range: a microsecond to a thousand seconds. */
export const PER_DECADE = 20;
const LOWEST = -6;
const HIGHEST = 3;
export const BUCKETS = (HIGHEST - LOWEST) * PER_DECADE;
const KEPT = 8192;

/** The requests whose times are shown. */
export type Quantity = 'all' | 'hits' | 'others';

/** Counts by bucket; `oldestFrom`: epoch seconds of the oldest in a bucket from this one on, 0 without any. */
abstract class Latencies {
  readonly hits = new Uint32Array(BUCKETS);
  readonly others = new Uint32Array(BUCKETS);
  size = 0;

  protected abstract oldestFrom(bucket: number): number;

  /** The time that this share (0..1) of the requests does not exceed, in seconds; null without requests. */
  percentile(share: number, of: Quantity = 'all'): number | null {
    return timeAt(
      share,
      (b) =>
        (of === 'others' ? 0 : (this.hits[b] as number)) + (of === 'hits' ? 0 : (this.others[b] as number)),
    );
  }

  /** Epoch seconds of the oldest request that counts; 0 without any. */
  get since(): number {
    return this.oldestFrom(0);
  }

  /** The requests slower than this share (0..1), with the rest of their bucket: seconds that each exceeded, and
   * epoch seconds of the oldest; null without any. */
  slowest(share: number): { above: number; since: number } | null {
    const top = this.percentile(share);
    if (top === null) return null;
    const bucket = Math.round((Math.log10(top) - LOWEST) * PER_DECADE) - 1;
    return { above: bucket === 0 ? 0 : bucketTop(bucket - 1), since: this.oldestFrom(bucket) };
  }

  protected count(bucket: number, hit: boolean, by: 1 | -1): void {
    const counts = hit ? this.hits : this.others;
    counts[bucket] = (counts[bucket] as number) + by;
  }
}

/** The requests of a span of time. */
export class LatencySpan extends Latencies {
  private readonly oldest = new Float64Array(BUCKETS).fill(Number.POSITIVE_INFINITY);

  /** @param from epoch seconds; earlier requests do not count */
  constructor(recent: RecentFacts, seconds: number, now: number, from: number) {
    super();
    recent.each(seconds, now, (facts, at) => {
      if (facts.kind !== 'request' || at < from || !(facts.seconds >= 0)) return;
      const bucket = bucketOf(facts.seconds);
      this.count(bucket, facts.handling === 'hit', 1);
      this.size++;
      this.oldest[bucket] = Math.min(this.oldest[bucket] as number, facts.ended || at);
    });
  }

  protected oldestFrom(bucket: number): number {
    const oldest = this.oldest.subarray(bucket).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    return oldest === Number.POSITIVE_INFINITY ? 0 : oldest;
  }
}

/** The last requests, whenever they were. */
export class LatencyMeter extends Latencies {
  private readonly ring = new Int16Array(KEPT);
  private readonly at = new Float64Array(KEPT);
  private next = 0;

  /** Adds the seconds that a request took, and the epoch seconds of its arrival; invalid times are ignored. One that
   * is older than all others is added only while there is room. */
  add(seconds: number, hit: boolean, at: number, earlier = false): void {
    if (!(seconds >= 0)) return;
    const full = this.size === KEPT;
    if (full && earlier) return;
    const bucket = bucketOf(seconds);
    const slot = earlier ? (this.next - this.size - 1 + KEPT) % KEPT : this.next;
    if (full) this.remove(this.ring[slot] as number);
    else this.size++;
    this.ring[slot] = bucket * 2 + (hit ? 1 : 0);
    this.at[slot] = at;
    if (!earlier) this.next = (this.next + 1) % KEPT;
    this.count(bucket, hit, 1);
  }

  protected oldestFrom(bucket: number): number {
    // Runs of the history arrive the newest first, each in its own order.
    let oldest = Number.POSITIVE_INFINITY;
    for (let i = 1; i <= this.size; i++) {
      const slot = (this.next - i + KEPT) % KEPT;
      if ((this.ring[slot] as number) >> 1 >= bucket) oldest = Math.min(oldest, this.at[slot] as number);
    }
    return oldest === Number.POSITIVE_INFINITY ? 0 : oldest;
  }

  clear(): void {
    this.hits.fill(0);
    this.others.fill(0);
    this.size = 0;
    this.next = 0;
  }

  private remove(value: number): void {
    this.count(value >> 1, (value & 1) === 1, -1);
  }
}

function bucketOf(seconds: number): number {
  if (seconds <= 10 ** LOWEST) return 0;
  const bucket = Math.ceil((Math.log10(seconds) - LOWEST) * PER_DECADE) - 1;
  return Math.max(0, Math.min(BUCKETS - 1, bucket));
}

/** The highest time of a bucket, in seconds. */
export function bucketTop(bucket: number): number {
  return 10 ** (LOWEST + (bucket + 1) / PER_DECADE);
}

/** The time that this share (0..1) of the counts does not exceed, in seconds; null where all are 0. */
function timeAt(share: number, count: (bucket: number) => number): number | null {
  let total = 0;
  for (let b = 0; b < BUCKETS; b++) total += count(b);
  if (total === 0) return null;
  let left = Math.ceil(total * share);
  for (let b = 0; b < BUCKETS; b++) {
    left -= count(b);
    if (left <= 0) return bucketTop(b);
  }
  return bucketTop(BUCKETS - 1);
}

/** By slice, the oldest first: seconds, NaN without requests. */
export interface LatencyTrail {
  p50: readonly number[];
  p99: readonly number[];
}

/** @param from epoch seconds; earlier requests do not count, wherever the first slice begins */
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
