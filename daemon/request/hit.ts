// vcl_hit: an object answers. A stale one in grace is refreshed behind the client's back.

import { RETURN } from '../../protocol/tables/returns.ts';
import { startFetch } from '../fetch/fetch.ts';
import { State } from '../vcl/program.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import type { Request } from './request.ts';
import { DELIVER, FAIL, PASS, RESTART, type Step, SYNTH } from './steps.ts';

export function hit(req: Request): Step {
  const { core, ctx } = req;
  ctx.now = req.tStart;
  const ret = runState(ctx.vcl, State.hit, ctx);
  if (ret === RETURN.deliver) {
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
  switch (ret) {
    case RETURN.pass:
      return PASS;
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
