// A fetch from its beginning to its end: vcl_backend_fetch, the exchange with the origin, vcl_backend_response,
// the body into the store; or vcl_backend_error. Runs on its own, step by step: whoever it waits for resumes it.
//
// Whatever happens, the object leaves here finished or failed, its waiters are woken and its references dropped:
// what run() does at the end is what a hanging client would hang on.

import { refusalText } from '../../protocol/tables/refusals.ts';
import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { Oc } from '../cache/cache.ts';
import { State } from '../contract/program.ts';
import { connectionHas } from '../http1/hop-by-hop.ts';
import type { Request } from '../transaction/request.ts';
import { runState } from '../vcl/runtime/run-state.ts';
import { bodyOver, fetchBody, readNoBody } from './body.ts';
import { BusyObj, type FetchMode } from './busyobj.ts';
import { isConditional, logMerged, mergeStale } from './condition.ts';
import { contentRangeFault } from './content-range.ts';
import { countKind } from './count-kind.ts';
import { fetchError } from './error.ts';
import { answered, connect, connected, sent } from './exchange.ts';
import { interimForwarder } from './interim.ts';
import { invalidateAfter } from './invalidate.ts';
import { makeBereq } from './make-bereq.ts';
import { prepareObject, unknownFilter } from './prepare.ts';
import { giveLife, takeResponse } from './response.ts';
import { isStrict } from './rfc9111.ts';
import { isOriginFailure, serveStale } from './stale-if-error.ts';
import { ATTEMPT, DONE, type FetchStep, PARKED } from './steps.ts';
import { awaitTemplate, copyBody, takeOver } from './take-over.ts';

/**
 * Starts to fill `oc` for this request. `staleOc` may be 0. Returns at once.
 * @param bodyDone told once when the request's body has been sent, or will not be: at the latest with the fetch's end
 */
export function startFetch(
  req: Request,
  oc: Oc,
  staleOc: Oc,
  mode: FetchMode,
  bodyDone: (() => void) | null = null,
): void {
  const { core } = req;
  const bo = (core.spareFetches.pop() as BusyObj | undefined) ?? new BusyObj(core, run);
  bo.begin(req, oc, staleOc, mode);
  bo.onBodyDone = bodyDone;
  req.log.open().text('bereq ').int(bo.vxid).text(' ').text(mode).close(Tag.Link);
  core.stats.s_fetch++;
  if (mode === 'bgfetch') {
    core.stats.s_bgfetch++;
    core.bgFetches++;
  }
  if (mode !== 'bgfetch' && isStrict(core.params)) bo.onInterim = interimForwarder(req);
  bo.log.begin(bo.vxid, 'b');
  bo.log.open().text('bereq ').int(bo.reqVxid).text(' ').text(mode).close(Tag.Begin);
  bo.log.put(Tag.VCL_use, bo.programRef.name);
  bo.log.timestamp('Start', bo.tStart);
  // Before this returns: the request's head will not stay as it is.
  try {
    makeBereq(bo, req);
  } catch (error) {
    broke(bo, error);
    finish(bo);
    return;
  }
  if (req.fresh) run(bo, ATTEMPT);
  else soon(bo);
}

/** Begins a try after a look at the sockets: what another answer has set off would else take its connection although
 * an origin that closes behind its answers has often closed it by then. */
function soon(bo: BusyObj): void {
  const { core } = bo;
  core.later(() => core.later(() => run(bo, ATTEMPT)));
}

type StepFunction = (bo: BusyObj) => FetchStep;

/** By step number; DONE and PARKED have no function. */
const TABLE: readonly (StepFunction | null)[] = [
  null,
  null,
  attempt,
  connected,
  sent,
  answered,
  unanswered,
  respond,
  stored,
  takeOver,
  copyBody,
  failed,
];

/** Runs a fetch from a step on, until it is over or waits. */
function run(bo: BusyObj, step: FetchStep): void {
  // A fetch that a defect has ended may still hear of what it waited for.
  if (bo.ended) return;
  let next = step;
  let whole = true;
  try {
    while (next > PARKED) next = (TABLE[next] as StepFunction)(bo);
  } catch (error) {
    broke(bo, error);
    whole = false;
    next = DONE;
  }
  if (next !== DONE) return;
  finish(bo);
  if (whole) bo.recycle();
}

function broke(bo: BusyObj, error: unknown): void {
  bo.log.put(Tag.Error, `Internal error: ${(error as Error).stack ?? String(error)}`);
}

function finish(bo: BusyObj): void {
  const { core } = bo;
  bo.ended = true;
  // Nothing to do unless a defect ended it: a connection has one end.
  bo.exchange.end('TX_ERROR');
  if (!core.cache.isFinished(bo.oc)) core.cache.fail(bo.oc);
  bo.end();
}

