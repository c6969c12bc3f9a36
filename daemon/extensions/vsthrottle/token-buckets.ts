// Token buckets by key: the extension vsthrottle limits requests with them, as that of Varnish's modules does. A bucket
// holds up to `limit` tokens and gets `limit` new ones a period, whole tokens only, counted from the last one taken.
//
// Memory is bounded: long keys are kept as their digest, a bucket that is full again is forgotten when its turn
// comes, and beyond MAX_BUCKETS the one that was not asked for longest goes. Time is the caller's, in seconds on any
// steady clock.

import { createHash } from 'node:crypto';

const MAX_BUCKETS = 250_000;
/** Longer keys are replaced by a digest (characters). */
const LONG_KEY = 64;
/** Buckets looked at for forgetting whenever one is made. */
const SWEEP = 2;

/** What a bucket is known by, together with its key: requests, and seconds. */
export interface Rule {
  limit: number;
  period: number;
  block: number;
}

interface Bucket {
  tokens: number;
  /** When the last token was taken. */
  last: number;
  blockedUntil: number;
  limit: number;
  period: number;
}

function available(bucket: Bucket, now: number): number {
  const { limit, period } = bucket;
  if (period <= 0) return bucket.tokens;
  return Math.min(limit, bucket.tokens + Math.floor(((now - bucket.last) / period) * limit));
}

export class Buckets {
  /** The one that was not asked for longest comes first. */
  private readonly buckets = new Map<string, Bucket>();
  private readonly most: number;

  constructor(most: number = MAX_BUCKETS) {
    this.most = most;
  }

  get size(): number {
    return this.buckets.size;
  }

  /** Takes a token; true when there was none, which blocks the key for the rule's time, or while it is blocked. */
  isDenied(key: string, rule: Rule, now: number): boolean {
    if (rule.limit <= 0 || rule.period <= 0) return true;
    const bucket = this.find(key, rule, now);
    const blocked = bucket.blockedUntil > now;
    const tokens = available(bucket, now);
    if (tokens >= 1) {
      // Who knocks while blocked uses up what has come back.
      bucket.tokens = tokens - 1;
      bucket.last = now;
      return blocked;
    }
    if (!blocked && rule.block > 0) bucket.blockedUntil = now + rule.block;
    return true;
  }

  /** Gives a token back. */
  returnToken(key: string, rule: Rule, now: number): void {
    const bucket = this.find(key, rule, now);
    bucket.tokens = Math.min(bucket.limit, bucket.tokens + 1);
  }

  remaining(key: string, rule: Rule, now: number): number {
    const bucket = this.buckets.get(nameOf(key, rule));
    return bucket === undefined ? Math.max(0, rule.limit) : available(bucket, now);
  }

  /** Seconds until the key is no longer blocked, 0 when it is not. */
  blocked(key: string, rule: Rule, now: number): number {
    const bucket = this.buckets.get(nameOf(key, rule));
    return bucket === undefined ? 0 : Math.max(0, bucket.blockedUntil - now);
  }

  remove(key: string, rule: Rule): void {
    this.buckets.delete(nameOf(key, rule));
  }

  private find(key: string, rule: Rule, now: number): Bucket {
    const name = nameOf(key, rule);
    let bucket = this.buckets.get(name);
    if (bucket !== undefined) this.buckets.delete(name);
    else {
      this.forget(now);
      const limit = Math.max(0, rule.limit);
      bucket = { tokens: limit, last: now, blockedUntil: 0, limit, period: rule.period };
    }
    this.buckets.set(name, bucket);
    return bucket;
  }

  /** Makes room for one more. */
  private forget(now: number): void {
    let looked = 0;
    for (const [name, bucket] of this.buckets) {
      const unused = bucket.blockedUntil <= now && available(bucket, now) >= bucket.limit;
      if (unused || this.buckets.size >= this.most) this.buckets.delete(name);
      if (++looked >= SWEEP) break;
    }
  }
}

function nameOf(key: string, { limit, period, block }: Rule): string {
  const short = key.length <= LONG_KEY ? `=${key}` : createHash('sha256').update(key).digest('base64');
  return `${limit} ${period} ${block} ${short}`;
}
