// The request to an origin and attempts at an answer: made from the client's request, vcl_backend_fetch, vcl_backend_error
// where the origin gives none, and retries. Headers that concern only one connection go, and on a fetch that may be cached
// also those that ask for less than the whole object (SAFETY rule 7).
//
// A response made here is delivered to those who asked and never cached (SAFETY rule 13), unless the program gives it a
// life of its own. Those who wait for this fetch get it too, as a short-lived object that no other request finds: each on
// its own would ask an origin that is down.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { own } from '../flow/piece.ts';
import { httpDate } from '../http1/date.ts';
import { headSize, writeResponseHead } from '../http1/head-writer.ts';
import { copyOnward, HOP_FETCH, HOP_PASS, HOP_RESPONSE, markNamed } from '../http1/hop-by-hop.ts';
import { HttpMessage, MSG_PROTOCOL, MSG_REASON, MSG_STATUS } from '../http1/message.ts';
import { reasonOf } from '../http1/status-reasons.ts';
import { PreparedRecords } from '../log/tx-log.ts';
import { DONE, PARKED, type Step } from '../transaction/drive.ts';
import { inState } from '../transaction/program-state.ts';
import type { Request } from '../transaction/request.ts';
import type { BusyObj } from './busyobj.ts';
import { connect } from './exchange-steps.ts';
import { ATTEMPT } from './fetch-steps.ts';
import { announceSurrogate, isStrict } from './lifetime.ts';
import { replaceStale, storeObject } from './prepare.ts';
import { addCondition, hasTemplate, serveStale } from './revalidation.ts';
import { isInvalidated } from './stale-view.ts';
import { askFor } from './wanted-part.ts';

export function makeBereq(bo: BusyObj, req: Request): void {
  const { bereq, core, log } = bo;
  const cacheable = bo.mode !== 'pass';
  const { http } = req;
  copyOnward(http, bereq, cacheable ? HOP_FETCH : HOP_PASS);
  bo.askedRange = bereq.get('range');
  // The body is framed again when it is sent.
  bereq.unset('transfer-encoding');
  bereq.method = http.method;
  bereq.url = http.url;
  bereq.proto = http.proto;
  if (bo.body === null && bo.ctx.vcl.changes.emptyBodies) stateNoBody(bereq, cacheable ? 'GET' : http.method);
  log.put(Tag.BereqMethod, bereq.method);
  log.put(Tag.BereqURL, bereq.url);
  log.put(Tag.BereqProtocol, bereq.proto);
  bereq.logFields(log);
  bereq.log = log;
  if (cacheable) {
    // Only a GET answers a GET, whatever the client asked (SAFETY rule 7).
    if (bereq.method !== 'GET') bereq.setMethod('GET');
    if (bo.part !== null) askFor(bo);
    else if (core.params.http_gzip_support !== 0 && bereq.get('accept-encoding') !== 'gzip') {
      bereq.set('Accept-Encoding', 'gzip');
    }
  }
  if (bereq.proto !== 'HTTP/1.1') bereq.setProto('HTTP/1.1');
  if (isStrict(core.params)) announceSurrogate(bereq);
  if (bo.staleOc !== 0) addCondition(bo);
  if (bo.programRef.keepsFetch) bo.bereq0.copyFrom(bereq);
  // Built in the log and read back from there: that costs less than joining strings.
  log.open().text(core.idHeader.start).int(bo.attempt.vxid);
  bereq.push(core.idHeader.key, log.closeText(Tag.BereqHeader));
}

/** Methods whose requests usually have no body (RFC 9110 section 8.6: others send Content-Length: 0). */
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

function stateNoBody(bereq: HttpMessage, method: string): void {
  bereq.unset('content-length');
  if (!BODILESS.has(method)) bereq.push('content-length', 'Content-Length: 0');
}

/** Interim responses forwarded per exchange at most (chosen). */
const MOST = 32;