/** One try. */
function attempt(bo: BusyObj): FetchStep {
  const { core, ctx, log } = bo;
  // The Start or the Retry of this moment.
  ctx.now = log.tPrev;
  const ret = runState(ctx.vcl, State.backend_fetch, ctx);
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

function unanswered(bo: BusyObj): FetchStep {
  bo.log.timestamp('Beresp', bo.core.clock.now());
  return serveStale(bo) ?? failed(bo);
}

/** The origin answered: decides what becomes of the answer, and stores it. */
function respond(bo: BusyObj): FetchStep {
  const { core, ctx, log, exchange } = bo;
  log.timestamp('Beresp', core.clock.now());
  const framing = takeResponse(bo);
  if (isOriginFailure(bo.beresp.status)) {
    const instead = serveStale(bo);
    if (instead !== null) {
      exchange.end('RESP_CLOSE');
      return instead;
    }
  }
  invalidateAfter(bo);
  // A program looks at one line: what a second one forbids must not be lost (SAFETY rule 8).
  bo.beresp.join('cache-control');
  bo.beresp.join('vary');
  countKind(bo, framing);
  if (framing.kind === 'error') {
    exchange.end('RX_BODY');
    log.put(Tag.Error, refusalText('response', framing.reason, framing.detail));
    log.put(Tag.Error, 'Body cannot be fetched');
    return failed(bo);
  }
  bo.hasBody = framing.kind !== 'none';
  const is304 = bo.beresp.status === 304 && bo.mode !== 'pass';
  const merged = is304 && isConditional(bo) ? mergeStale(bo) : null;
  ctx.now = giveLife(bo);
  if (merged !== null) logMerged(bo, merged);
  if (is304 && !bo.was304) {
    // Nobody asked for less than the whole: a 304 in the cache would answer those who have nothing.
    log.put(Tag.Error, '304 response but not conditional fetch');
    exchange.end('RX_BAD');
    return failed(bo);
  }
  let ret = runState(ctx.vcl, State.backend_response, ctx);
  if (ret === RETURN.pass) {
    bo.uncacheable = true;
    if (ctx.passTtl !== null) {
      bo.ttl = ctx.passTtl;
      bo.grace = 0;
      bo.keep = 0;
    }
    ret = RETURN.deliver;
    bo.hitForPass = bo.mode !== 'pass';
  }
  if (ret !== RETURN.deliver) {
    if (ret === RETURN.retry) exchange.giveUp();
    else exchange.end('RESP_CLOSE');
    switch (ret) {
      case RETURN.retry:
        return retry(bo);
      case RETURN.error:
        return answer(bo, ctx.synthStatus, ctx.synthReason);
      case RETURN.abandon:
        return DONE;
      default:
        core.stats.vcl_fail++;
        return DONE;
    }
  }
  // The program might have mended it.
  const misfit = bo.was304 ? null : contentRangeFault(bo.askedRange, bo.beresp, isStrict(core.params));
  if (misfit !== null) {
    log.put(Tag.Error, misfit);
    exchange.end('RX_BODY');
    return failed(bo);
  }
  log.timestamp('Process', core.clock.now());
  if (connectionHas(bo.beresp, 'close')) exchange.connection?.closeBecause('RESP_CLOSE');
  if (bo.rolledBack) {
    log.put(Tag.FetchError, 'No backend connection (rollback?)');
    return failed(bo);
  }
  const unknown = unknownFilter(bo);
  if (unknown !== null) {
    log.put(Tag.Filters, bo.filters ?? '');
    log.put(Tag.FetchError, `Filter '...${unknown}' not found`);
    exchange.end('OVERLOAD');
    return failed(bo);
  }
  if (bo.was304) {
    readNoBody(bo, framing);
    return awaitTemplate(bo);
  }
  if (!prepareObject(bo)) {
    exchange.end('RESP_CLOSE');
    log.put(Tag.FetchError, 'Could not get storage');
    return failed(bo);
  }
  return fetchBody(bo, framing);
}

/** The body has come to an end. */
function stored(bo: BusyObj): FetchStep {
  // Nobody has seen a response that was not streamed: the program may still answer for it.
  if (bodyOver(bo)) return DONE;
  if (!bo.doStream || bo.standsIn) return failed(bo);
  bo.core.stats.fetch_failed++;
  return DONE;
}

/** The origin gave no answer that can be used. */
function failed(bo: BusyObj): FetchStep {
  bo.core.stats.fetch_failed++;
  return answer(bo, 503, '');
}

/** vcl_backend_error, and another try if it asks for one. */
function answer(bo: BusyObj, status: number, reason: string): FetchStep {
  return fetchError(bo, status, reason) ? retry(bo, true) : DONE;
}

/** Begins the next try under a transaction of its own. */
function retry(bo: BusyObj, fromError = false): FetchStep {
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
    fetchError(bo, 503, '');
    return DONE;
  }
  if (bo.bodySent) {
    // The client's body is gone: it cannot be sent twice.
    log.put(Tag.Error, 'Retry not possible, req.body not cached');
    return DONE;
  }
  const now = core.clock.now();
  log.timestamp('Retry', now);
  const former = bo.vxid;
  bo.vxid = core.newVxid();
  log.put(Tag.Link, `bereq ${bo.vxid} retry`);
  log.put(Tag.End, '');
  log.begin(bo.vxid, 'b');
  log.put(Tag.Begin, `bereq ${former} retry`);
  log.timestamp('Start', now);
  log.put(Tag.BereqMethod, bo.bereq.method);
  log.put(Tag.BereqURL, bo.bereq.url);
  log.put(Tag.BereqProtocol, bo.bereq.proto);
  bo.bereq.logFields(log);
  bo.retries++;
  bo.rolledBack = false;
  bo.was304 = false;
  bo.standsIn = false;
  bo.copyFailure = null;
  bo.pump = null;
  bo.doStream = true;
  bo.beresp.reset();
  bo.bereq.set(core.idHeader.name, String(bo.vxid));
  soon(bo);
  return PARKED;
}
