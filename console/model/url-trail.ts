// How often each URL was asked for, by ten seconds of the last half hour, to say which of them are asked for more or less
// than before. Of what a sample saw: shares are true, numbers are not. Seldom ones are forgotten, so that it stays small.

/** Seconds of a bucket, and how many seconds are kept: twice the longest window. */
const STEP = 10;
const KEPT = 1900;
/** URLs of a bucket that are kept when there are twice as many. */
const URLS = 250;

interface Bucket {
  requests: number;
  urls: Map<string, number>;
}

export interface UrlShares {
  /** Requests by URL with its host, as the lookup had them, and all of them. */
  urls: Map<string, number>;
  requests: number;
}

export class UrlTrail {
  /** By their beginning, in steps since the epoch. */
  private readonly buckets = new Map<number, Bucket>();
  private newest = 0;
  /** Epoch seconds of the first that was counted; 0 without any. */
  since = 0;

  count(url: string, at: number): void {
    const step = Math.floor(at / STEP);
    if (step < this.newest - KEPT / STEP) return;
    if (this.since === 0 || at < this.since) this.since = at;
    const bucket = this.buckets.get(step) ?? this.begin(step);
    bucket.requests++;
    bucket.urls.set(url, (bucket.urls.get(url) ?? 0) + 1);
    if (bucket.urls.size >= 2 * URLS) prune(bucket);
  }

  /** Between two moments, in epoch seconds. */
  between(from: number, to: number): UrlShares {
    const out: UrlShares = { urls: new Map(), requests: 0 };
    for (let step = Math.ceil(from / STEP); step < Math.ceil(to / STEP); step++) {
      const bucket = this.buckets.get(step);
      if (bucket === undefined) continue;
      out.requests += bucket.requests;
      for (const [url, n] of bucket.urls) out.urls.set(url, (out.urls.get(url) ?? 0) + n);
    }
    return out;
  }

  clear(): void {
    this.buckets.clear();
    this.newest = 0;
    this.since = 0;
  }

  private begin(step: number): Bucket {
    const bucket: Bucket = { requests: 0, urls: new Map() };
    this.buckets.set(step, bucket);
    if (step > this.newest) {
      this.newest = step;
      for (const old of this.buckets.keys()) if (old < step - KEPT / STEP) this.buckets.delete(old);
      this.since = Math.max(this.since, (step - KEPT / STEP) * STEP);
    }
    return bucket;
  }
}

function prune(bucket: Bucket): void {
  const kept = [...bucket.urls].sort((a, b) => b[1] - a[1]).slice(0, URLS);
  bucket.urls = new Map(kept);
}
