// A request from its parsed head to the lookup: framing, Host and expectation are judged before a program sees it, the
// client's headers are logged, and the transaction gets its program; vcl_recv and vcl_hash then decide what becomes of it,
// and under which key. return (restart) comes back here under a transaction of its own, with the headers that the program
// has made of the request, up to max_restarts times; after that a 503 answers, and vcl_synth may not restart it either.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { Refusal } from '../../protocol/tables/refusals.ts';
import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { isStrict } from '../fetch/lifetime.ts';
import type { BodyError } from '../flow/flow.ts';
import { acceptsGzip } from '../http1/accept-encoding.ts';
import { endsWithConnection, quote, quoted, requestBody } from '../http1/framing.ts';
import { markNamed } from '../http1/hop-by-hop.ts';
import type { HttpMessage } from '../http1/message.ts';
import { HOST_ERROR_TEXT, type HostError, normaliseTarget } from '../http1/request-host.ts';
import { constantRecord } from '../log/tx-log.ts';
import type { StreamAnswer } from '../transaction/client-session.ts';
import type { ProgramRef } from '../transaction/core.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
import { noteRefusal } from '../transaction/note-refusal.ts';
import { refuseForNow, refuseRequest } from '../transaction/refuse.ts';
import type { Request } from '../transaction/request.ts';
import { RequestAttempt } from '../transaction/request-attempt.ts';
import { overflow } from '../vcl/runtime/limits.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import { answerBare, answerText } from './finish.ts';
import {
  FAIL,
  FINISH,
  inClientState,
  LOOKUP,
  PASS,
  PIPE,
  PURGE,
  RECV,
  RESTART,
  SYNTH,
} from './request-steps.ts';

const SLASH = 47;
const HTTP_11 = constantRecord(Tag.ReqProtocol, 'HTTP/1.1');

export function transport(req: Request): Step<Request> {
  const { core, http, log, session } = req;
  if (req.isHttp10 && endsWithConnection(http)) {
    log.put(Tag.HttpGarbage, `${http.method}\0`);
    return refuse(req, 'upload_unbounded', http.method, 'RX_JUNK');
  }
  const asked = http.url;
  const absolute = asked.charCodeAt(0) === SLASH ? null : takeAuthority(req);
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
  logRequest(req, asked);
  const framing = session.stream === null ? requestBody(http) : bodyOfStream(session.stream, http);
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
  // The preface is not followed by HTTP/1: answer and close.
  if (http.method === 'PRI' && session.stream === null) {
    noteRefusal(log, core.stats, 'request', 'http2', '');
    req.closeAfter('REQ_HTTP20');
  }
  if (framing.kind === 'length' && framing.length > 0) req.attachBody(framing.length);
  else if (framing.kind === 'chunked') req.attachBody(-1);
  if (core.tls.contexts.hasHttpChallenges) {
    const answer = challengeAnswer(req);
    if (answer !== null) {
      answerText(req, answer);
      return FINISH;
    }
  }
  saveOriginal(req);
  addOwnFields(req);
  req.settings.parts = isStrict(core.params);
  return RECV;
}

/** END_STREAM ends the body of a stream; Content-Length was compared with its data already (RFC 9113 section 8.1.1). */
function bodyOfStream(stream: StreamAnswer, http: HttpMessage): ReturnType<typeof requestBody> {
  if (!stream.hasBody) return { kind: 'none' };
  return http.has('content-length') ? requestBody(http) : { kind: 'chunked' };
}

/** Where a certificate authority looks whether a name is ours (RFC 8555 section 8.3). */
const CHALLENGES = '/.well-known/acme-challenge/';

/** The answer to an ACME http-01 request, on any listener and before any program; null if it is for no challenge of ours. */
function challengeAnswer({ core, http }: Request): string | null {
  if (http.method !== 'GET' || !http.url.startsWith(CHALLENGES)) return null;
  return core.tls.contexts.httpChallenge(http.url.slice(CHALLENGES.length));
}

/** An absolute target's authority replaces Host; the log shows what was there and what became of it. */
function takeAuthority(req: Request): HostError | null {
  const { http, log } = req;
  const i = http.find('host');
  const former = i < 0 ? null : (http.lines[i] as string);
  const url = http.url;
  const wrong = normaliseTarget(http);
  if (wrong !== null || http.url === url) return wrong;
  if (req.session.stream === null) req.core.stats.http1_absolute_form++;
  // The received bytes no longer count.
  http.raw = null;
  const now = http.find('host');
  if (former !== null) log.put(Tag.ReqUnset, former);
  if (now >= 0) log.put(Tag.ReqHeader, http.lines[now] as string);
  return null;
}

