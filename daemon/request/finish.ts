// The end of every request: accounts, closes its log and lets go of everything it held. A request body that
// nobody read is read now, within reason, so that the connection can carry the next request.

import { Tag } from '../../protocol/tables/tags.ts';
import { logDelivery } from '../log/filter-records.ts';
import { constantRecord } from '../log/tx-log.ts';
import type { Request } from '../transaction/request.ts';
import type { RequestBody } from '../transaction/request-body.ts';
import { DONE, PARKED, type Step } from '../transaction/steps.ts';

const END = constantRecord(Tag.End, '');
/** A declared length above this is not worth reading: the connection closes instead. */
export const DRAIN_MAX = 1024 * 1024;

/**
 * Whether what is left of the body will be read after the response. Not one that was begun and given up, nor one
 * that the client holds back until it hears 100 Continue: it may as well send its next request instead.
 */
export function willDrain(req: Request, body: RequestBody): boolean {
  return !body.started && !req.expectContinue && body.length <= DRAIN_MAX;
}

export function finish(req: Request, resume: (step: Step) => void): Step {
  const { core, log, session, body } = req;
  if (log.wants(Tag.VdpAcct)) {
    const isPart = req.resp.status === 206 && req.http.has('range');
    logDelivery(log, isPart, req.bodyWrites, req.bodyBytesOut);
  }
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
          resume(DONE);
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
  const headOut = req.headBytesOut + req.interimBytesOut;
  const { stats } = core;
  if (!req.pipe) {
    log.acct(
      Tag.ReqAcct,
      req.headBytesIn,
      bodyIn,
      req.headBytesIn + bodyIn,
      headOut,
      req.bodyBytesOut,
      headOut + req.bodyBytesOut,
    );
    stats.s_req_hdrbytes += req.headBytesIn;
    stats.s_req_bodybytes += bodyIn;
    stats.s_resp_hdrbytes += headOut;
    stats.s_resp_bodybytes += req.bodyBytesOut;
  }
  // Extensions may still have something to log when the task ends.
  req.releaseProgram();
  log.putConstant(END);
  req.body = null;
}
