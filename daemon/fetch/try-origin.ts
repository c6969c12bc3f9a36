// One attempt at an answer, and the next: vcl_backend_fetch, vcl_backend_error where the origin gives none, and
// retries. A response made here is delivered to those who asked and never cached (SAFETY rule 13), unless the program
// gives it a life of its own.
//
// Those who wait for this fetch get it too, as a short-lived object that nobody else finds: each on its own would ask
// an origin that is down.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { httpDate } from '../http1/date.ts';
import { reasonOf } from '../http1/status-reasons.ts';
import { DONE, PARKED, type Step } from '../transaction/drive.ts';
import { inState } from '../transaction/program-state.ts';
import type { BusyObj } from './busyobj.ts';
import { connect } from './exchange.ts';
import { FetchAttempt } from './fetch-attempt.ts';
import { ATTEMPT } from './fetch-steps.ts';
import { storeObject } from './prepare.ts';
import { replaceStale } from './replace.ts';
import { logBeresp } from './response.ts';
import { serveStale } from './stale-if-error.ts';

/** The life of an answer that waiters share, in seconds: what Varnish gives it. */
const SHARED = { ttl: 1, grace: 5, keep: 5 } as const;
const NONE = { ttl: 0, grace: 0, keep: 0 } as const;

/** Begins a try after a look at the sockets: what another answer has set off would else take its connection although
 * an origin that closes behind its answers has often closed it by then. */
export function soon(bo: BusyObj): void {
  const { core } = bo;
  core.later(() => core.later(() => bo.resume(ATTEMPT)));
}

/** One try. */
export function attempt(bo: BusyObj): Step<BusyObj> {
  const { ctx, log } = bo;
  // The Start or the Retry of this moment.
  ctx.now = log.tPrev;
  return inState(bo, State.backend_fetch, afterBackendFetch);
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
      // A failed program gets no say in the answer: the client sees a 503 of the request side.
      core.stats.vcl_fail++;
      return DONE;
  }
  log.timestamp('Fetch', core.clock.now());
  return connect(bo);
}

export function unanswered(bo: BusyObj): Step<BusyObj> {
  bo.log.timestamp('Beresp', bo.core.clock.now());
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
      // There is nothing left to say, and the program has had its say.
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
  const now = core.clock.now();
  log.timestamp('Retry', now);
  const former = bo.attempt.vxid;
  bo.attempt = new FetchAttempt(core.newVxid());
  log.put(Tag.Link, `bereq ${bo.attempt.vxid} retry`);
  log.end();
  log.begin(bo.attempt.vxid, 'b');
  log.put(Tag.Begin, `bereq ${former} retry`);
  log.timestamp('Start', now);
  log.put(Tag.BereqMethod, bo.bereq.method);
  log.put(Tag.BereqURL, bo.bereq.url);
  log.put(Tag.BereqProtocol, bo.bereq.proto);
  bo.bereq.logFields(log);
  bo.retries++;
  bo.beresp.reset();
  bo.bereq.set(core.idHeader.name, String(bo.attempt.vxid));
  soon(bo);
  return PARKED;
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
  // Whatever was to become of the origin's body, this one is as it is.
  bo.attempt = new FetchAttempt(bo.attempt.vxid, bo.attempt.doStream);
  bo.attempt.madeHere = true;
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
  bo.forWaiters = life === SHARED && bo.ttl === life.ttl && bo.grace === life.grace && bo.keep === life.keep;
  const body = Buffer.from(bo.attempt.synthBody ?? '', 'latin1');
  bo.attempt.doStream = false;
  if (!storeObject(bo)) return;
  if (body.length > 0 && !core.cache.filling.append(bo.oc, body, 0, body.length)) return;
  log.put(Tag.Length, String(body.length));
  core.cache.filling.finish(bo.oc, bo.ttl <= 0);
  replaceStale(bo);
}
