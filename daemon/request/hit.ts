// vcl_hit: an object answers. A stale one in grace is refreshed behind the client's back. Counted as hits, as in the
// field, are those that the program lets answer, or passes.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { State } from '../contract/program.ts';
import { startFetch } from '../fetch/fetch.ts';
import { PreparedRecords } from '../log/tx-log.ts';
import type { Request } from '../transaction/request.ts';
import { DELIVER, PARKED, type Step } from '../transaction/steps.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import { otherReturn } from './other-return.ts';

/** What a vcl_hit that is the builtin one logs. */
const PLAIN = new PreparedRecords([
  [Tag.VCL_call, 'HIT'],
  [Tag.VCL_return, 'deliver'],
]);

/** Background fetches at once, in all. */
const MAX_BACKGROUND = 1000;

export function hit(req: Request, resume: (step: Step) => void): Step {
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
    return req.busyOc === 0 ? DELIVER : refresh(req, resume);
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

/** Fetches what is stale again, unless an origin is so slow that very many such fetches wait for it. A body that goes
 * with the fetch comes from this client, who gets the answer after it, as in Varnish. */
function refresh(req: Request, resume: (step: Step) => void): Step {
  const { core, busyOc } = req;
  req.busyOc = 0;
  if (core.bgFetches >= MAX_BACKGROUND) {
    core.stats.fetch_no_thread++;
    req.log.put(Tag.Error, 'Too many background fetches, stale object not refreshed');
    core.cache.abandon(busyOc);
    return DELIVER;
  }
  const sends = req.body !== null && req.cachedBody === null && !req.body.started;
  let sent = !sends;
  let parked = false;
  startFetch(req, busyOc, req.oc, 'bgfetch', () => {
    sent = true;
    if (parked) resume(DELIVER);
  });
  req.log.timestamp('Fetch', core.clock.now());
  if (sent) return DELIVER;
  parked = true;
  return PARKED;
}

function countHit(req: Request): void {
  const { stats } = req.core;
  stats.cache_hit++;
  if (req.isGrace) stats.cache_hit_grace++;
}
