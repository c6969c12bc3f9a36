// Requests for each URL in the last half hour, to find those that grow or shrink. From a sample: shares
// are true, numbers are not. Rare URLs are dropped, so that it stays small.

import { earliest } from './rankings.ts';
import { TimeBuckets } from './time-buckets.ts';
import type { TrafficFacts } from './traffic-facts.ts';

/** URLs of a bucket that are kept when there are twice as many. */
const URLS = 250;

/** Requests for one URL and host, as looked up. */
export interface AskedUrl {
  url: string;
  host: string;
  requests: number;
  /** URL and host of the newest request as sent; null where both are the same. */
  sent: { url: string; host: string } | null;
  /** Epoch seconds at which the oldest request ended; 0 when unknown. */
  since: number;
}

interface Bucket {
  requests: number;
  urls: Map<string, AskedUrl>;
}

export interface UrlShares {
  /** By host and URL, as looked up; and the number of all requests. */
  urls: Map<string, AskedUrl>;
  requests: number;
}

/** The facts of a request that the trail reads. */
export type AskedFor = Pick<TrafficFacts, 'url' | 'host' | 'lookupUrl' | 'lookupHost' | 'ended'>;

export class UrlTrail {
  private readonly buckets = new TimeBuckets<Bucket>(() => ({ requests: 0, urls: new Map() }));
  /** Epoch seconds of the first request; 0 without any. */
  since = 0;

  count(
    { url: sentUrl, host: sentHost, lookupUrl: url, lookupHost: host, ended }: AskedFor,
    at: number,
  ): void {
    const bucket = this.buckets.at(at);
    if (bucket === null) return;
    if (this.since === 0 || at < this.since) this.since = at;
    this.since = Math.max(this.since, this.buckets.oldest);
    bucket.requests++;
    const sent = sentUrl === url && sentHost === host ? null : { url: sentUrl, host: sentHost };
    add(bucket.urls, host + url, { url, host, requests: 1, sent, since: ended });
    if (bucket.urls.size >= 2 * URLS) prune(bucket);
  }

  /** Between two moments, in epoch seconds. */
  between(from: number, to: number): UrlShares {
    const out: UrlShares = { urls: new Map(), requests: 0 };
    for (const bucket of this.buckets.between(from, to)) {
      out.requests += bucket.requests;
      for (const [name, asked] of bucket.urls) add(out.urls, name, asked);
    }
    return out;
  }

  clear(): void {
    this.buckets.clear();
    this.since = 0;
  }
}

/** Adds later requests to those of the same URL. */
function add(urls: Map<string, AskedUrl>, name: string, later: AskedUrl): void {
  const known = urls.get(name);
  if (known === undefined) {
    urls.set(name, { ...later });
    return;
  }
  known.requests += later.requests;
  known.sent = later.sent;
  known.since = earliest(known.since, later.since);
}

function prune(bucket: Bucket): void {
  const kept = [...bucket.urls].sort((a, b) => b[1].requests - a[1].requests).slice(0, URLS);
  bucket.urls = new Map(kept);
}
