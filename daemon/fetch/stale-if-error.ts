// A stale object in the place of an error (RFC 9111 section 4.2.4, RFC 5861 section 4), under http_profile=rfc9111:
// where the origin cannot be reached or fails, what it last sent answers, for as long as its directives allow.
//
// The object is copied into the one being fetched, fresh for a moment: those who wait are all answered at once, and
// an origin that is down is asked once a second, not once a request.

import { Tag } from '../../protocol/tables/tags.ts';
import { HttpMessage } from '../http1/message.ts';
import type { Step } from '../transaction/drive.ts';
import type { BusyObj } from './busyobj.ts';
import { isStrict, sharedLife } from './rfc9111.ts';
import { awaitTemplate, hasTemplate } from './take-over.ts';

/** Statuses that count as a failure of the origin. */
const FAILED = new Set([500, 502, 503, 504]);
/** Seconds until the origin is asked again. */
const AGAIN = 1;

export function isOriginFailure(status: number): boolean {
  return FAILED.has(status);
}

/** Makes the stale object the answer of this fetch; null when it must not be, and nothing has been done. */
export function serveStale(bo: BusyObj): Step<BusyObj> | null {
  const { core, staleOc, beresp, log } = bo;
  const { facts, reading } = core.cache;
  if (!isStrict(core.params) || bo.mode !== 'fetch' || !hasTemplate(bo)) return null;
  const stale = new HttpMessage(Tag.ObjMethod);
  reading.head(staleOc, stale);
  const now = core.clock.now();
  const tOrigin = facts.tOriginOf(staleOc);
  const life = sharedLife(stale, false, now, core.params);
  if (life.staleIfError === 0 || now > tOrigin + life.ttl + life.staleIfError) return null;
  log.put(Tag.Error, 'Origin failed, its stale object answers (stale-if-error)');
  beresp.reset();
  beresp.copyFrom(stale);
  const end = tOrigin + facts.ttlOf(staleOc) + facts.graceOf(staleOc) + facts.keepOf(staleOc);
  bo.tOrigin = tOrigin;
  bo.ttl = now + AGAIN - tOrigin;
  bo.grace = 0;
  bo.keep = Math.max(0, end - now - AGAIN);
  bo.uncacheable = false;
  bo.attempt.was304 = true;
  bo.attempt.standsIn = true;
  return awaitTemplate(bo);
}
