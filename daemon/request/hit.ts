// vcl_hit: an object answers. A stale one in grace is refreshed behind the client's back. Counted as hits, as in the
// field, are those that the program lets answer, or passes.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { startFetch } from '../fetch/fetch.ts';
import { PreparedRecords } from '../log/tx-log.ts';
import { State } from '../vcl/program.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import { otherReturn } from './other-return.ts';
import type { Request } from './request.ts';
import { DELIVER, type Step } from './steps.ts';

/** What a vcl_hit that is the builtin one logs. */
const PLAIN = new PreparedRecords([
  [Tag.VCL_call, 'HIT'],
  [Tag.VCL_return, 'deliver'],
]);

/** Background fetches at once, in all. */
const MAX_BACKGROUND = 1000;

export function hit(req: Request): Step {
  const { core, ctx } = req;
  if (req.busyOc === 0 && req.programRef?.plainHit === true && !req.log.wants(Tag.VCL_trace)) {
    req.log.putConstant(PLAIN);
    countHit(req);
    return DELIVER;
  }
  ctx.now = req.tStart;
  // The program sees this hit counted.
  core.cache.countHit(req.oc);
  req.counted = true;
  const ret = runState(ctx.vcl, State.hit, ctx);
  if (ret === RETURN.deliver) {
    countHit(req);
    if (req.busyOc !== 0) refresh(req);
    return DELIVER;
  }
  if (req.busyOc !== 0) core.cache.abandon(req.busyOc);
  req.busyOc = 0;
  req.dropObject();
  // What is answered now is not the object that was found.
  req.isHit = false;
  // A pass still shows that there was one, with the id of what it fetched (see deliver.ts).
  if (ret !== RETURN.pass) req.hitVxid = 0;
  else core.stats.cache_hit++;
  return otherReturn(req, ret);
}

/** Fetches what is stale anew, unless an origin is so slow that very many such fetches wait for it. */
function refresh(req: Request): void {
  const { core, busyOc } = req;
  req.busyOc = 0;
  if (core.bgFetches >= MAX_BACKGROUND) {
    core.stats.fetch_no_thread++;
    req.log.put(Tag.Error, 'Too many background fetches, stale object not refreshed');
    core.cache.abandon(busyOc);
    return;
  }
  startFetch(req, busyOc, req.oc, 'bgfetch');
  req.log.timestamp('Fetch', core.clock.now());
}

function countHit(req: Request): void {
  const { stats } = req.core;
  stats.cache_hit++;
  if (req.isGrace) stats.cache_hit_grace++;
}