/** The fetch of this request calls it with each interim response. */
export function interimForwarder(req: Request): (head: HttpMessage) => void {
  const { attempt, session } = req;
  let left = MOST;
  return (head) => {
    if (head.status === 100 || left === 0 || req.isHttp10) return;
    if (req.attempt !== attempt || req.aborted || !session.isOpen || session.isSending) return;
    left--;
    const out = new HttpMessage(Tag.RespMethod);
    out.proto = 'HTTP/1.1';
    out.status = head.status;
    out.reason = head.reason;
    markNamed(head);
    copyOnward(head, out, HOP_RESPONSE);
    // It has no body that these could speak of (RFC 9110 section 8.6, RFC 9112 section 6.1).
    out.unset('content-length');
    out.unset('transfer-encoding');
    if (session.stream !== null) session.stream.interim(out);
    else {
      const bytes = Buffer.allocUnsafe(headSize(out));
      session.write(own(bytes.subarray(0, writeResponseHead(bytes, 0, out))));
    }
    req.log.put(Tag.RespProtocol, 'HTTP/1.1');
    req.log.put(Tag.RespStatus, String(out.status));
    req.log.put(Tag.RespReason, out.reason);
    out.logFields(req.log);
  };
}

/** The life of an answer that waiters share, in seconds: what Varnish gives it. */
const SHARED = { ttl: 1, grace: 5, keep: 5 } as const;
const NONE = { ttl: 0, grace: 0, keep: 0 } as const;

/** Begins a try after a look at the sockets: what another answer has set off would else take its connection although
 * an origin that closes after its answers has often closed it by then. */
export function soon(bo: BusyObj): void {
  const { core } = bo;
  core.later(() => core.later(() => bo.resume(ATTEMPT)));
}

/** One try. */
export function attempt(bo: BusyObj): Step<BusyObj> {
  const { ctx, log } = bo;
  // The Start or the Retry of this moment.
  ctx.now = log.tPrev;
  forgetInvalidated(bo);
  return inState(bo, State.backend_fetch, afterBackendFetch);
}

/** Asks for the whole in place of a stale object that has been purged or banned since it was looked up. */
function forgetInvalidated(bo: BusyObj): void {
  if (!hasTemplate(bo) || !isInvalidated(bo)) return;
  bo.bereq.unset('if-modified-since');
  bo.bereq.unset('if-none-match');
  bo.dropStale();
}

function afterBackendFetch(bo: BusyObj, ret: ReturnCode): Step<BusyObj> {
  const { core, ctx, log } = bo;
  switch (ret) {
    case RETURN.fetch:
      break;
    case RETURN.error:
      return answer(bo, ctx.synthStatus, ctx.synthReason);
    case RETURN.abandon:
      return DONE;
    default:
      // vcl_backend_error does not run after a failure of the program: the client gets a 503 of the request side.
      core.stats.vcl_fail++;
      return DONE;
  }
  if (bo.part === null && ctx.vcl.changes.programRange) bo.askedRange = bo.bereq.get('range');
  log.timestamp('Fetch', core.clock.now());
  return connect(bo);
}

export function unanswered(bo: BusyObj): Step<BusyObj> {
  bo.log.timestamp('Beresp', bo.core.clock.now());
  // No fault of the origin's.
  if (bo.attempt.bodyFailure === 'request-body' && bo.ctx.vcl.changes.requestBodyFailures) {
    bo.core.stats.fetch_failed++;
    return answer(bo, 400, '');
  }
  return serveStale(bo) ?? failed(bo);
}

/** The origin gave no answer that can be used. */
export function failed(bo: BusyObj): Step<BusyObj> {
  bo.core.stats.fetch_failed++;
  return answer(bo, 503, '');
}

/** vcl_backend_error, and another try if it asks for one. */
export function answer(bo: BusyObj, status: number, reason: string): Step<BusyObj> {
  return fetchError(bo, status, reason, () => retry(bo, true));
}

/** Begins the next try under a transaction of its own. */
export function retry(bo: BusyObj, fromError = false): Step<BusyObj> {
  const { core, log } = bo;
  if (bo.retries >= core.params.max_retries) {
    bo.retries++;
    if (fromError) {
      // vcl_backend_error has run already.
      log.put(Tag.VCL_Error, 'Too many retries, failing');
      return DONE;
    }
    log.put(Tag.VCL_Error, 'Too many retries, delivering 503');
    core.stats.fetch_failed++;
    return fetchError(bo, 503, '', () => DONE);
  }
  if (bo.bodySent) {
    // The client's body is gone: it cannot be sent twice.
    log.put(Tag.Error, 'Retry not possible, req.body not cached');
    return DONE;
  }
  bo.retries++;
  return tryAgain(bo);
}

