// The lookup: asks the cache what there is under the request's key and sorts the answer into hit, miss, pass
// or a wait: for another request's fetch, or for the turn in which the next of many bans are tested.

import { Tag } from '../../protocol/tables/tags.ts';
import { LookupAnswer } from '../cache/lookup-query.ts';
import { OF_PART } from '../cache/objcore.ts';
import type { TierLookups } from '../cache/object-tier.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
import type { Request } from '../transaction/request.ts';
import { askEarly } from './early-slice.ts';
import { HIT, LOOKUP, MISS, PASS, RESET } from './request-steps.ts';

export function lookup(req: Request): Step<Request> {
  const { core, log, lookup: out } = req;
  const { cache, stats } = core;
  const { facts } = cache;
  // An object that was fresh when the request came stays so while it waits; a restart is still the same request.
  const now = req.tReq;
  const query = req.query;
  query.key = req.attempt.hashKey;
  query.now = now;
  query.hashAlwaysMiss = req.settings.hashAlwaysMiss || req.attempt.wantsWhole;
  query.hashIgnoreBusy = req.settings.hashIgnoreBusy || req.wokenByFailure;
  query.hashIgnoreVary = req.settings.hashIgnoreVary;
  query.waited = req.attempt.waited;
  query.reqGrace = req.settings.grace;
  query.reqTtl = req.settings.ttl;
  const found = cache.lookup.find(query, out);
  req.attempt.busyOc = out.busy;
  req.attempt.staleOc = out.stale;
  switch (found) {
    case LookupAnswer.HIT:
    case LookupAnswer.GRACE: {
      const { oc } = out;
      if (req.fragment !== null && facts.has(oc, OF_PART)) return lookForWhole(req);
      if (core.held.since > 0 && facts.tOriginOf(oc) <= core.held.since) return deferred(req);
      req.attempt.oc = oc;
      req.attempt.isHit = true;
      req.attempt.hitVxid = facts.vxidOf(oc);
      const left = facts.ttlOf(oc) - (now - facts.tOriginOf(oc));
      logHit(req, left);
      if (out.variants !== 0) logVariants(req);
      req.attempt.isGrace = found === LookupAnswer.GRACE;
      cache.hits.touch(oc, now);
      if (req.attempt.waited) waitLogged(req);
      return HIT;
    }
    case LookupAnswer.HITMISS:
      req.attempt.isHitMiss = true;
      log.put(Tag.HitMiss, `${out.hitVxid} ${out.hitTtl.toFixed(6)}`);
      stats.cache_hitmiss++;
      logVariants(req);
      if (req.attempt.waited) waitLogged(req);
      return MISS;
    case LookupAnswer.HITPASS:
      req.attempt.isHitPass = true;
      log.put(Tag.HitPass, `${out.hitVxid} ${out.hitTtl.toFixed(6)}`);
      stats.cache_hitpass++;
      logVariants(req);
      if (req.attempt.waited) waitLogged(req);
      return PASS;
    case LookupAnswer.MISS:
      if (core.disk !== null && isForDisk(req, core.disk)) return askDisk(req, core.disk);
      logVariants(req);
      if (req.attempt.waited) waitLogged(req);
      return MISS;
    case LookupAnswer.BUSY: {
      stats.busy_sleep++;
      req.attempt.waited = true;
      askEarly(req);
      const cancel = cache.lookup.wait(req.attempt.hashKey, {
        wake: (failed: boolean) => {
          req.onAbort = null;
          req.wokenByFailure = failed;
          stats.busy_wakeup++;
          if (core.countsAgain) {
            stats.client_req++;
            stats.client_req_again++;
          }
          req.resume(req.aborted ? RESET : LOOKUP);
        },
      });
      req.onAbort = () => {
        cancel();
        stats.busy_killed++;
        req.resume(RESET);
      };
      return PARKED;
    }
    case LookupAnswer.UNTESTED: {
      const cancel = cache.lookup.waitTurn({
        wake: () => {
          req.onAbort = null;
          req.resume(LOOKUP);
        },
      });
      req.onAbort = () => {
        cancel();
        req.resume(RESET);
      };
      return PARKED;
    }
    default:
      throw new Error(`lookup answered ${found}`);
  }
}

/** An object that is stale in memory has no better copy on disk. */
function isForDisk({ attempt, settings }: Request, disk: TierLookups): boolean {
  if (attempt.askedDisk || attempt.staleOc !== 0 || settings.hashAlwaysMiss) return false;
  return disk.mayHave(attempt.hashKey);
}

/** The request waits for the disk, and others wait for its busy object as for a fetch. What was on disk is found by the next
 * lookup; without it the request has missed. */
function askDisk(req: Request, disk: TierLookups): Step<Request> {
  const { references } = req.core.cache;
  const { busyOc } = req.attempt;
  req.attempt.busyOc = 0;
  req.attempt.askedDisk = true;
  let isWanted = true;
  const outcome = { text: '' };
  req.onAbort = () => {
    isWanted = false;
    req.resume(RESET);
  };
  void disk
    .load(req.query, busyOc, () => isWanted, outcome)
    .then((found) => {
      if (isWanted) req.onAbort = null;
      if (found || !isWanted) references.deref(busyOc);
      if (!isWanted) return;
      req.log.put(Tag.Notice, `Disk: ${outcome.text}`);
      if (!found) req.attempt.busyOc = busyOc;
      req.resume(found ? LOOKUP : MISS);
    });
  return PARKED;
}

/** Releases the object that the lookup found. */
function release(req: Request): void {
  const { core, lookup: out } = req;
  const { references } = core.cache;
  references.deref(out.oc);
  if (out.busy !== 0) references.deref(out.busy);
  req.attempt.busyOc = 0;
  req.attempt.staleOc = 0;
}

/** A page is made of whole bodies. */
function lookForWhole(req: Request): Step<Request> {
  release(req);
  req.attempt.wantsWhole = true;
  return LOOKUP;
}

/** The object may be outdated: the request looks up again once that is known. */
function deferred(req: Request): Step<Request> {
  release(req);
  const cancel = req.core.held.wait(() => {
    req.onAbort = null;
    req.resume(LOOKUP);
  });
  req.onAbort = () => {
    cancel();
    req.resume(RESET);
  };
  return PARKED;
}

/** Ends the time on the waiting list. */
function waitLogged(req: Request): void {
  req.attempt.waited = false;
  req.log.timestamp('Waitinglist', req.core.clock.now());
}

/** Logs a notice if a lookup had to examine many variants. */
function logVariants(req: Request): void {
  const { variants } = req.lookup;
  if (variants === 0 || variants < req.core.params.vary_notice) return;
  req.log.put(Tag.Notice, `vsl: High number of variants (${variants})`);
}

/** `vxid ttl grace keep`, and while the body is still arriving its received and its total length. */
function logHit(req: Request, left: number): void {
  const { facts, reading } = req.core.cache;
  const { log } = req;
  const { oc } = req.attempt;
  log
    .open()
    .int(req.attempt.hitVxid)
    .text(' ')
    .fixed(left)
    .text(' ')
    .fixed(facts.graceOf(oc))
    .text(' ')
    .fixed(facts.keepOf(oc));
  if (!facts.isFinished(oc)) {
    log.text(' ').int(reading.bodyLength(oc));
    const declared = reading.declaredLength(oc);
    if (declared >= 0) log.text(' ').int(declared);
  }
  log.close(Tag.Hit);
}
