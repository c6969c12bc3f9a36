// An origin's answer on its way to an object: logged, dated, given the life that its own headers and the parameters call
// for; then vcl_backend_response, and the way of the body into the store. Under http_profile=rfc9111 an unsafe request
// that succeeded also invalidates the objects under its own key, and those under the keys of its Location and
// Content-Location on the same host (RFC 9111 section 4.4).
//
// Caution: the key is the program's. Another URL's key is known only where vcl_hash hashes URL and host one after
// the other, as the builtin one does; elsewhere only the request's own key is invalidated.

import { refusalText } from '../../protocol/tables/refusals.ts';
import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { OriginConnection } from '../backend/connection.ts';
import { TRANSIENT } from '../cache/storage/stevedores.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { httpDate } from '../http1/date.ts';
import { type BodyFraming, responseBody, settleLength } from '../http1/framing.ts';
import { connectionHas } from '../http1/hop-by-hop.ts';
import type { HttpMessage } from '../http1/message.ts';
import { DONE, type Step } from '../transaction/drive.ts';
import { inState } from '../transaction/program-state.ts';
import { bodyOver, fetchBody, readNoBody } from './body.ts';
import type { BusyObj } from './busyobj.ts';
import { isStrict } from './lifetime.ts';
import { isSlice, judgePart, settlePart } from './part-answer.ts';
import { chooseFilters, contentRangeFault, prepareObject } from './prepare.ts';
import { decidesRefresh, mergedFields, takeRefreshed } from './refresh.ts';
import {
  awaitTemplate,
  isConditional,
  isOriginFailure,
  logMerged,
  mergeStale,
  serveStale,
} from './revalidation.ts';
import { setLifetime } from './set-lifetime.ts';
import { answer, failed, logBeresp, retry } from './try-origin.ts';

/** Takes the answer's head over; returns the framing of its body. */
function takeResponse(bo: BusyObj): BodyFraming {
  const { beresp, core } = bo;
  const now = core.clock.now();
  const { headersBeforeBeresp } = bo.ctx.vcl.changes;
  if (!headersBeforeBeresp) bo.log.timestamp('Beresp', now);
  logBeresp(bo);
  if (headersBeforeBeresp) bo.log.timestamp('Beresp', now);
  const { leniencies } = bo.attempt.connection as OriginConnection;
  let framing = responseBody(beresp, bo.bereq.method, leniencies);
  if (leniencies.any) settleLength(beresp, framing);
  if (beresp.status === 204 && (beresp.has('transfer-encoding') || lengthIsNotNothing(beresp))) {
    // RFC 9110 section 8.6 forbids it: the start of the next response would be ambiguous.
    framing = { kind: 'error', reason: 'body_forbidden', text: '', detail: 'status 204' };
  }
  if (framing.kind !== 'error' && !beresp.has('date')) beresp.add('Date', httpDate(now), 'date');
  bo.tOrigin = now;
  bo.storage = bo.uncacheable ? TRANSIENT : core.cache.storages.next();
  return framing;
}

function lengthIsNotNothing(msg: HttpMessage): boolean {
  const length = msg.get('content-length');
  return length !== null && length !== '0';
}

