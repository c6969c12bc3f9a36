// vcl_pass: the request goes to a backend on its own; its answer is nobody else's.

import { RETURN } from '../../protocol/tables/returns.ts';
import { State } from '../contract/program.ts';
import { startFetch } from '../fetch/fetch.ts';
import type { Request } from '../transaction/request.ts';
import { FETCH, type Step } from '../transaction/steps.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import { otherReturn } from './other-return.ts';

export function pass(req: Request): Step {
  const { core, ctx } = req;
  ctx.now = req.turnTime();
  const ret = runState(ctx.vcl, State.pass, ctx);
  if (ret !== RETURN.fetch) return otherReturn(req, ret);
  core.stats.s_pass++;
  const oc = core.cache.newPrivate();
  req.isPass = true;
  req.oc = oc;
  core.cache.ref(oc);
  startFetch(req, oc, 0, 'pass');
  return FETCH;
}
