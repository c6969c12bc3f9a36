// What an unsafe request that succeeded makes invalid (RFC 9111 section 4.4), under http_profile=rfc9111: the
// objects under its own key, and those under the keys of its Location and Content-Location on the same host.
//
// Caution: the key is the program's. Another URL's key is known only where vcl_hash hashes URL and host one after
// the other, as the builtin one does; elsewhere only the request's own key is invalidated.

import { Tag } from '../../protocol/tables/tags.ts';
import type { BusyObj } from './busyobj.ts';
import { isStrict } from './rfc9111.ts';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Call when the response to a pass has come. */
export function invalidateAfter(bo: BusyObj): void {
  const { core, bereq, beresp } = bo;
  if (!isStrict(core.params) || bo.mode !== 'pass' || SAFE.has(bereq.method)) return;
  if (beresp.status < 200 || beresp.status > 399) return;
  invalidate(bo, bo.hashKey);
  for (const field of ['location', 'content-location']) {
    const target = beresp.get(field);
    const key = target === null ? null : keyOf(bo.hashKey, target);
    if (key !== null && key !== bo.hashKey) invalidate(bo, key);
  }
}

function invalidate(bo: BusyObj, key: string): void {
  const { core, log } = bo;
  if (core.cache.invalidation.purge(key, core.clock.now()) > 0)
    log.put(Tag.Notice, `invalidated ${key.replace(/\0/g, ' ').trim()}`);
}

/** The key under which `target`, relative to the request's URL, is kept; null when it is not known. */
function keyOf(own: string, target: string): string | null {
  const [url, host, rest, ...more] = own.split('\0');
  if (url === undefined || host === undefined || rest !== '' || more.length > 0) return null;
  try {
    const resolved = new URL(target, `http://${host}${url}`);
    if (resolved.host !== new URL(`http://${host}`).host) return null;
    return `${resolved.pathname}${resolved.search}\0${host}\0`;
  } catch {
    // Neither a URL nor relative to one: nothing is kept under it.
    return null;
  }
}
