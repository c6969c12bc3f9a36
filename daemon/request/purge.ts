// return (purge): every variant under the request's key goes, then vcl_purge says what the client hears.

import { RETURN } from '../../protocol/tables/returns.ts';
import { State } from '../contract/program.ts';
import type { Request } from '../transaction/request.ts';
import { FAIL, RESTART, type Step, SYNTH } from '../transaction/steps.ts';
import { runState } from '../vcl/runtime/run-state.ts';

export function purge(req: Request): Step {
  const { core, ctx } = req;
  ctx.now = core.clock.now();
  core.stats.n_purges++;
  core.stats.n_obj_purged += core.cache.purge(req.hashKey, ctx.now);
  const ret = runState(ctx.vcl, State.purge, ctx);
  if (ret === RETURN.restart) return RESTART;
  if (ret === RETURN.fail) return FAIL;
  req.synthStatus = ctx.synthStatus;
  req.synthReason = ctx.synthReason;
  return SYNTH;
}
