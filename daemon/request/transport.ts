// Between the parsed head and the config program: framing, Host and expectation are judged here, the client's
// fields are logged, and the transaction gets its program. What fails here never reaches a program.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { Refusal } from '../../protocol/tables/refusals.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { endsWithConnection, quote, quoted, requestBody } from '../http1/framing.ts';
import { markNamed } from '../http1/hop-by-hop.ts';
import type { HttpMessage } from '../http1/message.ts';
import { HOST_ERROR_TEXT, type HostError, normaliseTarget } from '../http1/request-host.ts';
import { constantRecord } from '../log/tx-log.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
import { noteRefusal, refuseForNow, refuseRequest } from '../transaction/refuse.ts';
import type { Request } from '../transaction/request.ts';
import { overflow } from '../vcl/runtime/limits.ts';
import { RECV } from './request-steps.ts';

const SLASH = 47;
const HTTP_11 = constantRecord(Tag.ReqProtocol, 'HTTP/1.1');

export function transport(req: Request): Step<Request> {
  const { core, http, log } = req;
  if (req.isHttp10 && endsWithConnection(http)) {
    log.put(Tag.HttpGarbage, `${http.method}\0`);
    return refuse(req, 'upload_unbounded', http.method, 'RX_JUNK');
  }
  const absolute = http.url.charCodeAt(0) === SLASH ? null : takeAuthority(req);
  const ref = core.active;
  if (ref === null) {
    refuseForNow(req);
    return PARKED;
  }
  req.takeProgram(ref);
  log.put(Tag.VCL_use, ref.name);
  http.join('connection');
  const expect = http.getAll('expect');
  if (expect !== null) {
    // On two lines it is a list of two, whatever the second one is.
    if (expect.toLowerCase() !== '100-continue')
      return refuse(req, 'expectation', lineOf(http, 'expect'), 'RX_JUNK', 417);
    req.expectContinue = !req.isHttp10;
    http.unset('expect');
  }
  logRequest(req);
  const framing = requestBody(http);
  if (framing.kind === 'error') {
    log.put(Tag.BogoHeader, framing.text);
    return refuse(req, framing.reason, framing.detail, 'RX_BAD');
  }
  const target = absolute ?? normaliseTarget(http);
  // A missing Host is the program's business (vcl_recv answers it); recv() sees to it that one is there then.
  req.hostless = target === 'host_missing';
  if (target !== null && target !== 'host_missing') {
    if (HOST_ERROR_TEXT[target] !== '') log.put(Tag.BogoHeader, HOST_ERROR_TEXT[target]);
    return refuse(
      req,
      target,
      target === 'target_invalid' ? quote(http.url) : lineOf(http, 'host'),
      'RX_BAD',
    );
  }
  const named = markNamed(http);
  if (named !== null) {
    log.put(Tag.BogoHeader, `Connection: names ${named}`);
    return refuse(req, 'connection_names', lineOf(http, 'connection'), 'RX_BAD');
  }
  core.stats.client_req++;
  // A program looks at one line.
  http.join('cache-control');
  judgeConnection(req);
  // What follows the preface is no HTTP/1: answer and close.
  if (http.method === 'PRI') {
    noteRefusal(log, core.stats, 'request', 'http2', '');
    req.closeAfter('REQ_HTTP20');
  }
  if (framing.kind === 'length' && framing.length > 0) req.attachBody(framing.length);
  else if (framing.kind === 'chunked') req.attachBody(-1);
  saveOriginal(req);
  forwardedFor(req);
  return RECV;
}

/** An absolute target's authority replaces Host; the log shows what was there and what became of it. */
function takeAuthority(req: Request): HostError | null {
  const { http, log } = req;
  const i = http.find('host');
  const former = i < 0 ? null : (http.lines[i] as string);
  const url = http.url;
  const wrong = normaliseTarget(http);
  if (wrong !== null || http.url === url) return wrong;
  // What was received is no longer what counts.
  http.raw = null;
  const now = http.find('host');
  if (former !== null) log.put(Tag.ReqUnset, former);
  if (now >= 0) log.put(Tag.ReqHeader, http.lines[now] as string);
  return null;
}

/** ReqStart and the request as it now stands. */
export function logRequest(req: Request): void {
  const { session, http, log } = req;
  log.putConstant(session.startRecord);
  log.put(Tag.ReqMethod, http.method);
  log.put(Tag.ReqURL, http.url);
  if (http.proto === 'HTTP/1.1') log.putConstant(HTTP_11);
  else log.put(Tag.ReqProtocol, http.proto);
  http.logFields(log);
  // The bytes are the session's read buffer: gone when this turn is over.
  http.raw = null;
}

function refuse(
  req: Request,
  name: Refusal,
  place: string,
  close: CloseReason,
  status: 400 | 417 = 400,
): Step<Request> {
  refuseRequest(req, { name, place, close, status });
  return PARKED;
}

/** The last line of a header, quoted for the log. */
function lineOf(http: HttpMessage, key: string): string {
  for (let i = http.n - 1; i >= 0; i--) if (http.keys[i] === key) return quoted(http, i);
  return '';
}

/** Decides whether the connection outlives the response (RFC 9112 section 9.3). */
function judgeConnection(req: Request): void {
  const connection = req.http.getAll('connection');
  const lower = connection === null ? '' : connection.toLowerCase();
  if (lower !== '' && hasToken(lower, 'close')) req.closeAfter('REQ_CLOSE');
  else if (req.isHttp10 && !hasToken(lower, 'keep-alive')) req.closeAfter('REQ_HTTP10');
}

function hasToken(list: string, token: string): boolean {
  if (list === token) return true;
  for (const member of list.split(',')) if (member.trim() === token) return true;
  return false;
}

/** Keeps what the client sent for rollback and for fragments; only where there are such is it paid for. */
function saveOriginal(req: Request): void {
  if (req.programRef?.keepsRequest === true || req.core.esi.pages) req.keepOriginal();
}

/** Adds the client's address. A rollback goes back behind this, as in Varnish. */
export function forwardedFor(req: Request): void {
  const { http } = req;
  if (http.has('x-forwarded-for')) {
    http.join('x-forwarded-for');
    http.set('X-Forwarded-For', `${http.get('x-forwarded-for')}, ${req.session.clientIp}`);
  } else if (http.n >= req.core.requestLimits.maxFields) loseField(req, req.session.forwardedLine);
  else http.put('x-forwarded-for', req.session.forwardedLine, req.session.forwardedRecord);
}

/** A field of ours that a head which is full cannot take. */
function loseField(req: Request, line: string): void {
  req.log.put(Tag.LostHeader, line);
  req.log.put(Tag.Error, 'out of workspace (req)');
  req.core.stats.losthdr++;
  overflow(req.ctx);
}
