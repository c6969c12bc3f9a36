// The extension purge: purges from vcl_hit and vcl_miss with their own lifetimes, and their counts. Follows
// vmod_purge(3); the two functions for one variant are additions.

import type { SoftLives, VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { State } from '../../contract/program.ts';

const LIVES = 'DURATION ttl=0, DURATION grace=-1, DURATION keep=-1';

function purged(ctx: VclContext, soft: SoftLives | null, alone: boolean): number {
  if (ctx.state !== State.hit && ctx.state !== State.miss) {
    softFail(ctx, 'purge can only happen in vcl_hit{} or vcl_miss{}');
    return 0;
  }
  return ctx.req?.purge?.(soft, alone) ?? 0;
}

export const purge: Extension = {
  name: 'purge',
  functions: {
    hard: { signature: 'INT hard()', call: (ctx) => purged(ctx, null, false) },
    soft: {
      signature: `INT soft(${LIVES})`,
      call: (ctx, ttl: number, grace: number, keep: number) => purged(ctx, { ttl, grace, keep }, false),
    },
    hard_variant: { signature: 'INT hard_variant()', call: (ctx) => purged(ctx, null, true) },
    soft_variant: {
      signature: `INT soft_variant(${LIVES})`,
      call: (ctx, ttl: number, grace: number, keep: number) => purged(ctx, { ttl, grace, keep }, true),
    },
  },
};
