// Requests and fetches of the last half hour, counted by what identifies an incident: status, client, outcome, URL of an
// error, backend with its failures and times. From a sample: shares are true, numbers are not. Rare keys are dropped.

import { TimeBuckets } from './time-buckets.ts';
import type { TrafficFacts } from './traffic-facts.ts';

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
  private readonly buckets = new TimeBuckets<Bucket>(() => ({ requests: 0, fetches: 0, tallies: new Map() }));

  count(f: TrafficFacts, at: number): void {
    const bucket = this.buckets.at(at);
    if (bucket === null) return;
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
    for (const bucket of this.buckets.between(from, to)) {
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
