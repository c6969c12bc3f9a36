// return (restart): the request begins anew under a transaction of its own, with the fields the program has
// made of it, up to max_restarts times.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Request } from './request.ts';
import { FAIL, RECV, type Step } from './steps.ts';
import { logRequest } from './transport.ts';

export function restart(req: Request): Step {
  const { core, log, session } = req;
  req.dropObject();
  req.objectView.clear();
  const now = core.clock.now();
  if (req.restarts + 1 > core.params.max_restarts) {
    log.put(Tag.VCL_Error, 'Too many restarts');
    return FAIL;
  }
  log.timestamp('Restart', now);
  const former = req.vxid;
  req.vxid = core.newVxid();
  log.put(Tag.Link, `req ${req.vxid} restart`);
  log.put(Tag.End, '');
  req.restarts++;
  req.fresh = false;
  req.resetForRestart();
  req.resp.reset();
  req.resp.log = log;
  req.parentVxid = former;
  log.begin(req.vxid, 'c');
  log.tFirst = session.tHead;
  log.tPrev = now;
  log.put(Tag.Begin, `req ${former} restart`);
  log.timestamp('Start', now);
  req.tStart = now;
  logRequest(req);
  return RECV;
}
