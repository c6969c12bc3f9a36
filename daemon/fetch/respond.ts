// What becomes of an origin's answer: vcl_backend_response, and the way of the body into the store.

import { refusalText } from '../../protocol/tables/refusals.ts';
import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import type { BodyFraming } from '../http1/framing.ts';
import { connectionHas } from '../http1/hop-by-hop.ts';
import { DONE, type Step } from '../transaction/drive.ts';
import { inState } from '../transaction/program-state.ts';
import { bodyOver, fetchBody, readNoBody } from './body.ts';
import type { BusyObj } from './busyobj.ts';
import { isConditional, logMerged, mergeStale } from './condition.ts';
import { contentRangeFault } from './content-range.ts';
import { invalidateAfter } from './invalidate.ts';
import { chooseFilters, prepareObject } from './prepare.ts';
import { countKind, giveLife, takeResponse } from './response.ts';
import { isStrict } from './rfc9111.ts';
import { isOriginFailure, serveStale } from './stale-if-error.ts';
import { awaitTemplate } from './take-over.ts';
import { answer, failed, retry } from './try-origin.ts';

/** The origin answered: decides what becomes of the answer, and stores it. */
export function respond(bo: BusyObj): Step<BusyObj> {
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
  if (is304 && !bo.attempt.was304) {
    // Nobody asked for less than the whole: a 304 in the cache would answer those who have nothing.
    log.put(Tag.Error, '304 response but not conditional fetch');
    exchange.end('RX_BAD');
    return failed(bo);
  }
  return inState(bo, State.backend_response, (_bo, ret) => afterResponse(bo, framing, ret));
}

function afterResponse(bo: BusyObj, framing: BodyFraming, code: ReturnCode): Step<BusyObj> {
  const { core, ctx, log, exchange } = bo;
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
  // The program might have mended it. Where nothing here cuts parts out, what the origin says of its own goes by unread.
  const isJudged = !bo.attempt.was304 && core.params.http_range_support !== 0;
  const misfit = isJudged ? contentRangeFault(bo.askedRange, bo.beresp, isStrict(core.params)) : null;
  if (misfit !== null) {
    log.put(Tag.Error, misfit);
    exchange.end('RX_BODY');
    return failed(bo);
  }
  log.timestamp('Process', core.clock.now());
  if (connectionHas(bo.beresp, 'close')) exchange.connection?.closeBecause('RESP_CLOSE');
  if (bo.attempt.rolledBack) {
    log.put(Tag.FetchError, 'No backend connection (rollback?)');
    return failed(bo);
  }
  const unusable = chooseFilters(bo);
  if (unusable !== null) {
    exchange.end(unusable);
    return failed(bo);
  }
  if (bo.attempt.was304) {
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
export function stored(bo: BusyObj): Step<BusyObj> {
  // Nobody has seen a response that was not streamed: the program may still answer for it.
  if (bodyOver(bo)) return DONE;
  if (!bo.attempt.doStream || bo.attempt.standsIn) return failed(bo);
  bo.core.stats.fetch_failed++;
  return DONE;
}
