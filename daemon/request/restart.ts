// return (restart): the request begins again under a transaction of its own, with the fields the program has
// made of it, up to max_restarts times; after that a 503 answers, and vcl_synth may not restart it either.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Step } from '../transaction/drive.ts';
import type { Request } from '../transaction/request.ts';
import { RequestAttempt } from '../transaction/request-attempt.ts';
import { RECV, SYNTH } from './request-steps.ts';
import { logRequest } from './transport.ts';

export function restart(req: Request): Step<Request> {
  const { core, log, session } = req;
  req.dropObject();
  req.objectView.clear();
  const now = core.clock.now();
  req.restarts++;
  if (req.restarts > core.params.max_restarts) {
    log.put(Tag.VCL_Error, 'Too many restarts');
    req.attempt.synthStatus = 503;
    // As in Varnish: the reason of a page that was to be restarted stays.
    if (req.attempt.synthReason === '') req.attempt.synthReason = 'Service Unavailable';
    return SYNTH;
  }
  log.timestamp('Restart', now);
  const former = req.attempt.vxid;
  const attempt = new RequestAttempt();
  attempt.vxid = core.newVxid();
  attempt.tStart = now;
  log.put(Tag.Link, `req ${attempt.vxid} restart`);
  log.end();
  req.attempt = attempt;
  req.resp.reset();
  req.resp.log = log;
  log.begin(attempt.vxid, 'c');
  log.tFirst = session.tHead;
  log.tPrev = now;
  log.put(Tag.Begin, `req ${former} restart`);
  log.timestamp('Start', now);
  logRequest(req);
  return RECV;
}
