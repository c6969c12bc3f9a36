// The ways to invalidate in this worker, each with its counters and its record: by the programs' host, and by the fleet's
// events. Nothing here tells anybody outside.

import type { SoftPurge } from '../cache/lifetimes.ts';
import type { Worker } from './worker.ts';

/** Objects that carry one of the keys. */
export function purgeKeys(worker: Worker, keys: string, soft: boolean): number {
  const { cache, stats, clock } = worker;
  const count = cache.invalidation.purgeTags(keys, soft, clock.now());
  if (soft) {
    stats.xkey_soft_purges++;
    stats.xkey_obj_soft_purged += count;
  } else {
    stats.xkey_purges++;
    stats.xkey_obj_purged += count;
  }
  return count;
}

/** All variants of a URL; null where its keys cannot be known, since the program has a vcl_hash of its own, and a ban does
 * it. Without a host the path is meant under every host. */
export function purgePath(
  worker: Worker,
  host: string,
  path: string,
  soft: SoftPurge | null,
  plainHash: boolean,
): number | null {
  const { cache, stats, clock } = worker;
  const now = clock.now();
  if (!plainHash || host === '') {
    const sameHost = host === '' ? [] : ['&&', 'req.http.host', '==', host];
    cache.bans.add(['req.url', '==', path, ...sameHost], now, soft !== null);
    return null;
  }
  const count = cache.invalidation.purge(`${path}\0${host}\0`, now, soft);
  stats.n_purges++;
  stats.n_obj_purged += count;
  if (soft !== null) {
    stats.n_soft_purges++;
    stats.n_obj_soft_purged += count;
  }
  return count;
}

/** Bans of programs and of the fleet are logged outside of transactions, whose records are Varnish's. The error or null. */
export function addBan(worker: Worker, expression: string | readonly string[], soft: boolean): string | null {
  const { bans } = worker.cache;
  const now = worker.clock.now();
  const problem =
    typeof expression === 'string' ? bans.addText(expression, now, soft) : bans.add(expression, now, soft);
  if (problem !== null) return problem;
  const text = typeof expression === 'string' ? expression : expression.join(' ');
  const line = `${soft ? 'softban' : 'ban'} ${text}`;
  worker.logNotice(line);
  worker.happened('ban', `${line} (by a program or the fleet)`);
  return null;
}
