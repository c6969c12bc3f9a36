// return (restart): the request begins anew under a transaction of its own, with the fields the program has
// made of it, up to max_restarts times; after that a 503 answers, and vcl_synth may not restart it either.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Request } from '../transaction/request.ts';
import { RECV, type Step, SYNTH } from '../transaction/steps.ts';
import { logRequest } from './transport.ts';

export function restart(req: Request): Step {
  const { core, log, session } = req;
  req.dropObject();
  req.objectView.clear();
  const now = core.clock.now();
  req.restarts++;
  if (req.restarts > core.params.max_restarts) {
    log.put(Tag.VCL_Error, 'Too many restarts');
    req.synthStatus = 503;
    // As in Varnish: the reason of a page that was to be restarted stays.
    if (req.synthReason === '') req.synthReason = 'Service Unavailable';
    return SYNTH;
  }
  log.timestamp('Restart', now);
  const former = req.vxid;
  req.vxid = core.newVxid();
  log.put(Tag.Link, `req ${req.vxid} restart`);
  log.put(Tag.End, '');
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
