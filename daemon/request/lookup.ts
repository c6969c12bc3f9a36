// The lookup: asks the cache what there is under the request's key and sorts the answer into hit, miss, pass
// or a wait for somebody else's fetch.

import { Tag } from '../../protocol/tables/tags.ts';
import { Lookup } from '../cache/cache.ts';
import type { Request } from '../transaction/request.ts';
import { FINISH, HIT, LOOKUP, MISS, PARKED, PASS, type Step } from '../transaction/steps.ts';

export function lookup(req: Request, resume: (step: Step) => void): Step {
  const { core, log, lookup: out } = req;
  const { cache, stats } = core;
  // What was fresh when the request came stays so while it waits; a restart is still the same request.
  const now = req.tReq;
  const query = req.query;
  query.key = req.hashKey;
  query.now = now;
  query.hashAlwaysMiss = req.hashAlwaysMiss;
  query.hashIgnoreBusy = req.hashIgnoreBusy || req.wokenByFailure;
  query.hashIgnoreVary = req.hashIgnoreVary;
  query.waited = req.waited;
  query.reqGrace = req.grace;
  query.reqTtl = req.ttl;
  const found = cache.lookup(query, out);
  req.busyOc = out.busy;
  req.staleOc = out.stale;
  switch (found) {
    case Lookup.HIT:
    case Lookup.GRACE: {
      const { oc } = out;
      req.oc = oc;
      req.isHit = true;
      req.hitVxid = cache.vxidOf(oc);
      const left = cache.ttlOf(oc) - (now - cache.tOriginOf(oc));
      logHit(req, left);
      if (out.variants !== 0) logVariants(req);
      req.isGrace = found === Lookup.GRACE;
      cache.touch(oc, now);
      if (req.waited) toldWait(req);
      return HIT;
    }
    case Lookup.HITMISS:
      req.isHitMiss = true;
      log.put(Tag.HitMiss, `${out.hitVxid} ${out.hitTtl.toFixed(6)}`);
      stats.cache_hitmiss++;
      logVariants(req);
      if (req.waited) toldWait(req);
      return MISS;
    case Lookup.HITPASS:
      req.isHitPass = true;
      log.put(Tag.HitPass, `${out.hitVxid} ${out.hitTtl.toFixed(6)}`);
      stats.cache_hitpass++;
      logVariants(req);
      if (req.waited) toldWait(req);
      return PASS;
    case Lookup.MISS:
      logVariants(req);
      if (req.waited) toldWait(req);
      return MISS;
    case Lookup.BUSY: {
      stats.busy_sleep++;
      req.waited = true;
      const cancel = cache.wait(req.hashKey, {
        wake: (failed: boolean) => {
          req.onAbort = null;
          req.wokenByFailure = failed;
          stats.busy_wakeup++;
          // As in Varnish: it comes in again.
          stats.client_req++;
          resume(req.aborted ? FINISH : LOOKUP);
        },
      });
      req.onAbort = () => {
        cancel();
        stats.busy_killed++;
        resume(FINISH);
      };
      return PARKED;
    }
    default:
      throw new Error(`lookup answered ${found}`);
  }
}

/** The end of a stay in the waiting list. */
function toldWait(req: Request): void {
  req.waited = false;
  req.log.timestamp('Waitinglist', req.core.clock.now());
}

/** A key whose objects vary so much that a lookup has to look at many is worth a note. */
function logVariants(req: Request): void {
  const { variants } = req.lookup;
  if (variants === 0 || variants < req.core.params.vary_notice) return;
  req.log.put(Tag.Notice, `vsl: High number of variants (${variants})`);
}

/** `vxid ttl grace keep`, and while the body is still arriving how much there is of how much. */
function logHit(req: Request, left: number): void {
  const { cache } = req.core;
  const { oc, log } = req;
  log
    .open()
    .int(req.hitVxid)
    .text(' ')
    .fixed(left)
    .text(' ')
    .fixed(cache.graceOf(oc))
    .text(' ')
    .fixed(cache.keepOf(oc));
  if (!cache.isFinished(oc)) {
    log.text(' ').int(cache.bodyLength(oc));
    const declared = cache.declaredLength(oc);
    if (declared >= 0) log.text(' ').int(declared);
  }
  log.close(Tag.Hit);
}
