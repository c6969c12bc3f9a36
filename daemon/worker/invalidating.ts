// Invalidation in this worker, each kind with its counters and its record: for programs and for the fleet's events.
// Nothing here notifies the edge or the fleet.

import type { SoftPurge } from '../cache/soft-purge.ts';
import type { WorkerCore } from './worker-core.ts';

/** Purges objects that carry one of the keys; returns their number. */
export function purgeKeys(worker: WorkerCore, keys: string, soft: boolean): number {
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

/** Purges all variants of a URL. A program with a vcl_hash of its own has unknown keys: then a ban is added instead,
 * and null returned. Without a host the path is banned under every host. */
export function purgePath(
  worker: WorkerCore,
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

/** Adds a ban and logs it outside of transactions, whose records are Varnish's. Returns the error or null. @param by who
 * sent it, for the event */
export function addBan(
  worker: WorkerCore,
  expression: string | readonly string[],
  soft: boolean,
  by: string,
): string | null {
  const { bans } = worker.cache;
  const now = worker.clock.now();
  const problem =
    typeof expression === 'string' ? bans.addText(expression, now, soft) : bans.add(expression, now, soft);
  if (problem !== null) return problem;
  const text = typeof expression === 'string' ? expression : expression.join(' ');
  const line = `${soft ? 'softban' : 'ban'} ${text}`;
  worker.logNotice(line);
  worker.happened('ban', `${line} (by ${by})`);
  return null;
}
