// A 304 from the origin brings a stale object back to life: its body is taken over, its fields are refreshed by
// those of the 304 (RFC 9111 section 4.3.4).

import { Tag } from '../../protocol/tables/tags.ts';
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

/** Fields a 304 describes its own message with, not the stored one. */
const OWN = new Set(['content-encoding', 'content-length', 'content-range', 'transfer-encoding']);

/** Fields that belong to the stored body (RFC 9111 section 3.2); the field takes them from the 304. */
const OF_BODY = new Set(['etag', 'content-md5']);

/** What a merge did: lines of the 304 that gave way, and where in beresp the stored lines begin. */
export interface Merged {
  readonly dropped: readonly string[];
  readonly fresh: number;
}

/** Makes beresp the stale object's response, with what the 304 says newer. */
export function mergeStale(bo: BusyObj): Merged {
  const { beresp, core } = bo;
  const stale = new HttpMessage(Tag.ObjMethod);
  core.cache.head(bo.staleOc, stale);
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
  const etag = beresp.get('etag');
  // What was packed here has a weakened tag; it stays weak.
  if (etag !== null && stale.get('etag') === `W/${etag}`) weakenEtag(beresp);
  beresp.log = log;
  const fresh = beresp.n;
  for (let i = 0; i < stale.n; i++) {
    const key = stale.keys[i] as string;
    if (!kept(key) && beresp.has(key)) continue;
    beresp.push(key, stale.lines[i] as string);
  }
  beresp.log = null;
  beresp.setStatus(stale.status);
  beresp.setReason(stale.reason);
  beresp.log = log;
  bo.was304 = true;
  return { dropped, fresh };
}

/** Logs what the merge has done; the life of the response is logged ahead of it. */
export function logMerged(bo: BusyObj, { dropped, fresh }: Merged): void {
  const { beresp, log } = bo;
  for (const line of dropped) log.put(beresp.base + MSG_UNSET, line);
  log.put(beresp.base + MSG_PROTOCOL, beresp.proto);
  log.put(beresp.base + MSG_STATUS, String(beresp.status));
  log.put(beresp.base + MSG_REASON, beresp.reason);
  for (let i = fresh; i < beresp.n; i++) log.put(beresp.base + MSG_HEADER, beresp.lines[i] as string);
}
