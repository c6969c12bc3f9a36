// A 304 from the origin brings a stale object back to life: its body is taken over, its fields are refreshed by
// those of the 304 (RFC 9111 section 4.3.4).

import { Tag } from '../../protocol/tables/tags.ts';
import { HttpMessage, MSG_HEADER, MSG_PROTOCOL } from '../http1/message.ts';
import type { BusyObj } from './busyobj.ts';
import { isStrict } from './rfc9111.ts';

/** Fields a 304 describes its own message with, not the stored one. */
const OWN = new Set(['content-length', 'content-encoding', 'content-range', 'transfer-encoding']);

/** Fields that belong to the stored body (RFC 9111 section 3.2); the field takes them from the 304. */
const OF_BODY = new Set(['etag', 'content-md5']);

/** Makes beresp the stale object's response, with what the 304 says newer. */
export function mergeStale(bo: BusyObj): void {
  const { beresp, core } = bo;
  const stale = new HttpMessage(Tag.ObjMethod);
  core.cache.head(bo.staleOc, stale);
  const log = beresp.log;
  beresp.log = null;
  const kept = (key: string): boolean =>
    OWN.has(key) || (isStrict(core.params) && OF_BODY.has(key) && stale.has(key));
  for (const key of [...OWN, ...OF_BODY]) if (kept(key)) beresp.unset(key);
  beresp.log = log;
  const fresh = beresp.n;
  for (let i = 0; i < stale.n; i++) {
    const key = stale.keys[i] as string;
    if (!kept(key) && beresp.has(key)) continue;
    beresp.push(key, stale.lines[i] as string);
  }
  bo.log.put(beresp.base + MSG_PROTOCOL, beresp.proto);
  beresp.setStatus(stale.status);
  beresp.setReason(stale.reason);
  for (let i = fresh; i < beresp.n; i++) bo.log.put(beresp.base + MSG_HEADER, beresp.lines[i] as string);
  bo.was304 = true;
  core.stats.fetch_304++;
}
