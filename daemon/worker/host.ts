// What a config program may ask of the worker beyond its own transaction.

import { hostname } from 'node:os';
import type { ParamName } from '../../protocol/tables/params.ts';
import type { VclHost } from '../contract/context.ts';
import type { Worker } from './worker.ts';

/** What Varnish calls the free space of a storage without a size. */
const UNLIMITED = 999_999_999_999_999;

export function makeHost(worker: Worker): VclHost {
  return {
    param: (name) => worker.allParams.get(name as ParamName),
    now: () => worker.clock.now(),
    identity: worker.identity,
    hostname: hostname(),
    ban: (expression) => ban(worker, expression, false),
    softBan: (expression) => ban(worker, expression, true),
    purgeTags: (keys, soft) => {
      const count = worker.cache.invalidation.purgeTags(keys, soft, worker.clock.now());
      if (soft) {
        worker.stats.xkey_soft_purges++;
        worker.stats.xkey_obj_soft_purged += count;
      } else {
        worker.stats.xkey_purges++;
        worker.stats.xkey_obj_purged += count;
      }
      return count;
    },
    syslog: (priority, text) => worker.note(priority, text),
    count: (counter) => {
      worker.stats[counter]++;
    },
    stevedores: () => [...worker.storages.keys()],
    storage: (name) => {
      const now = worker.cache.storages.stats(name);
      if (now === null) return null;
      const limited = worker.cache.storages.size(name) > 0;
      const free = limited ? now.g_space : UNLIMITED - now.g_bytes;
      return { freeSpace: free, usedSpace: now.g_bytes, happy: true };
    },
  };
}

/** Bans of programs are logged outside of the transaction, whose records are Varnish's. */
function ban(worker: Worker, expression: string, soft: boolean): string | null {
  const problem = worker.cache.bans.addText(expression, worker.clock.now(), soft);
  if (problem === null) worker.logNotice(`${soft ? 'softban' : 'ban'} ${expression}`);
  return problem;
}
