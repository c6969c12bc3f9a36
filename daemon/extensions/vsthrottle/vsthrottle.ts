// The extension vsthrottle: denies what comes more often than a rule allows, by key. Follows vmod_vsthrottle(3) of the
// field's module collection, and its later remove_bucket(). Keys are shared by all programs and threads of a
// worker.
//
// Unlike Varnish's, asking how much remains never changes what remains.

import type { VclContext, VclHost } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { threadsTime } from '../../throttle/steady-clock.ts';
import { byName, row } from '../extension-rows.ts';
import { Buckets } from './token-buckets.ts';

const BUCKETS = new WeakMap<VclHost, Buckets>();

function buckets(ctx: VclContext): Buckets {
  let found = BUCKETS.get(ctx.host);
  if (found === undefined) {
    found = new Buckets(ctx.host.shared);
    BUCKETS.set(ctx.host, found);
  }
  return found;
}

/** Seconds on a clock that never jumps, the same in all threads. */
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
    // The manual gives no default for `block` here; one does no harm.
    row(`DURATION blocked(${RULE}=0)`, blocked, 'How long the bucket is blocked yet, in seconds; 0 when it is not.'),
    row(`VOID remove_bucket(${RULE}=0)`, removeBucket, 'Forgets the bucket.'),
  ),
};
