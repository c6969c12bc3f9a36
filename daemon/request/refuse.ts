// The answer to a head that cannot be a request: one line of status, then the connection closes. There is no
// config program involved, as nothing of such a head can be trusted.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { errorText, garbageLength, HEAD_ERRORS } from '../http1/head-errors.ts';
import type { HeadResult } from '../http1/head-parser.ts';
import type { Request } from './request.ts';

/** Refuses the malformed head in buf[start, end). */
export function refuseHead(req: Request, head: HeadResult, buf: Buffer, start: number, end: number): void {
  const { core, log } = req;
  const row = HEAD_ERRORS[head.error] as (typeof HEAD_ERRORS)[number];
  const most = core.requestLimits.maxSize;
  if (row.status === 0 || !endsWithin(buf, start, end, most)) {
    // Nobody knows where such a head would have ended: there is no request to speak of.
    core.stats.s_req_hdrbytes += Math.min(end - start, most);
    req.session.close('RX_OVERFLOW');
    return;
  }
  openRefused(req);
  if (row.record === 'BogoHeader') log.put(Tag.BogoHeader, errorText(head, buf, end));
  log.putBytes(Tag.HttpGarbage, buf, start, start + garbageLength(buf, start, end));
  req.headBytesIn = end - start;
  core.stats.client_req_400++;
  finishRefused(req, row.close, 400, 'Bad Request');
}

/** Whether a head has come to its end, or still may. */
function endsWithin(buf: Buffer, start: number, end: number, most: number): boolean {
  if (end - start < most) return true;
  const blank = buf.subarray(start, start + most).indexOf('\r\n\r\n');
  return blank >= 0;
}

/** Refuses a request whose head parsed but whose framing, Host or expectation cannot be accepted. */
export function refuseRequest(req: Request, status: number, reason: string, close: CloseReason): void {
  if (status === 417) req.core.stats.client_req_417++;
  else req.core.stats.client_req_400++;
  finishRefused(req, close, status, reason);
}

function openRefused(req: Request): void {
  const { core, session, log } = req;
  req.vxid = core.newVxid();
  log.begin(req.vxid, 'c');
  log.put(Tag.Begin, `req ${session.vxid} rxreq`);
  log.timestamp('Start', session.tHead);
  log.timestamp('Req', req.tStart);
  session.log.put(Tag.Link, `req ${req.vxid} rxreq`);
}

function finishRefused(req: Request, close: CloseReason, status: number, reason: string): void {
  const { session, log } = req;
  let sent = 0;
  if (status !== 0 && session.isOpen) {
    const text = `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\n\r\n`;
    sent = text.length;
    session.write(Buffer.from(text, 'latin1'));
    log.put(Tag.RespProtocol, 'HTTP/1.1');
    log.put(Tag.RespStatus, String(status));
    log.put(Tag.RespReason, reason);
  }
  log.put(Tag.ReqAcct, `${req.headBytesIn} 0 ${req.headBytesIn} ${sent} 0 ${sent}`);
  log.put(Tag.End, '');
  req.core.stats.s_req_hdrbytes += req.headBytesIn;
  req.core.stats.s_resp_hdrbytes += sent;
  session.body = null;
  req.releaseProgram();
  session.close(close);
}
