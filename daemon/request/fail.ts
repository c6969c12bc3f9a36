// The end of a transaction whose program failed: a 503 through vcl_synth, then the connection closes.

import { endPrivs } from '../contract/priv.ts';
import type { Request } from '../transaction/request.ts';
import { type Step, SYNTH } from '../transaction/steps.ts';

export function fail(req: Request): Step {
  req.dropObject();
  req.rollback();
  endPrivs(req.ctx.priv);
  req.core.stats.vcl_fail++;
  req.synthStatus = 503;
  req.synthReason = 'VCL failed';
  req.session.closeAfter = 'VCL_FAILURE';
  return SYNTH;
}
