// A stale object and a fetch that may bring it back to life. A 304 takes its body over, with its headers refreshed by those
// of the 304 (RFC 9111 section 4.3.4). Under http_profile=rfc9111 it also answers where the origin cannot be reached or
// fails, for as long as its directives allow (RFC 5861 section 4): it is copied into the object being fetched, fresh for a
// moment, so that all who wait are answered at once and an origin that is down is asked once a second.
//
// Caution: an object that was found stale may still be on its way from its origin, and may yet break off. What there
// is of it by now must never be taken for all of it (SAFETY rule 3), so nobody sees the new object before the old one
// has come to its end.

import { Tag } from '../../protocol/tables/tags.ts';
import { OF_GZIPPED, OF_PART, OF_RECODED } from '../cache/objcore.ts';
import { Flow } from '../flow/flow.ts';
import { weakenEtag } from '../http1/conditional.ts';
import { parseDate } from '../http1/date.ts';
import {
  HttpMessage,
  MSG_HEADER,
  MSG_PROTOCOL,
  MSG_REASON,
  MSG_STATUS,
  MSG_UNSET,
} from '../http1/message.ts';
import { DONE, PARKED, type Step, waitFor } from '../transaction/drive.ts';
import { ObjectWait, StoreSink, StoreSource } from '../transaction/store-flow.ts';
import type { BusyObj } from './busyobj.ts';
import { COPY, STORED, TAKE_OVER, UNSTORED } from './fetch-steps.ts';
import { isStrict, sharedLifetime } from './lifetime.ts';
import { prepareObject } from './prepare.ts';

/** Whether the stale object has a body that a new one may take over: markers never had one to speak of. */
export function hasTemplate(bo: BusyObj): boolean {
  return bo.staleOc !== 0 && !bo.core.cache.facts.isUncacheable(bo.staleOc);
}

/** Goes on with TAKE_OVER as soon as the stale object is whole or has failed. */
export function awaitTemplate(bo: BusyObj): Step<BusyObj> {
  const { facts } = bo.core.cache;
  if (facts.isFinished(bo.staleOc) || facts.isFailed(bo.staleOc)) return TAKE_OVER;
  bo.log.put(Tag.Notice, 'vsl: Conditional fetch wait for streaming object');
  const isOver = (): boolean => facts.isFinished(bo.staleOc) || facts.isFailed(bo.staleOc);
  // Not from within the fetch that reports it: it has more to do with its object.
  new ObjectWait(bo.core.cache, bo.staleOc, isOver, () => bo.core.later(() => bo.resume(TAKE_OVER)));
  return PARKED;
}

/** The stale object has come to its end. */
export function takeOver(bo: BusyObj): Step<BusyObj> {
  const { core, log, attempt } = bo;
  if (core.cache.facts.isFailed(bo.staleOc)) {
    if (bo.attempt.standsIn) return UNSTORED;
    log.put(Tag.FetchError, 'Template object failed');
    attempt.end(null);
    core.stats.fetch_failed++;
    return DONE;
  }
  if (prepareObject(bo)) return COPY;
  log.put(Tag.FetchError, 'Could not get storage');
  attempt.end('RESP_CLOSE');
  return UNSTORED;
}

/** Copies the stale object's body, in turn with the bodies that are being sent. */
export function copyBody(bo: BusyObj): Step<BusyObj> {
  const { core, oc, staleOc } = bo;
  const copy = new StoreSink(core.cache.filling, oc, 'none', core.sendTurns);
  return waitFor(bo, (proceed) =>
    new Flow(new StoreSource(core, staleOc), copy, core.stepChecks !== null, (reason) => {
      bo.attempt.copyFailure = reason === null && copyFindings(bo) ? null : 'storage';
      proceed(STORED);
    }).start(),
  );
}

/** Copies what filters have found out about the body; false when there is no room. */
function copyFindings({ core, oc, staleOc }: BusyObj): boolean {
  const { facts, filling, reading } = core.cache;
  const annex = reading.annexCopy(staleOc);
  // Kept as what it was: a page is a page.
  const isKept = annex === null || filling.setAnnex(oc, annex);
  if (facts.has(oc, OF_GZIPPED)) filling.setGunzippedLength(oc, reading.gunzippedLength(staleOc));
  return isKept;
}

/** Fields a 304 describes its own message with, not the stored one. */
const OWN = new Set(['content-encoding', 'content-length', 'content-range', 'transfer-encoding']);

/** Headers that belong to the stored body (RFC 9111 section 3.2); Varnish takes them from the 304. */
const OF_BODY = new Set(['etag', 'content-md5']);

