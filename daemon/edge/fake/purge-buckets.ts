// The rate limits of Fast Purge: token buckets of an account, one for requests and one for the objects of each type. A
// call takes from both or from neither. The caller supplies the time, so that tests need not wait.

import type { EdgeType } from '../providers/provider.ts';

type Purged = Exclude<EdgeType, 'rule'>;

interface Size {
  /** Tokens of a full bucket. */
  readonly burst: number;
  readonly perSecond: number;
}

export type BucketSizes = Readonly<Record<'request' | Purged, Size>>;

/** Limits of Akamai accounts (Fast Purge API v3). */
export const ACCOUNT: BucketSizes = {
  request: { burst: 100, perSecond: 50 },
  url: { burst: 10_000, perSecond: 12_000 / 60 },
  cpcode: { burst: 300, perSecond: 30 / 60 },
  tag: { burst: 5000, perSecond: 500 / 60 },
};

class TokenBucket {
  readonly #size: Size;
  #tokens: number;
  #at: number;

  constructor(size: Size, now: number) {
    this.#size = size;
    this.#tokens = size.burst;
    this.#at = now;
  }

  /** Whole tokens; `now` in milliseconds. */
  left(now: number): number {
    return Math.floor(this.#filled(now));
  }

  take(n: number, now: number): void {
    this.#tokens = this.#filled(now) - n;
    this.#at = now;
  }

  /** Seconds until it is full. */
  refill(now: number): number {
    return (this.#size.burst - this.#filled(now)) / this.#size.perSecond;
  }

  get size(): Size {
    return this.#size;
  }

  #filled(now: number): number {
    const { burst, perSecond } = this.#size;
    return Math.min(burst, this.#tokens + (Math.max(0, now - this.#at) / 1000) * perSecond);
  }
}

/** The state of a bucket after a call. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly headers: Readonly<Record<string, string>>;
}

export class PurgeBuckets {
  readonly #buckets: Readonly<Record<'request' | Purged, TokenBucket>>;

  constructor(sizes: BucketSizes, now: number) {
    this.#buckets = {
      request: new TokenBucket(sizes.request, now),
      url: new TokenBucket(sizes.url, now),
      cpcode: new TokenBucket(sizes.cpcode, now),
      tag: new TokenBucket(sizes.tag, now),
    };
  }

  /** Charges a call with `objects` objects; returns the object bucket, or the request bucket if that was exhausted. */
  spend(type: Purged, objects: number, now: number): Allowance {
    const requests = this.#buckets.request;
    const ofType = this.#buckets[type];
    const mayCall = requests.left(now) >= 1;
    const allowed = mayCall && ofType.left(now) >= objects;
    if (allowed) {
      requests.take(1, now);
      ofType.take(objects, now);
    }
    return { ...this.status(type, now, mayCall ? ofType : requests), allowed };
  }

  /** Charges nothing. */
  status(type: Purged, now: number, shown = this.#buckets[type]): Allowance {
    return {
      allowed: true,
      limit: shown.size.burst,
      remaining: shown.left(now),
      headers: {
        ...figures('', this.#buckets.request, now),
        ...figures('-Objects', this.#buckets[type], now),
      },
    };
  }
}

function figures(suffix: string, bucket: TokenBucket, now: number): Record<string, string> {
  const { burst, perSecond } = bucket.size;
  return {
    [`X-Ratelimit-Limit${suffix}`]: String(burst),
    [`X-Ratelimit-Limit-Per-Second${suffix}`]: perSecond.toFixed(2).replace(/\.?0+$/, ''),
    [`X-Ratelimit-Remaining${suffix}`]: String(bucket.left(now)),
    [`X-Ratelimit-Seconds-To-Refresh-Limit${suffix}`]: String(Math.ceil(bucket.refill(now))),
  };
}