/** The same for a try that the program did not ask for, and that is not counted. */
export function tryAgain(bo: BusyObj): Step<BusyObj> {
  const { core, log } = bo;
  const now = core.clock.now();
  log.timestamp('Retry', now);
  const former = bo.attempt.vxid;
  bo.attempt = bo.attempt.next(core.newVxid());
  log.put(Tag.Link, `bereq ${bo.attempt.vxid} retry`);
  log.end();
  log.begin(bo.attempt.vxid, 'b');
  log.put(Tag.Begin, `bereq ${former} retry`);
  log.timestamp('Start', now);
  log.put(Tag.BereqMethod, bo.bereq.method);
  log.put(Tag.BereqURL, bo.bereq.url);
  log.put(Tag.BereqProtocol, bo.bereq.proto);
  bo.bereq.logFields(log);
  bo.beresp.reset();
  bo.bereq.set(core.idHeader.name, String(bo.attempt.vxid));
  soon(bo);
  return PARKED;
}

const STATUS_200 = new PreparedRecords([
  [Tag.BerespProtocol, 'HTTP/1.1'],
  [Tag.BerespStatus, '200'],
  [Tag.BerespReason, 'OK'],
]);

/** Logs beresp as it stands; from here on the program's changes are logged one by one. */
export function logBeresp(bo: BusyObj): void {
  const { beresp, log } = bo;
  if (beresp.status === 200 && beresp.reason === 'OK' && beresp.proto === 'HTTP/1.1')
    log.putConstant(STATUS_200);
  else {
    log.put(beresp.base + MSG_PROTOCOL, beresp.proto);
    log.put(beresp.base + MSG_STATUS, String(beresp.status % 1000).padStart(3, '0'));
    log.put(beresp.base + MSG_REASON, beresp.reason);
  }
  beresp.logFields(log);
  beresp.log = log;
}

/** Answers for the origin. @param again where the program asks for another try instead */
function fetchError(bo: BusyObj, status: number, reason: string, again: () => Step<BusyObj>): Step<BusyObj> {
  const { core, beresp, ctx, log } = bo;
  const now = core.clock.now();
  log.timestamp('Error', now);
  beresp.reset();
  beresp.proto = 'HTTP/1.1';
  beresp.status = status < 100 ? 503 : status;
  beresp.reason = reason !== '' ? reason : status === 503 ? 'Backend fetch failed' : reasonOf(status % 1000);
  beresp.push('date', `Date: ${httpDate(now)}`);
  beresp.push('server', 'Server: proxyd');
  logBeresp(bo);
  const life = bo.mode !== 'pass' && core.cache.filling.hasWaiters(bo.oc) ? SHARED : NONE;
  Object.assign(bo, life);
  bo.tOrigin = now;
  // The filters and flags of the origin's body do not apply to this one.
  bo.attempt = bo.attempt.madeInstead();
  bo.storage = core.cache.storages.next();
  ctx.now = now;
  return inState(bo, State.backend_error, (_bo, ret) => {
    if (ret === RETURN.retry) return again();
    if (ret === RETURN.deliver) storeError(bo, life);
    else if (ret === RETURN.fail) core.stats.vcl_fail++;
    return DONE;
  });
}

/** Makes what vcl_backend_error answered the object. @param life what it began with */
function storeError(bo: BusyObj, life: typeof SHARED | typeof NONE): void {
  const { core, log } = bo;
  // In the middle of a body there is no place for another one.
  if (bo.part !== null && bo.part.of !== null) return;
  bo.part?.coming?.settle(false);
  bo.attempt.forWaiters =
    life === SHARED && bo.ttl === life.ttl && bo.grace === life.grace && bo.keep === life.keep;
  const body = Buffer.from(bo.attempt.synthBody ?? '', 'latin1');
  bo.attempt.doStream = false;
  if (!storeObject(bo)) return;
  if (body.length > 0 && !core.cache.filling.append(bo.oc, body, 0, body.length)) return;
  log.put(Tag.Length, String(body.length));
  core.cache.filling.finish(bo.oc, bo.ttl <= 0);
  replaceStale(bo);
}
