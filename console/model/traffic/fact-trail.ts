// Requests and fetches by ten seconds of the last half hour, by what tells an incident: status, client, outcome, URL of an
// error, backend with its failures and times. From a sample: shares are true, numbers are not. Rare keys are dropped.

import type { TrafficFacts } from './traffic-facts.ts';

/** Seconds of a bucket, and how many seconds are kept: twice the longest window. */
const STEP = 10;
const KEPT = 1900;
/** Keys of a kind and bucket that are kept when there are twice as many (chosen). */
const KEYS = 100;

export type TrailKind = 'status' | 'client' | 'outcome' | 'error' | 'failure' | 'backend';

export interface Tally {
  readonly kind: TrailKind;
  readonly key: string;
  n: number;
  /** Of those with a time to the first byte: their number and seconds. */
  timed: number;
  seconds: number;
}

interface Bucket {
  requests: number;
  fetches: number;
  tallies: Map<TrailKind, Map<string, Tally>>;
}

export interface TrailShares {
  requests: number;
  fetches: number;
  /** By kind and key. */
  tallies: Map<string, Tally>;
}

export class FactTrail {
  private readonly buckets = new Map<number, Bucket>();
  private newest = 0;

  count(f: TrafficFacts, at: number): void {
    const step = Math.floor(at / STEP);
    if (step < this.newest - KEPT / STEP) return;
    const bucket = this.buckets.get(step) ?? this.begin(step);
    if (f.kind === 'fetch') {
      bucket.fetches++;
      if (f.backend === '') return;
      tally(bucket, 'backend', f.backend, f.seconds);
      if (f.failed || f.status >= 500) tally(bucket, 'failure', f.backend);
    } else if (f.kind === 'request') {
      bucket.requests++;
      tally(bucket, 'status', String(f.status));
      tally(bucket, 'client', f.client);
      tally(bucket, 'outcome', f.handling);
      if (f.status >= 500) tally(bucket, 'error', f.lookupHost + f.lookupUrl);
    }
  }

  /** Between two moments, in epoch seconds. */
  between(from: number, to: number): TrailShares {
    const out: TrailShares = { requests: 0, fetches: 0, tallies: new Map() };
    for (let step = Math.ceil(from / STEP); step < Math.ceil(to / STEP); step++) {
      const bucket = this.buckets.get(step);
      if (bucket === undefined) continue;
      out.requests += bucket.requests;
      out.fetches += bucket.fetches;
      for (const [kind, all] of bucket.tallies)
        for (const [key, one] of all) {
          const name = `${kind} ${key}`;
          const known = out.tallies.get(name) ?? { kind, key, n: 0, timed: 0, seconds: 0 };
          known.n += one.n;
          known.timed += one.timed;
          known.seconds += one.seconds;
          out.tallies.set(name, known);
        }
    }
    return out;
  }

  clear(): void {
    this.buckets.clear();
    this.newest = 0;
  }

  private begin(step: number): Bucket {
    const bucket: Bucket = { requests: 0, fetches: 0, tallies: new Map() };
    this.buckets.set(step, bucket);
    if (step > this.newest) {
      this.newest = step;
      for (const old of this.buckets.keys()) if (old < step - KEPT / STEP) this.buckets.delete(old);
    }
    return bucket;
  }
}

function tally({ tallies }: Bucket, kind: TrailKind, key: string, seconds = Number.NaN): void {
  if (key === '') return;
  const all = tallies.get(kind) ?? new Map<string, Tally>();
  tallies.set(kind, all);
  const one = all.get(key) ?? { kind, key, n: 0, timed: 0, seconds: 0 };
  all.set(key, one);
  one.n++;
  if (seconds >= 0) {
    one.timed++;
    one.seconds += seconds;
  }
  if (all.size >= 2 * KEYS)
    tallies.set(kind, new Map([...all].sort((a, b) => b[1].n - a[1].n).slice(0, KEYS)));
}
