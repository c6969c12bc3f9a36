// A request after vcl_recv and the lookup: vcl_hit, vcl_miss, vcl_pass and vcl_purge run, and the program's return names
// the next step; a fetch is waited for until its head is there and, unless it may be streamed, its body too. A stale hit in
// grace is refreshed in the background. Counted as hits, as in Varnish, are those that the program lets answer, or passes.
//
// A client that leaves meanwhile releases its reference; the fetch continues without it. An object that is to take the place
// of others (purge.others) does so here, when it is whole.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { OF_FAILURE } from '../cache/objcore.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { startFetch } from '../fetch/fetch-machine.ts';
import { PreparedRecords } from '../log/tx-log.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
import { afterWriting } from '../transaction/program-state.ts';
import { purgeRest } from '../transaction/purge-objects.ts';
import type { Request } from '../transaction/request.ts';
import { ObjectWait } from '../transaction/store-flow.ts';
import { asParts, isFarAhead } from './far-range.ts';
import { firstPart } from './first-part.ts';
import { takeFirst } from './first-slice.ts';
import { DELIVER, FAIL, FETCH, inClientState, PASS, RESET, RESTART, SYNTH } from './request-steps.ts';

/** The records of a builtin vcl_hit. */
const PLAIN = new PreparedRecords([
  [Tag.VCL_call, 'HIT'],
  [Tag.VCL_return, 'deliver'],
]);

/** Background fetches at once, in all. */
const MAX_BACKGROUND = 1000;

export function hit(req: Request): Step<Request> {
  const { core, ctx } = req;
  const usual = ctx.vcl.changes.traceOnRequest ? core.tracesAll : req.log.wants(Tag.VCL_trace);
  const traced = req.settings.trace ?? usual;
  if (req.attempt.busyOc === 0 && req.programRef?.plainHit === true && !traced) {
    req.log.putConstant(PLAIN);
    countHit(req);
    return isFarAhead(req) ? fetchRange(req) : takeFirst(req);
  }
  ctx.now = req.attempt.tStart;
  // The program sees this hit counted.
  core.cache.hits.count(req.attempt.oc);
  req.attempt.counted = true;
  return inClientState(req, State.hit, afterHit);
}

function afterHit(req: Request, ret: ReturnCode): Step<Request> {
  const { core } = req;
  if (ret === RETURN.deliver) {
    countHit(req);
    if (isFarAhead(req)) return fetchRange(req);
    return req.attempt.busyOc === 0 ? takeFirst(req) : refresh(req);
  }
  if (req.attempt.busyOc !== 0) core.cache.references.deref(req.attempt.busyOc);
  req.attempt.busyOc = 0;
  req.dropObject();
  // The answer is no longer the object that was found.
  req.attempt.isHit = false;
  // A pass still shows that there was one, with the id of what it fetched (see deliver.ts).
  if (ret !== RETURN.pass) req.attempt.hitVxid = 0;
  else core.stats.cache_hit++;
  return otherReturn(req, ret);
}

/** A part of the object is fetched for its head, or the object does not answer; the response shows where it was a hit (see
 * deliver.ts). */
function fetchRange(req: Request): Step<Request> {
  req.attempt.farPart = asParts(req);
  if (req.attempt.farPart !== null) return DELIVER;
  req.dropObject();
  req.attempt.isHit = false;
  return PASS;
}

/** Fetches what is stale again, unless an origin is so slow that very many such fetches wait for it. A body that goes
 * with the fetch comes from this client, who gets the answer after it, as in Varnish. */
function refresh(req: Request): Step<Request> {
  const { core } = req;
  const { busyOc } = req.attempt;
  req.attempt.busyOc = 0;
  if (!core.bgFetches.take(MAX_BACKGROUND)) {
    core.stats.fetch_no_thread++;
    core.stats.bgfetch_no_thread++;
    req.log.put(Tag.Error, 'Too many background fetches, stale object not refreshed');
    core.cache.references.deref(busyOc);
    return DELIVER;
  }
  const sends = req.body !== null && req.cachedBody === null && !req.body.started;
  let sent = !sends;
  let parked = false;
  const isSent = (): void => {
    sent = true;
    if (parked) req.resume(DELIVER);
  };
  startFetch(req, busyOc, req.attempt.oc, 'bgfetch', isSent, firstPart(req, busyOc, req.attempt.oc));
  req.log.timestamp('Fetch', core.clock.now());
  if (sent) return DELIVER;
  parked = true;
  return PARKED;
}

function countHit(req: Request): void {
  const { stats } = req.core;
  stats.cache_hit++;
  if (req.attempt.isGrace) stats.cache_hit_grace++;
}

/** Nothing usable is cached: unless the program decides otherwise, this request fetches it. */
export function miss(req: Request): Step<Request> {
  const { core, ctx } = req;
  ctx.now = core.clock.now();
  return inClientState(req, State.miss, afterMiss);
}

