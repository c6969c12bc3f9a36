// The lookup: asks the cache what there is under the request's key and sorts the answer into hit, miss, pass
// or a wait for somebody else's fetch.

import { Tag } from '../../protocol/tables/tags.ts';
import { Lookup } from '../cache/cache.ts';
import type { Request } from './request.ts';
import { FINISH, HIT, LOOKUP, MISS, PARKED, PASS, type Step } from './steps.ts';

export function lookup(req: Request, resume: (step: Step) => void): Step {
  const { core, log, lookup: out } = req;
  const { cache, stats } = core;
  const now = core.clock.now();
  const query = req.query;
  query.key = req.hashKey;
  query.now = now;
  query.hashAlwaysMiss = req.hashAlwaysMiss;
  query.hashIgnoreBusy = req.hashIgnoreBusy || req.wokenByFailure;
  query.hashIgnoreVary = req.hashIgnoreVary;
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
      log.put(Tag.Hit, hitText(req, left));
      stats.cache_hit++;
      if (found === Lookup.GRACE) stats.cache_hit_grace++;
      cache.touch(oc, now);
      return HIT;
    }
    case Lookup.HITMISS:
      req.isHitMiss = true;
      log.put(Tag.HitMiss, `${out.hitVxid} ${out.hitTtl.toFixed(6)}`);
      stats.cache_hitmiss++;
      stats.cache_miss++;
      return MISS;
    case Lookup.HITPASS:
      req.isHitPass = true;
      log.put(Tag.HitPass, `${out.hitVxid} ${out.hitTtl.toFixed(6)}`);
      stats.cache_hitpass++;
      return PASS;
    case Lookup.MISS:
      stats.cache_miss++;
      return MISS;
    case Lookup.BUSY: {
      stats.busy_sleep++;
      const cancel = cache.wait(req.hashKey, {
        wake: (failed: boolean) => {
          req.onAbort = null;
          req.wokenByFailure = failed;
          stats.busy_wakeup++;
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

/** `vxid ttl grace keep`, and while the body is still arriving how much there is of how much. */
function hitText(req: Request, left: number): string {
  const { cache } = req.core;
  const text = `${req.hitVxid} ${fixed6(left)} ${fixed6(cache.graceOf(req.oc))} ${fixed6(cache.keepOf(req.oc))}`;
  if (cache.isFinished(req.oc)) return text;
  const declared = cache.declaredLength(req.oc);
  const fetched = cache.bodyLength(req.oc);
  return declared < 0 ? `${text} ${fetched}` : `${text} ${fetched} ${declared}`;
}

/** Like toFixed(6), several times faster for the magnitudes of this record. */
function fixed6(value: number): string {
  if (value < 0 || value > 1e9) return value.toFixed(6);
  const whole = Math.floor(value);
  const micros = Math.round((value - whole) * 1e6);
  if (micros >= 1e6) return `${whole + 1}.000000`;
  return `${whole}.${PAD[6 - digits(micros)]}${micros}`;
}

const PAD = ['', '0', '00', '000', '0000', '00000'];

function digits(n: number): number {
  if (n < 10) return 1;
  if (n < 100) return 2;
  if (n < 1000) return 3;
  if (n < 10000) return 4;
  return n < 100000 ? 5 : 6;
}
