// What a config program may ask of the worker beyond its own transaction.

import { hostname } from 'node:os';
import type { ParamName } from '../../protocol/tables/params.ts';
import type { VclHost } from '../vcl/context.ts';
import type { Worker } from './worker.ts';

export function makeHost(worker: Worker): VclHost {
  return {
    param: (name) => worker.allParams.get(name as ParamName),
    now: () => worker.clock.now(),
    identity: worker.identity,
    hostname: hostname(),
    ban: (expression) => worker.cache.banText(expression, worker.clock.now()),
    syslog: (priority, text) => worker.note(priority, text),
    stevedores: () => [...worker.storages.keys()],
    storage: (name) => {
      const counters = worker.storages.get(name);
      if (counters === undefined) return null;
      return { freeSpace: counters.g_space, usedSpace: counters.g_bytes, happy: true };
    },
  };
}
