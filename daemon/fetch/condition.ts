// A 304 from the origin brings a stale object back to life: its body is taken over, its fields are refreshed by
// those of the 304 (RFC 9111 section 4.3.4).

import { Tag } from '../../protocol/tables/tags.ts';
import { OF_RECODED } from '../cache/objcore.ts';
import { weakenEtag } from '../http1/conditional.ts';
import {
  HttpMessage,
  MSG_HEADER,
  MSG_PROTOCOL,
  MSG_REASON,
  MSG_STATUS,
  MSG_UNSET,
} from '../http1/message.ts';
import type { BusyObj } from './busyobj.ts';
import { isStrict } from './rfc9111.ts';
import { hasTemplate } from './take-over.ts';

/** Fields a 304 describes its own message with, not the stored one. */
const OWN = new Set(['content-encoding', 'content-length', 'content-range', 'transfer-encoding']);

/** Headers that belong to the stored body (RFC 9111 section 3.2); Varnish takes them from the 304. */
const OF_BODY = new Set(['etag', 'content-md5']);

/** What a merge did: lines of the 304 that gave way, and where in beresp the stored lines begin. */
export interface Merged {
  readonly dropped: readonly string[];
  /** The tag of the 304 that was weakened: the line before. */
  readonly strong: string | null;
  readonly fresh: number;
}

/** Asks the origin whether the stale object is still good, where there is one that a 304 may bring back. */
export function addCondition(bo: BusyObj): void {
  if (!hasTemplate(bo)) return;
  const { modified, etag } = validators(bo);
  if (modified !== null) bo.bereq.add('If-Modified-Since', modified, 'if-modified-since');
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

function validators(bo: BusyObj): { modified: string | null; etag: string | null } {
  const stale = new HttpMessage(Tag.ObjMethod);
  bo.core.cache.reading.head(bo.staleOc, stale);
  if (stale.status !== 200) return { modified: null, etag: null };
  return { modified: stale.get('last-modified'), etag: stale.get('etag') };
}

/** Makes beresp the stale object's response, with what the 304 says newer. */
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
