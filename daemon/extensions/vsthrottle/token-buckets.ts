// Token buckets by key, as Varnish's module has them. A bucket holds up to `limit` tokens and gets `limit` new ones a
// period, whole tokens only, counted from the last one taken. All threads share the buckets.
//
// Memory is bounded: long keys are kept as their digest, a bucket that is full again is forgotten when its turn
// comes, and beyond MAX_BUCKETS the one that was not asked for longest goes. Time is the caller's, in seconds on a
// steady clock that all threads have.

import { createHash } from 'node:crypto';
import type { SharedDraft, SharedRow, SharedState, SharedTable } from '../../contract/shared-state.ts';

const MAX_BUCKETS = 250_000;
/** Longer keys are replaced by a digest (characters). */
const LONG_KEY = 64;
/** More than a name with a key of that length, three numbers and a row's own need: entries are the bound. */
const BYTES = 250;
/** Buckets looked at for forgetting whenever one is made. */
const SWEEP = 2;

/** What a bucket is known by, together with its key: requests, and seconds. */
export interface Rule {
  limit: number;
  period: number;
  block: number;
}

/** Numbers of a bucket. */
const TOKENS = 0;
/** When the last token was taken. */
const LAST = 1;
const BLOCKED_UNTIL = 2;
/** Of its rule: a bucket is looked at for forgetting without its name. */
const LIMIT = 3;
const PERIOD = 4;
const NUMBERS = 5;

function available({ numbers }: SharedRow, now: number): number {
  const tokens = numbers[TOKENS] as number;
  const limit = numbers[LIMIT] as number;
  const period = numbers[PERIOD] as number;
  if (period <= 0) return tokens;
  // Another thread, which has read the clock later, may have come first.
  const passed = Math.max(0, now - (numbers[LAST] as number));
  return Math.min(limit, tokens + Math.floor((passed / period) * limit));
}

export class Buckets {
  private readonly table: SharedTable;

  constructor(state: SharedState, most: number = MAX_BUCKETS) {
    this.table = state.table('vsthrottle', {
      numbers: NUMBERS,
      entries: most,
      bytes: most * BYTES,
      forgetsOldest: true,
    });
  }

  get size(): number {
    return this.table.size;
  }

  /** Takes a token; true when there was none, which blocks the key for the rule's time, or while it is blocked. */
  isDenied(key: string, rule: Rule, now: number): boolean {
    if (rule.limit <= 0 || rule.period <= 0) return true;
    return this.change(key, rule, now, (bucket) => {
      const { numbers } = bucket;
      const blocked = (numbers[BLOCKED_UNTIL] as number) > now;
      const tokens = available(bucket, now);
      if (tokens >= 1) {
        // Who knocks while blocked uses up what has come back.
        numbers[TOKENS] = tokens - 1;
        numbers[LAST] = Math.max(now, numbers[LAST] as number);
        return blocked;
      }
      if (!blocked && rule.block > 0) numbers[BLOCKED_UNTIL] = now + rule.block;
      return true;
    });
  }

  /** Gives a token back. */
  returnToken(key: string, rule: Rule, now: number): void {
    this.change(key, rule, now, ({ numbers }) => {
      numbers[TOKENS] = Math.min(numbers[LIMIT] as number, (numbers[TOKENS] as number) + 1);
    });
  }

  remaining(key: string, rule: Rule, now: number): number {
    const bucket = this.table.read(nameOf(key, rule));
    return bucket === null ? Math.max(0, rule.limit) : available(bucket, now);
  }

  /** Seconds until the key is no longer blocked, 0 when it is not. */
  blocked(key: string, rule: Rule, now: number): number {
    const bucket = this.table.read(nameOf(key, rule));
    return bucket === null ? 0 : Math.max(0, (bucket.numbers[BLOCKED_UNTIL] as number) - now);
  }

  remove(key: string, rule: Rule): void {
    this.table.remove(nameOf(key, rule));
  }

  private change<T>(key: string, rule: Rule, now: number, change: (bucket: SharedDraft) => T): T {
    let isNew = false;
    const result = this.table.update(nameOf(key, rule), (bucket) => {
      isNew = bucket.isNew;
      if (isNew) {
        const limit = Math.max(0, rule.limit);
        bucket.numbers.splice(0, NUMBERS, limit, now, 0, limit, rule.period);
      }
      return change(bucket);
    });
    if (isNew) this.forget(now);
    return result;
  }

  private forget(now: number): void {
    this.table.removeOldest(SWEEP, (bucket) => {
      const isBlocked = (bucket.numbers[BLOCKED_UNTIL] as number) > now;
      return !isBlocked && available(bucket, now) >= (bucket.numbers[LIMIT] as number);
    });
  }
}

function nameOf(key: string, { limit, period, block }: Rule): string {
  const short = key.length <= LONG_KEY ? `=${key}` : createHash('sha256').update(key).digest('base64');
  return `${limit} ${period} ${block} ${short}`;
}
