// What the client states have in common when they do not go on along their own path: pass, restart, synth, fail.

import { RETURN } from '../../protocol/tables/returns.ts';
import type { Request } from '../transaction/request.ts';
import { FAIL, PASS, RESTART, type Step, SYNTH } from '../transaction/steps.ts';

/** The step that a state's return code asks for, once the state has let go of what it held. */
export function otherReturn(req: Request, ret: number): Step {
  switch (ret) {
    case RETURN.pass:
      return PASS;
    case RETURN.restart:
      return RESTART;
    case RETURN.synth:
      req.synthStatus = req.ctx.synthStatus;
      req.synthReason = req.ctx.synthReason;
      return SYNTH;
    default:
      return FAIL;
  }
}