/** The result of a merge: lines of the 304 that gave way, and where in beresp the stored lines begin. */
export interface Merged {
  readonly dropped: readonly string[];
  /** The tag of the 304 that was weakened: the line before. */
  readonly strong: string | null;
  readonly fresh: number;
}

/** Asks the origin whether the stale object is still good, where there is one that a 304 may bring back. */
export function addCondition(bo: BusyObj): void {
  if (!hasTemplate(bo)) return;
  const { modified, etag, isOld } = validators(bo);
  if (modified !== null && (isOld || !bo.ctx.vcl.changes.oldModified))
    bo.bereq.add('If-Modified-Since', modified, 'if-modified-since');
  if (etag !== null) bo.bereq.add('If-None-Match', etag, 'if-none-match');
}

/** Whether the request as it was sent offered the stale object, so that a 304 means it. A program's own condition is
 * none about an object that has no validator, or no body. */
export function isConditional(bo: BusyObj): boolean {
  const { bereq } = bo;
  if (!hasTemplate(bo) || !(bereq.has('if-none-match') || bereq.has('if-modified-since'))) return false;
  const { modified, etag } = validators(bo);
  return modified !== null || etag !== null;
}

/** @returns `isOld`: the Last-Modified is older than the response, so that it names no other version of that second */
function validators(bo: BusyObj): { modified: string | null; etag: string | null; isOld: boolean } {
  const stale = new HttpMessage(Tag.ObjMethod);
  bo.core.cache.reading.head(bo.staleOc, stale);
  const isWhole = stale.status === 200 || bo.core.cache.facts.has(bo.staleOc, OF_PART);
  if (!isWhole) return { modified: null, etag: null, isOld: false };
  const modified = stale.get('last-modified');
  const made = parseDate(stale.get('date') ?? '');
  const changed = parseDate(modified ?? '');
  const isOld = made !== null && changed !== null && made - changed >= 1;
  return { modified, etag: stale.get('etag'), isOld };
}

/** Makes beresp the stale object's response, updated from the 304. */
export function mergeStale(bo: BusyObj): Merged {
  const { beresp, core } = bo;
  const stale = new HttpMessage(Tag.ObjMethod);
  core.cache.reading.head(bo.staleOc, stale);
  const log = beresp.log;
  beresp.log = null;
  const kept = (key: string): boolean =>
    OWN.has(key) || (isStrict(core.params) && OF_BODY.has(key) && stale.has(key));
  const dropped: string[] = [];
  for (const key of [...OWN, ...OF_BODY]) {
    const i = kept(key) ? beresp.find(key) : -1;
    if (i < 0) continue;
    dropped.push(beresp.lines[i] as string);
    beresp.unset(key);
  }
  // The bytes of what was packed or unpacked here are not those that any tag of the origin's stands for.
  const tagged = beresp.find('etag');
  const tag = tagged < 0 ? '' : (beresp.lines[tagged] as string);
  if (core.cache.facts.has(bo.staleOc, OF_RECODED)) weakenEtag(beresp);
  const strong = tag === '' || beresp.lines.includes(tag) ? null : tag;
  beresp.log = log;
  const fresh = beresp.n;
  const newer = new Set(beresp.keys.slice(0, fresh));
  for (let i = 0; i < stale.n; i++) {
    const key = stale.keys[i] as string;
    // Of a repeated header all lines stay, or none.
    if (!kept(key) && newer.has(key)) continue;
    beresp.push(key, stale.lines[i] as string);
  }
  beresp.log = null;
  beresp.setStatus(stale.status);
  beresp.setReason(stale.reason);
  beresp.log = log;
  bo.attempt.was304 = true;
  return { dropped, strong, fresh };
}

/** Logs what the merge has done; the life of the response is logged ahead of it. */
export function logMerged(bo: BusyObj, { dropped, strong, fresh }: Merged): void {
  const { beresp, log } = bo;
  for (const line of dropped) log.put(beresp.base + MSG_UNSET, line);
  if (strong !== null) {
    log.put(beresp.base + MSG_UNSET, strong);
    log.put(beresp.base + MSG_HEADER, beresp.lines[beresp.find('etag')] as string);
  }
  log.put(beresp.base + MSG_PROTOCOL, beresp.proto);
  log.put(beresp.base + MSG_STATUS, String(beresp.status));
  log.put(beresp.base + MSG_REASON, beresp.reason);
  for (let i = fresh; i < beresp.n; i++) log.put(beresp.base + MSG_HEADER, beresp.lines[i] as string);
}

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
  const life = sharedLifetime(stale, false, now, core.params);
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
