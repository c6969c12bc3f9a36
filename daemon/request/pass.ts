// vcl_pass: the request goes to a backend on its own; its answer is nobody else's.

import { RETURN } from '../../protocol/tables/returns.ts';
import { startFetch } from '../fetch/fetch.ts';
import { State } from '../vcl/program.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import type { Request } from './request.ts';
import { FAIL, FETCH, RESTART, type Step, SYNTH } from './steps.ts';

export function pass(req: Request): Step {
  const { core, ctx } = req;
  ctx.now = core.clock.now();
  const ret = runState(ctx.vcl, State.pass, ctx);
  switch (ret) {
    case RETURN.fetch: {
      core.stats.s_pass++;
      const oc = core.cache.newPrivate();
      req.isPass = true;
      req.oc = oc;
      core.cache.ref(oc);
      startFetch(req, oc, 0, 'pass');
      return FETCH;
    }
    case RETURN.restart:
      return RESTART;
    case RETURN.synth:
      req.synthStatus = ctx.synthStatus;
      req.synthReason = ctx.synthReason;
      return SYNTH;
    default:
      return FAIL;
  }
}
