// The extension vsthrottle: rate limits by key. Follows vmod_vsthrottle(3) of Varnish's module collection, and its
// later remove_bucket(). Keys are shared by all programs and threads of a worker.
//
// Unlike in Varnish, querying the remaining tokens never changes them.

import { createHash } from 'node:crypto';
import type { VclContext, VclHost } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import type { SharedDraft, SharedRow, SharedState, SharedTable } from '../../contract/shared-state.ts';
import { threadsTime } from '../../throttle/steady-clock.ts';
import { byName, row } from '../extension-rows.ts';

const BUCKETS = new WeakMap<VclHost, Buckets>();

function buckets(ctx: VclContext): Buckets {
  let found = BUCKETS.get(ctx.host);
  if (found === undefined) {
    found = new Buckets(ctx.host.shared);
    BUCKETS.set(ctx.host, found);
  }
  return found;
}

/** Seconds on a monotonic clock shared by all threads. */
function clock(): number {
  return threadsTime() / 1000;
}

type Key = string | null;
const RULE = 'STRING key, INT limit, DURATION period, DURATION block';

function isDenied(ctx: VclContext, key: Key, limit: number, period: number, block: number): boolean {
  return key === null || buckets(ctx).isDenied(key, { limit, period, block }, clock());
}

function returnToken(ctx: VclContext, key: Key, limit: number, period: number, block: number): void {
  if (key !== null) buckets(ctx).returnToken(key, { limit, period, block }, clock());
}

function remaining(ctx: VclContext, key: Key, limit: number, period: number, block: number): number {
  return key === null ? -1 : buckets(ctx).remaining(key, { limit, period, block }, clock());
}

function blocked(ctx: VclContext, key: Key, limit: number, period: number, block: number): number {
  return key === null ? -1 : buckets(ctx).blocked(key, { limit, period, block }, clock());
}

function removeBucket(ctx: VclContext, key: Key, limit: number, period: number, block: number): void {
  if (key !== null) buckets(ctx).remove(key, { limit, period, block });
}

export const vsthrottle: Extension = {
  name: 'vsthrottle',
  help: 'limits of rates',
  // biome-ignore format: a row is a line
  functions: byName(
    row(`BOOL is_denied(${RULE}=0)`, isDenied,
      'Takes a token of the bucket of the key: true when there is none left. A bucket holds limit tokens for each period; one that runs empty is blocked for the time of block.'),
    row(`VOID return_token(${RULE}=0)`, returnToken, 'Puts one token back into the bucket.'),
    row(`INT remaining(${RULE}=0)`, remaining, 'Tokens left in the bucket; -1 for an unset key.'),
    // The manual gives no default for `block` here.
    row(`DURATION blocked(${RULE}=0)`, blocked, 'How long the bucket is still blocked, in seconds; 0 if it is not.'),
    row(`VOID remove_bucket(${RULE}=0)`, removeBucket, 'Removes the bucket.'),
  ),
};

// Token buckets by key, as in Varnish's module. A bucket holds up to `limit` tokens and gains `limit` tokens a
// period, whole tokens only, counted from the last one taken. All threads share the buckets.
//
// Memory is bounded: long keys are stored as their digest, full buckets are discarded when visited, and beyond
// MAX_BUCKETS the least recently used one is discarded. Times are passed in, in seconds on a monotonic clock shared
// by all threads.

const MAX_BUCKETS = 250_000;
/** Longer keys are replaced by a digest (in characters). */
const LONG_KEY = 64;
/** More than a row with a key of that length takes: the number of entries is the limit. */
const BYTES = 250;
/** Buckets checked for removal whenever one is created. */
const SWEEP = 2;

/** Identifies a bucket, together with its key: requests, and seconds. */
interface Rule {
  limit: number;
  period: number;
  block: number;
}

/** Indices of a bucket's numbers. */
const TOKENS = 0;
/** Time at which the last token was taken. */
const LAST = 1;
const BLOCKED_UNTIL = 2;
/** Its rule: a bucket is checked for removal without its name. */
const LIMIT = 3;
const PERIOD = 4;
const NUMBERS = 5;

function available({ numbers }: SharedRow, now: number): number {
  const tokens = numbers[TOKENS] as number;
  const limit = numbers[LIMIT] as number;
  const period = numbers[PERIOD] as number;
  if (period <= 0) return tokens;
  // Another thread, with a later clock reading, may have come first.
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

  /** Takes a token. Returns true if none was left, which blocks the key for the rule's time, or if it is blocked. */
  isDenied(key: string, rule: Rule, now: number): boolean {
    if (rule.limit <= 0 || rule.period <= 0) return true;
    return this.change(key, rule, now, (bucket) => {
      const { numbers } = bucket;
      const blocked = (numbers[BLOCKED_UNTIL] as number) > now;
      const tokens = available(bucket, now);
      if (tokens >= 1) {
        // Requests while blocked consume the tokens regained.
        numbers[TOKENS] = tokens - 1;
        numbers[LAST] = Math.max(now, numbers[LAST] as number);
        return blocked;
      }
      if (!blocked && rule.block > 0) numbers[BLOCKED_UNTIL] = now + rule.block;
      return true;
    });
  }

  /** Returns a token. */
  returnToken(key: string, rule: Rule, now: number): void {
    this.change(key, rule, now, ({ numbers }) => {
      numbers[TOKENS] = Math.min(numbers[LIMIT] as number, (numbers[TOKENS] as number) + 1);
    });
  }

  remaining(key: string, rule: Rule, now: number): number {
    const bucket = this.table.read(nameOf(key, rule));
    return bucket === null ? Math.max(0, rule.limit) : available(bucket, now);
  }

  /** Seconds until the key is no longer blocked; 0 if it is not. */
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
