// The host interface of a program: its access to the worker beyond its own transaction.

import { hostname } from 'node:os';
import type { ParamName } from '../../protocol/tables/params.ts';
import type { VclContext, VclHost } from '../contract/context.ts';
import { STALE } from '../contract/invalidation.ts';
import { addBan, purgeKeys, purgePath } from './invalidating.ts';
import type { WorkerCore } from './worker-core.ts';

/** Free space that Varnish reports for a storage without a size. */
const UNLIMITED = 999_999_999_999_999;

/** A disk tier that could not be opened. */
const OFF = { freeSpace: 0, usedSpace: 0, happy: false };

export function makeHost(worker: WorkerCore): VclHost {
  return {
    param: (name) => worker.allParams.get(name as ParamName),
    now: () => worker.clock.now(),
    identity: worker.identity,
    hostname: hostname(),
    shared: worker.shared,
    get edge() {
      return worker.edge;
    },
    fleet: worker.fleet,
    get disk() {
      return worker.disk;
    },
    ban: (expression, ctx) => ban(worker, expression, false, ctx),
    softBan: (expression, ctx) => ban(worker, expression, true, ctx),
    purgeTags: (keys, soft, ctx) => {
      const count = purgeKeys(worker, keys, soft);
      if (ctx !== undefined) ctx.raise({ kind: 'tags', soft, subject: keys, count });
      return count;
    },
    purgeUrl: (url, soft, ctx) => purgeUrl(worker, url, soft, ctx),
    syslog: (priority, text) => worker.note(priority, text),
    count: (counter) => {
      worker.stats[counter]++;
    },
    stevedores: () => {
      const { behind } = worker.cache.storages;
      return [...worker.storages.keys(), ...(behind === null ? [] : [behind])];
    },
    storage: (name) => {
      if (name === worker.cache.storages.behind) return worker.disk?.space() ?? OFF;
      const now = worker.cache.storages.stats(name);
      if (now === null) return null;
      const limited = worker.cache.storages.size(name) > 0;
      const free = limited ? now.g_space : UNLIMITED - now.g_bytes;
      return { freeSpace: free, usedSpace: now.g_bytes, happy: true };
    },
  };
}

function ban(worker: WorkerCore, expression: string, soft: boolean, ctx?: VclContext): string | null {
  const client = (ctx?.req?.session ?? ctx?.bo?.session)?.clientIp;
  const by = client === undefined ? 'the program' : `the program, for the client ${client}`;
  const problem = addBan(worker, expression, soft, by);
  if (problem === null && ctx !== undefined)
    ctx.raise({ kind: 'ban', soft, subject: expression, count: null });
  return problem;
}

function purgeUrl(
  worker: WorkerCore,
  url: string,
  soft: boolean,
  ctx: VclContext,
): { purged: number; banned?: boolean } {
  const [, named, rest = '/'] = /^(?:https?:\/\/([^/?#]*))?([^#]*)/s.exec(url) ?? [];
  const host = (named ?? ctx.req?.http.get('host') ?? '').toLowerCase();
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  const plainHash = ctx.vcl.compiled.facts.vcl_hash?.builtinOnly === true;
  const count = purgePath(worker, host, path, soft ? STALE : null, plainHash);
  ctx.raise({ kind: 'purge', soft, subject: `${host}${path}`, count });
  return count === null ? { purged: 0, banned: true } : { purged: count };
}
