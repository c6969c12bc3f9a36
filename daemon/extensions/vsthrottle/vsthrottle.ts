// The extension vsthrottle: denies what comes more often than a rule allows, by key. Follows vmod_vsthrottle(3) of the
// field's module collection, and its later remove_bucket(). Keys are shared by all programs and threads of a
// worker.
//
// Unlike Varnish's, asking how much remains never changes what remains.

import type { VclContext, VclHost } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { threadsTime } from '../../throttle/steady-clock.ts';
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

export const vsthrottle: Extension = {
  name: 'vsthrottle',
  help: 'limits of rates',
  functions: {
    is_denied: {
      signature: `BOOL is_denied(${RULE}=0)`,
      help: 'Takes a token of the bucket of the key: true when there is none left. A bucket holds limit tokens for each period; one that runs empty is blocked for the time of block.',
      call: (ctx, key: Key, limit: number, period: number, block: number) =>
        key === null || buckets(ctx).isDenied(key, { limit, period, block }, clock()),
    },
    return_token: {
      signature: `VOID return_token(${RULE}=0)`,
      help: 'Puts one token back into the bucket.',
      call: (ctx, key: Key, limit: number, period: number, block: number) => {
        if (key !== null) buckets(ctx).returnToken(key, { limit, period, block }, clock());
      },
    },
    remaining: {
      signature: `INT remaining(${RULE}=0)`,
      help: 'Tokens left in the bucket; -1 for an unset key.',
      call: (ctx, key: Key, limit: number, period: number, block: number) =>
        key === null ? -1 : buckets(ctx).remaining(key, { limit, period, block }, clock()),
    },
    blocked: {
      // The manual gives no default for `block` here; one does no harm.
      signature: `DURATION blocked(${RULE}=0)`,
      help: 'How long the bucket is blocked yet, in seconds; 0 when it is not.',
      call: (ctx, key: Key, limit: number, period: number, block: number) =>
        key === null ? -1 : buckets(ctx).blocked(key, { limit, period, block }, clock()),
    },
    remove_bucket: {
      signature: `VOID remove_bucket(${RULE}=0)`,
      help: 'Forgets the bucket.',
      call: (ctx, key: Key, limit: number, period: number, block: number) => {
        if (key !== null) buckets(ctx).remove(key, { limit, period, block });
      },
    },
  },
};
