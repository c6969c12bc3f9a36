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
    if (req.busyOc !== 0) {
      const busy = req.busyOc;
      req.busyOc = 0;
      startFetch(req, busy, req.oc, 'bgfetch');
      req.log.timestamp('Fetch', core.clock.now());
    }
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

function countHit(req: Request): void {
  const { stats } = req.core;
  stats.cache_hit++;
  if (req.isGrace) stats.cache_hit_grace++;
}
