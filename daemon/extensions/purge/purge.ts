// The extensions purge and softpurge: purges from vcl_hit and vcl_miss that set lifetimes and return counts. purge
// follows vmod_purge(3); the two functions for one variant are additions. softpurge has the single function that
// older recipes call.

import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import type { SoftLives } from '../../contract/invalidation.ts';
import { State } from '../../contract/program.ts';
import { byName, row } from '../extension-rows.ts';

const LIVES = 'DURATION ttl=0, DURATION grace=-1, DURATION keep=-1';

function lives(ctx: VclContext, ttl: number, grace: number, keep: number): SoftLives {
  return ctx.vcl.changes.softShortens ? { ttl, grace, keep, shortens: true } : { ttl, grace, keep };
}

function purged(ctx: VclContext, soft: SoftLives | null, alone: boolean): number {
  if (ctx.state !== State.hit && ctx.state !== State.miss) {
    softFail(ctx, 'purge can only happen in vcl_hit{} or vcl_miss{}');
    return 0;
  }
  return ctx.req?.purge(soft, alone) ?? 0;
}

function others(ctx: VclContext): void {
  if (ctx.state === State.miss || ctx.state === State.pass) ctx.req?.purgeOthers();
  else softFail(ctx, 'purge.others() can only be called in vcl_miss{} or vcl_pass{}');
}

/** States with the key of an object. */
const FOUND = { newerPlaces: 'hit miss' };

export const purge: Extension = {
  name: 'purge',
  help: 'purging from vcl_hit and vcl_miss',
  // biome-ignore format: a row is a line
  functions: byName(
    row('INT hard()', (ctx) => purged(ctx, null, false),
      'Purges all variants under the key of the request, in vcl_hit and vcl_miss. Returns how many objects.', FOUND),
    row(`INT soft(${LIVES})`, (ctx, ttl: number, grace: number, keep: number) => purged(ctx, lives(ctx, ttl, grace, keep), false),
      'As hard(), but makes them stale: sets the remaining ttl, grace and keep. A negative grace or keep leaves it unchanged. With varnish_release=9.0 nothing gets longer by it.', FOUND),
    row('VOID others()', others,
      'In vcl_miss and vcl_pass: purges everything else under the key of the request, once its response is complete and before it is delivered. If the origin fails with an uncacheable error, nothing is purged.'),
    row('INT hard_variant()', (ctx) => purged(ctx, null, true),
      'Purges the object that was found, not its other variants. Returns how many objects.'),
    row(`INT soft_variant(${LIVES})`, (ctx, ttl: number, grace: number, keep: number) => purged(ctx, lives(ctx, ttl, grace, keep), true),
      'As soft(), for the object that was found alone.'),
  ),
};

export const softpurge: Extension = {
  name: 'softpurge',
  help: 'making objects stale, for older recipes',
  // biome-ignore format: a row is a line
  functions: byName(
    row('VOID softpurge()', (ctx) => void purged(ctx, lives(ctx, 0, -1, -1), false),
      'Makes all variants under the key of the request stale, in vcl_hit and vcl_miss; their grace and keep are unchanged.'),
  ),
};