/** Counts a response by how its body is framed, as soon as its head is there: whatever the program makes of it. */
function countKind(bo: BusyObj, framing: BodyFraming): void {
  const { stats } = bo.core;
  if (bo.bereq.method === 'HEAD') stats.fetch_head++;
  else if (bo.beresp.status === 204) stats.fetch_204++;
  else if (bo.beresp.status === 304) stats.fetch_304++;
  else
    switch (framing.kind) {
      case 'none':
        stats.fetch_none++;
        break;
      case 'length':
        stats.fetch_length++;
        break;
      case 'chunked':
        stats.fetch_chunked++;
        break;
      case 'eof':
        stats.fetch_eof++;
        break;
      default:
        stats.fetch_bad++;
    }
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Call when the response to a pass has come. */
function invalidateAfter(bo: BusyObj): void {
  const { core, bereq, beresp } = bo;
  if (!isStrict(core.params) || bo.mode !== 'pass' || SAFE.has(bereq.method)) return;
  if (beresp.status < 200 || beresp.status > 399) return;
  invalidate(bo, bo.hashKey);
  for (const field of ['location', 'content-location']) {
    const target = beresp.get(field);
    const key = target === null ? null : keyOf(bo.hashKey, target);
    if (key !== null && key !== bo.hashKey) invalidate(bo, key);
  }
  // The next state ends once that cannot be undone by a crash: only then does the client get its answer.
  bo.ctx.awaitDisk();
}

function invalidate(bo: BusyObj, key: string): void {
  const { core, log } = bo;
  if (core.cache.invalidation.purge(key, core.clock.now()) > 0)
    log.put(Tag.Notice, `invalidated ${key.replace(/\0/g, ' ').trim()}`);
}

/** The key under which `target`, relative to the request's URL, is kept; null when it is not known. */
function keyOf(own: string, target: string): string | null {
  const [url, host, rest, ...more] = own.split('\0');
  if (url === undefined || host === undefined || rest !== '' || more.length > 0) return null;
  try {
    const resolved = new URL(target, `http://${host}${url}`);
    if (resolved.host !== new URL(`http://${host}`).host) return null;
    return `${resolved.pathname}${resolved.search}\0${host}\0`;
  } catch {
    // Neither a URL nor relative to one: nothing is kept under it.
    return null;
  }
}

/** The origin answered: decides what becomes of the answer, and stores it. */
export function respond(bo: BusyObj): Step<BusyObj> {
  const { ctx, log, attempt } = bo;
  const framing = takeResponse(bo);
  if (isOriginFailure(bo.beresp.status)) {
    const instead = serveStale(bo);
    if (instead !== null) {
      attempt.end('RESP_CLOSE');
      return instead;
    }
  }
  invalidateAfter(bo);
  // A program sees one line of a header: restrictions in a second one must not be lost (SAFETY rule 8).
  bo.beresp.join('cache-control');
  bo.beresp.join('vary');
  countKind(bo, framing);
  judgePart(bo, () => {
    bo.part = null;
    bo.askedRange = null;
  });
  if (framing.kind === 'error') {
    attempt.end('RX_BODY');
    log.put(Tag.Error, refusalText('response', framing.reason, framing.detail));
    log.put(Tag.Error, 'Body cannot be fetched');
    return failed(bo);
  }
  bo.attempt.hasBody = framing.kind !== 'none';
  const is304 = bo.beresp.status === 304 && bo.mode !== 'pass';
  if (is304 && decidesRefresh(bo)) {
    ctx.now = setLifetime(bo, mergedFields(bo));
    return inState(bo, State.backend_refresh, (_bo, ret) => afterRefresh(bo, framing, ret));
  }
  const merged = is304 && isConditional(bo) ? mergeStale(bo) : null;
  ctx.now = isSlice(bo) ? setLifetimeOfWhole(bo) : setLifetime(bo);
  if (merged !== null) logMerged(bo, merged);
  if (is304 && !bo.attempt.was304) {
    // The fetch was unconditional: a cached 304 would be sent to clients without a copy.
    log.put(Tag.Error, '304 response but not conditional fetch');
    attempt.end('RX_BAD');
    return failed(bo);
  }
  return inState(bo, State.backend_response, (_bo, ret) => afterResponse(bo, framing, ret));
}

/** A slice lives as long as a 200 with its head would. */
function setLifetimeOfWhole(bo: BusyObj): number {
  const { beresp } = bo;
  const { status } = beresp;
  beresp.status = 200;
  const now = setLifetime(bo);
  beresp.status = status;
  return now;
}

function afterRefresh(bo: BusyObj, framing: BodyFraming, ret: ReturnCode): Step<BusyObj> {
  if (!takeRefreshed(bo, ret)) return refused(bo, ret);
  return inState(bo, State.backend_response, (_bo, code) => afterResponse(bo, framing, code));
}

/** The program does not want this response. */
function refused(bo: BusyObj, ret: ReturnCode): Step<BusyObj> {
  const { core, ctx, attempt } = bo;
  if (ret === RETURN.retry) attempt.giveUp();
  else attempt.end('RESP_CLOSE');
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

function afterResponse(bo: BusyObj, framing: BodyFraming, code: ReturnCode): Step<BusyObj> {
  const { core, ctx, log, attempt } = bo;
  let ret = code;
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
  if (ret !== RETURN.deliver) return refused(bo, ret);
  const next = settlePart(bo);
  if (next !== null) return next;
  // After the program, which may have corrected it. Without range support the origin's Content-Range is passed on unchecked.
  const isJudged = !bo.attempt.was304 && core.params.http_range_support !== 0;
  const misfit = isJudged ? contentRangeFault(bo.askedRange, bo.beresp, isStrict(core.params)) : null;
  if (misfit !== null) {
    log.put(Tag.Error, misfit);
    attempt.end('RX_BODY');
    return failed(bo);
  }
  log.timestamp('Process', core.clock.now());
  if (connectionHas(bo.beresp, 'close')) attempt.connection?.closeBecause('RESP_CLOSE');
  if (bo.attempt.rolledBack) {
    log.put(Tag.FetchError, 'No backend connection (rollback?)');
    return failed(bo);
  }
  const unusable = chooseFilters(bo);
  if (unusable !== null) {
    attempt.end(unusable);
    return failed(bo);
  }
  if (bo.attempt.was304) {
    readNoBody(bo, framing);
    return awaitTemplate(bo);
  }
  if (!prepareObject(bo)) {
    attempt.end('RESP_CLOSE');
    log.put(Tag.FetchError, 'Could not get storage');
    if (bo.part !== null) bo.part.lacksRoom = true;
    return failed(bo);
  }
  return fetchBody(bo, framing);
}

/** The body has come to an end. */
export function stored(bo: BusyObj): Step<BusyObj> {
  // A response that is not streamed was not sent yet: vcl_backend_error may still replace it.
  if (bodyOver(bo)) return DONE;
  if (!bo.attempt.doStream || bo.attempt.standsIn) return failed(bo);
  bo.core.stats.fetch_failed++;
  return DONE;
}