function afterMiss(req: Request, ret: ReturnCode): Step<Request> {
  const { core } = req;
  if (ret === RETURN.fetch) {
    core.stats.cache_miss++;
    const { busyOc, staleOc } = req.attempt;
    req.attempt.busyOc = 0;
    req.attempt.staleOc = 0;
    req.attempt.oc = busyOc;
    core.cache.references.ref(busyOc);
    startFetch(req, busyOc, staleOc, 'fetch', null, firstPart(req, busyOc, staleOc));
    if (staleOc !== 0) core.cache.references.deref(staleOc);
    return FETCH;
  }
  core.cache.references.deref(req.attempt.busyOc);
  req.attempt.busyOc = 0;
  if (req.attempt.staleOc !== 0) core.cache.references.deref(req.attempt.staleOc);
  req.attempt.staleOc = 0;
  return otherReturn(req, ret);
}

/** The request goes to a backend on its own; its answer is not shared. */
export function pass(req: Request): Step<Request> {
  req.ctx.now = req.turnTime();
  return inClientState(req, State.pass, afterPass);
}

function afterPass(req: Request, ret: ReturnCode): Step<Request> {
  const { core } = req;
  if (ret !== RETURN.fetch) return otherReturn(req, ret);
  core.stats.s_pass++;
  const oc = core.cache.filling.newPrivate();
  req.attempt.isPass = true;
  req.attempt.oc = oc;
  core.cache.references.ref(oc);
  startFetch(req, oc, 0, 'pass');
  return FETCH;
}

/** Every variant under the request's key goes, then vcl_purge makes the answer. */
export function purge(req: Request): Step<Request> {
  const { core, ctx } = req;
  ctx.now = core.clock.now();
  core.stats.n_purges++;
  const count = core.cache.invalidation.purge(req.attempt.hashKey, ctx.now);
  core.stats.n_obj_purged += count;
  ctx.raise({ kind: 'purge', soft: false, subject: ctx.urlSubject, count });
  return inClientState(req, State.purge, afterPurge);
}

function afterPurge(req: Request, ret: ReturnCode): Step<Request> {
  const { ctx } = req;
  if (ret === RETURN.restart) return RESTART;
  if (ret === RETURN.fail) return FAIL;
  req.attempt.synthStatus = ctx.synthStatus;
  req.attempt.synthReason = ctx.synthReason;
  return SYNTH;
}

/** The step that a state's return code asks for, once the state has released its objects. */
function otherReturn(req: Request, ret: number): Step<Request> {
  switch (ret) {
    case RETURN.pass:
      return PASS;
    case RETURN.restart:
      return RESTART;
    case RETURN.synth:
      req.attempt.synthStatus = req.ctx.synthStatus;
      req.attempt.synthReason = req.ctx.synthReason;
      return SYNTH;
    default:
      return FAIL;
  }
}

export function fetch(req: Request): Step<Request> {
  const { core } = req;
  const { oc } = req.attempt;
  if (req.aborted) return RESET;
  if (core.cache.facts.isFailed(oc)) {
    // Not even an error object could be made.
    req.log.timestamp('Fetch', core.clock.now());
    req.dropObject();
    req.attempt.synthStatus = 503;
    req.attempt.synthReason = 'Service Unavailable';
    return SYNTH;
  }
  if (isReady(req)) {
    req.log.timestamp('Fetch', core.clock.now());
    if (req.attempt.replacesOthers && !core.cache.facts.has(oc, OF_FAILURE)) return replaceOthers(req);
    // The fetch that this request has begun continues for later requests.
    return isFarAhead(req) ? fetchRange(req) : DELIVER;
  }
  const isOver = (): boolean => isReady(req) || core.cache.facts.isFailed(oc);
  const wait = new ObjectWait(core.cache, oc, isOver, () => {
    req.onAbort = null;
    req.resume(fetch(req));
  });
  req.onAbort = () => {
    wait.leave();
    req.resume(RESET);
  };
  return PARKED;
}

/** An object that replaces others must be whole first, unless it is kept only as fast as its client takes it. */
function isReady({ core, attempt }: Request): boolean {
  const { facts } = core.cache;
  if (!facts.isDeliverable(attempt.oc)) return false;
  return !attempt.replacesOthers || facts.isFinished(attempt.oc) || facts.isUncacheable(attempt.oc);
}

/** Edge and fleet have it before the client is answered. */
function replaceOthers(req: Request): Step<Request> {
  req.attempt.replacesOthers = false;
  purgeRest(req);
  return afterWriting(req, State.deliver, RETURN.deliver as ReturnCode, (_req, ret) => {
    if (req.aborted) return RESET;
    if (ret === RETURN.deliver) return DELIVER;
    req.dropObject();
    req.attempt.synthStatus = req.ctx.synthStatus;
    req.attempt.synthReason = req.ctx.synthReason;
    return SYNTH;
  });
}
