// vcl_miss: nothing usable is cached; unless the program decides otherwise, this request fetches it.

import { RETURN } from '../../protocol/tables/returns.ts';
import { State } from '../contract/program.ts';
import { startFetch } from '../fetch/fetch.ts';
import type { Request } from '../transaction/request.ts';
import { FETCH, type Step } from '../transaction/steps.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import { otherReturn } from './other-return.ts';

export function miss(req: Request): Step {
  const { core, ctx } = req;
  ctx.now = core.clock.now();
  const ret = runState(ctx.vcl, State.miss, ctx);
  if (ret === RETURN.fetch) {
    core.stats.cache_miss++;
    const { busyOc, staleOc } = req;
    req.busyOc = 0;
    req.staleOc = 0;
    req.oc = busyOc;
    core.cache.ref(busyOc);
    startFetch(req, busyOc, staleOc, 'fetch');
    if (staleOc !== 0) core.cache.deref(staleOc);
    return FETCH;
  }
  core.cache.abandon(req.busyOc);
  req.busyOc = 0;
  if (req.staleOc !== 0) core.cache.deref(req.staleOc);
  req.staleOc = 0;
  return otherReturn(req, ret);
}
