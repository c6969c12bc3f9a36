// The end of every request: accounts, closes its log and lets go of everything it held. A request body that
// nobody read is read now, within reason, so that the connection can carry the next request.

import { Tag } from '../../protocol/tables/tags.ts';
import { logBodyWriter } from '../log/body-records.ts';
import { DONE, PARKED, type Step } from '../transaction/drive.ts';
import type { Request } from '../transaction/request.ts';
import { DRAIN_MAX, willDrain } from './keep-alive.ts';

export function finish(req: Request): Step<Request> {
  const { core, log, session, body } = req;
  req.attempt.chain?.report(req.attempt.bodyWrites, req.attempt.bodyBytesOut);
  if (req.attempt.bodyBytesOut > 0 && log.wants(Tag.VdpAcct))
    logBodyWriter(log, req.attempt.bodyWrites, req.attempt.bodyBytesOut);
  if (!req.pipe && !req.unanswered) log.timestamp('Resp', core.clock.now());
  req.dropObject();
  req.objectView.clear();
  if (body !== null && !body.complete && body.failed === null && session.closeAfter === null) {
    if (!willDrain(req, body)) session.closeAfter = 'RX_BODY';
    else {
      let sync = true;
      let settled = false;
      const done = (): void => {
        settled = true;
        if (!sync) {
          close(req);
          req.resume(DONE);
        }
      };
      body.start({
        data: () => {
          if (body.received > DRAIN_MAX) body.fail('overflow');
        },
        end: done,
        error: () => {
          session.closeAfter ??= 'RX_BODY';
          done();
        },
      });
      sync = false;
      if (!settled) return PARKED;
    }
  }
  close(req);
  return DONE;
}

function close(req: Request): void {
  const { core, log, body } = req;
  const bodyIn = body === null ? 0 : body.received;
  const headOut = req.attempt.headBytesOut + req.interimBytesOut;
  const { stats } = core;
  if (!req.pipe) {
    log.acct(
      Tag.ReqAcct,
      req.headBytesIn,
      bodyIn,
      req.headBytesIn + bodyIn,
      headOut,
      req.attempt.bodyBytesOut,
      headOut + req.attempt.bodyBytesOut,
    );
    // A fragment's bytes are among those of its page.
    if (req.fragment === null) {
      stats.s_req_hdrbytes += req.headBytesIn;
      stats.s_req_bodybytes += bodyIn;
      stats.s_resp_hdrbytes += headOut;
      stats.s_resp_bodybytes += req.attempt.bodyBytesOut;
    }
  }
  // Extensions may still have something to log when the task ends.
  req.releaseProgram();
  log.endAnswered(req.attempt.isHit);
  req.dropBody();
}