/** ReqStart and the request as it now stands. @param asked the target as it came, of a request of a client */
export function logRequest(req: Request, asked: string | null = null): void {
  const { session, http, log } = req;
  log.putConstant(session.startRecord);
  if (asked !== null && log.wants(Tag.ReqTarget)) log.put(Tag.ReqTarget, asked);
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

/** Adds the client's address and, since 7.2, this proxy to Via. A rollback undoes this, as in Varnish. */
export function addOwnFields(req: Request): void {
  forwardedFor(req);
  if (!req.ctx.vcl.changes.requestVia) return;
  const { core, http } = req;
  if (http.has('via')) {
    http.join('via');
    http.set('Via', `${http.get('via')}, ${core.via}`);
  } else if (http.n >= core.requestLimits.maxFields) loseField(req, core.viaLine);
  else http.put('via', core.viaLine, core.viaOfRequest);
}

function forwardedFor(req: Request): void {
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

export function recv(req: Request): Step<Request> {
  req.ctx.now = req.attempt.tStart;
  return runProgram(req);
}

function runProgram(req: Request): Step<Request> {
  return inClientState(req, State.recv, judge);
}

/** Acts on the return of vcl_recv, and runs vcl_hash. */
function judge(req: Request, ret: ReturnCode): Step<Request> {
  const { core, http, ctx } = req;
  // The failure of a program that was switched to is logged after vcl_hash, as Varnish does.
  if (ret === RETURN.fail && (req.entryRef === null || req.restarts > 0)) return FAIL;
  if (req.body !== null && req.body.failed !== null) return giveUp(req, req.body.failed);
  if (ret === RETURN.vcl && req.nextProgram !== null) {
    switchProgram(req, req.nextProgram);
    return runProgram(req);
  }
  if (req.expectContinue) expectation(req);
  if (core.params.http_gzip_support !== 0 && ret !== RETURN.pipe && ret !== RETURN.pass)
    normaliseEncoding(req);
  if (
    req.hostless &&
    ret !== RETURN.synth &&
    !req.isHttp10 &&
    req.session.stream === null &&
    !http.has('host') &&
    req.esiLevel === 0 &&
    http.method !== 'PRI'
  ) {
    // RFC 9112 section 3.2, of HTTP/1.1 alone. The builtin program answers 400; one that returns before it must not get further either.
    noteRefusal(req.log, core.stats, 'request', 'host_missing', '');
    req.attempt.synthStatus = 400;
    req.attempt.synthReason = 'Bad Request';
    return SYNTH;
  }
  req.attempt.hashKey = '';
  if (runState(ctx.vcl, State.hash, ctx) === RETURN.fail) return FAIL;
  switch (ret) {
    case RETURN.hash:
      return LOOKUP;
    case RETURN.pass:
      return PASS;
    case RETURN.pipe:
      // A CONNECT is refused there, and reaches no origin by a pass either.
      if (req.fragment === null && (req.session.stream === null || http.method === 'CONNECT')) return PIPE;
      req.log.put(
        Tag.VCL_Error,
        `vcl_recv{} returns pipe for ${req.fragment === null ? 'HTTP/2 request' : 'ESI included object'}.  Doing pass.`,
      );
      return PASS;
    case RETURN.purge:
      return PURGE;
    case RETURN.restart:
      return RESTART;
    case RETURN.synth:
      req.attempt.synthStatus = ctx.synthStatus;
      req.attempt.synthReason = ctx.synthReason;
      return SYNTH;
    case RETURN.vcl:
      req.log.put(
        Tag.VCL_Error,
        `Illegal return(vcl): ${req.restarts > 0 ? 'Not after restarts' : 'Only from active VCL'}`,
      );
      req.attempt.synthStatus = 503;
      req.attempt.synthReason = 'Service Unavailable';
      return SYNTH;
    case RETURN.fail:
      return FAIL;
    default:
      throw new Error(`vcl_recv returned ${ret}`);
  }
}

/** The body could not be cached, and nothing else can be done with what is left of it. */
function giveUp(req: Request, why: BodyError): Step<Request> {
  req.closeAfter('RX_BODY');
  const isWrong = req.ctx.vcl.changes.requestBodyFailures && why !== 'closed';
  if (why === 'overflow' || (isWrong && why !== 'storage')) answerBare(req, 400, 'Bad Request');
  else if (why === 'storage') answerBare(req, 503, 'Service Unavailable');
  else req.unanswered = true;
  return FINISH;
}

/** A client that has not waited needs no answer; the others get theirs now, unless the program wants it late. */
function expectation(req: Request): void {
  if (req.session.hasInput) req.expectContinue = false;
  else if (!req.late100Continue) req.askForBody();
}

/** With gzip support on, the cache knows two kinds of clients: those that take gzip and the rest. */
function normaliseEncoding(req: Request): void {
  const { http } = req;
  const i = http.find('accept-encoding');
  if (i < 0) return;
  if (acceptsGzip(http.getAll('accept-encoding'))) {
    if (http.valueAt(i) !== 'gzip' || http.find('accept-encoding', i + 1) >= 0) {
      http.set('Accept-Encoding', 'gzip');
    }
  } else http.unset('accept-encoding');
}

/** Another program takes over: the request begins again in it, as it came from the client. */
function switchProgram(req: Request, to: ProgramRef): void {
  req.switchProgram(to);
  addOwnFields(req);
  req.settings.parts = isStrict(req.core.params);
}

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
