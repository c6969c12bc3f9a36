// The answer to a head that cannot be a request: one line of status, then the connection closes. There is no
// config program involved, as nothing of such a head can be trusted.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { type Refusal, refusalText } from '../../protocol/tables/refusals.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { own } from '../flow/piece.ts';
import { errorPlace, errorText, garbageLength, HEAD_ERRORS } from '../http1/head-errors.ts';
import type { HeadResult } from '../http1/head-result.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import { reasonOf } from '../http1/status-reasons.ts';
import { answerFramed } from './framed-text.ts';
import { noteRefusal } from './note-refusal.ts';
import type { Request } from './request.ts';

/** The first bytes of a TLS connection: a record of the handshake, of any version. */
const TLS_RECORD = 22;
const TLS_MAJOR = 3;
const TLS_TEXT = 'This port speaks plain HTTP, and this was TLS: use http:// instead of https://\n';

/** Refuses the malformed head in buf[start, end), which was read at `now`. */
export function refuseHead(
  req: Request,
  head: HeadResult,
  buf: LentBytes,
  start: number,
  end: number,
  now: number,
): void {
  req.attempt.tStart = now;
  const { core, log, session } = req;
  const row = HEAD_ERRORS[head.error] as (typeof HEAD_ERRORS)[number];
  const most = core.requestLimits.maxSize;
  if (row.status === 0 || !endsWithin(buf, start, end, most)) {
    // Nobody knows where such a head would have ended: there is no request to speak of.
    core.stats.s_req_hdrbytes += Math.min(end - start, most);
    noteRefusal(session.log, core.stats, 'request', 'overflow', `more than ${most} bytes`);
    answerOverflow(req, core.params.http_req_overflow_status);
    session.close('RX_OVERFLOW');
    return;
  }
  openRefused(req);
  if (row.record === 'BogoHeader') log.put(Tag.BogoHeader, errorText(head, buf, end));
  log.putBytes(Tag.HttpGarbage, buf, start, start + garbageLength(buf, start, end));
  if (core.logsMalformedStart) log.putConstant(session.startRecord);
  const isTls = buf[start] === TLS_RECORD && buf[start + 1] === TLS_MAJOR;
  const place = isTls ? '' : errorPlace(head, buf, head.headStart, end);
  noteRefusal(log, core.stats, 'request', isTls ? 'tls' : row.refusal, place);
  req.headBytesIn = end - start;
  core.stats.client_req_400++;
  finishRefused(req, row.close, 400, 'Bad Request', isTls ? TLS_TEXT : '');
}

/** A bare status line, as there is no transaction that could answer; its records belong to none, as in Varnish 7.7. */
function answerOverflow({ session, log }: Request, status: number): void {
  if (status === 0 || !session.isOpen || session.stream !== null) return;
  const reason = reasonOf(status);
  session.write(own(Buffer.from(`HTTP/1.1 ${status} ${reason}\r\n\r\n`, 'latin1')));
  log.begin(0, '-');
  log.put(Tag.RespProtocol, 'HTTP/1.1');
  log.put(Tag.RespStatus, String(status));
  log.put(Tag.RespReason, reason);
}

/** Whether a head has come to its end, or still may. */
function endsWithin(buf: LentBytes, start: number, end: number, most: number): boolean {
  if (end - start < most) return true;
  const blank = (buf as Buffer).subarray(start, start + most).indexOf('\r\n\r\n');
  return blank >= 0;
}

/** One refusal of a request whose head parsed but whose framing, Host or expectation cannot be accepted. */
export interface RequestRefusal {
  readonly name: Refusal;
  /** The offending text. */
  readonly place: string;
  readonly status: 400 | 417;
  readonly close: CloseReason;
}

export function refuseRequest(req: Request, refusal: RequestRefusal): void {
  const { stats } = req.core;
  noteRefusal(req.log, stats, 'request', refusal.name, refusal.place);
  if (refusal.status === 417) {
    stats.client_req_417++;
    finishRefused(req, refusal.close, 417, 'Expectation Failed');
  } else {
    stats.client_req_400++;
    finishRefused(req, refusal.close, 400, 'Bad Request');
  }
}

/** A head of HTTP/2 that is no request: its stream is reset, so that nobody answers. */
export function refuseStream(req: Request, rule: Refusal, place: string): void {
  const { log, core, session } = req;
  log.put(Tag.BogoHeader, refusalText('request', rule, place));
  noteRefusal(log, core.stats, 'request', rule, place);
  log.acct(Tag.ReqAcct, req.headBytesIn, 0, req.headBytesIn, 0, 0, 0);
  log.endAnswered(true);
  core.stats.client_req_400++;
  core.stats.s_req_hdrbytes += req.headBytesIn;
  session.body = null;
  req.ended = true;
}

/** No program can take requests: the worker is about to end, or has none yet. */
export function refuseForNow(req: Request): void {
  req.log.put(Tag.Error, 'request refused: no program is active');
  finishRefused(req, 'OVERLOAD', 503, 'Service Unavailable');
}

function openRefused(req: Request): void {
  const { core, session, log } = req;
  req.attempt.vxid = core.newVxid();
  log.begin(req.attempt.vxid, 'c');
  log.put(Tag.Begin, `req ${session.vxid} rxreq`);
  log.timestamp('Start', session.tHead);
  log.timestamp('Req', req.attempt.tStart);
  session.log.put(Tag.Link, `req ${req.attempt.vxid} rxreq`);
}

function finishRefused(req: Request, close: CloseReason, status: number, reason: string, body = ''): void {
  const { session, log } = req;
  let sent = 0;
  if (status !== 0 && session.isOpen) {
    if (session.stream !== null) sent = answerFramed(session.stream, status, body);
    else {
      const type = body === '' ? '' : 'Content-Type: text/plain\r\n';
      const text = `HTTP/1.1 ${status} ${reason}\r\n${type}Connection: close\r\n\r\n`;
      sent = text.length;
      session.write(own(Buffer.from(text + body, 'latin1')));
    }
    log.put(Tag.RespProtocol, 'HTTP/1.1');
    log.put(Tag.RespStatus, String(status));
    log.put(Tag.RespReason, reason);
  }
  log.put(
    Tag.ReqAcct,
    `${req.headBytesIn} 0 ${req.headBytesIn} ${sent} ${body.length} ${sent + body.length}`,
  );
  log.endAnswered(true);
  req.core.stats.s_req_hdrbytes += req.headBytesIn;
  req.core.stats.s_resp_hdrbytes += sent;
  req.core.stats.s_resp_bodybytes += body.length;
  session.body = null;
  req.releaseProgram();
  req.ended = true;
  session.close(close);
}
