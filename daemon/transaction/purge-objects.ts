// Purges that a program asks for in vcl_hit and vcl_miss: all variants under the request's key, or the one it found.
//
// The request's own busy object is left alone, since it has not begun to fetch; other fetches under way are cut off
// from the key. An object that the request holds stays readable until it is released.

import { Tag } from '../../protocol/tables/tags.ts';
import type { SoftPurge } from '../cache/soft-purge.ts';
import type { VclContext } from '../contract/context.ts';
import { STALE } from '../contract/invalidation.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core } from './core.ts';
import type { RequestAttempt } from './request-attempt.ts';

/** The parts of a request that a purge needs. */
interface Purger {
  readonly core: Core;
  readonly attempt: RequestAttempt;
  readonly ctx: VclContext;
  readonly log: TxLog;
}

/** Objects purged, or made stale when `soft` is given. `alone`: only the object of the hit, or the stale one that
 * a miss has found. */
export function purgeObjects(req: Purger, soft: SoftPurge | null, alone: boolean): number {
  const { core } = req;
  const { oc, staleOc } = req.attempt;
  const now = core.clock.now();
  const one = oc !== 0 ? oc : staleOc;
  let count = 0;
  if (!alone) count = core.cache.invalidation.purge(req.attempt.hashKey, now, soft, req.attempt.busyOc);
  else if (one !== 0) count = core.cache.invalidation.purgeOne(one, now, soft);
  core.stats.n_purges++;
  core.stats.n_obj_purged += count;
  if (soft !== null) {
    core.stats.n_soft_purges++;
    core.stats.n_obj_soft_purged += count;
  }
  const lives = soft === null || isUsual(soft) ? {} : { lives: soft };
  req.ctx.raise({ kind: 'purge', soft: soft !== null, subject: req.ctx.urlSubject, count, ...lives });
  // Varnish logs nothing of the purges that it knows.
  if (alone) req.log.put(Tag.Notice, `purge.${soft === null ? 'hard' : 'soft'}_variant: ${count}`);
  return count;
}

/** The object that this request has fetched is whole: all else under its key goes, fetches under way included. */
export function purgeRest(req: Purger): void {
  const { core, ctx, attempt } = req;
  ctx.now = core.clock.now();
  const count = core.cache.invalidation.purge(attempt.hashKey, ctx.now, null, attempt.oc);
  core.stats.n_purges++;
  core.stats.n_obj_purged += count;
  ctx.raise({ kind: 'purge', soft: false, subject: ctx.urlSubject, count });
  req.log.put(Tag.Notice, `purge.others: ${count}`);
}

function isUsual({ ttl, grace, keep, shortens }: SoftPurge): boolean {
  return shortens !== true && ttl === STALE.ttl && grace === STALE.grace && keep === STALE.keep;
}
