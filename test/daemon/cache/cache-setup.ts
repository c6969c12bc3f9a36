// A cache with a clock of its own, and short ways to make objects and ask for them.

import {
  Cache,
  type CacheLimits,
  FLAG,
  Lookup,
  LookupQuery,
  LookupResult,
  type Oc,
} from '../../../daemon/cache/cache.ts';
import { NO_EVENTS } from '../../../daemon/cache/cache-options.ts';
import { type CacheCounters, newCacheCounters } from '../../../daemon/cache/counters.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import type { StorageSpec } from '../../../daemon/link.ts';

export const T0 = 1_700_000_000;

export function request(url: string, fields: Record<string, string> = {}): HttpMessage {
  const msg = new HttpMessage(0);
  msg.url = url;
  for (const [name, value] of Object.entries(fields)) msg.push(name.toLowerCase(), `${name}: ${value}`);
  return msg;
}

export function response(fields: Record<string, string> = {}): HttpMessage {
  const msg = request('', fields);
  msg.proto = 'HTTP/1.1';
  msg.status = 200;
  msg.reason = 'OK';
  return msg;
}

export interface Life {
  ttl?: number;
  grace?: number;
  keep?: number;
  flags?: number;
  vary?: string;
  length?: boolean;
  storage?: string;
}

export class Bench {
  now = T0;
  readonly counters: CacheCounters = newCacheCounters();
  readonly limits: CacheLimits = {
    nukeLimit: 50,
    rushExponent: 3,
    lruInterval: 0,
    gzipSupport: true,
    normaliseVary: false,
    banDups: true,
  };
  readonly killed: string[] = [];
  /** The steady clock's milliseconds; each reading moves it on by `tick`. */
  millis = 0;
  tick = 0;
  readonly cache: Cache;
  private readonly deferred: (() => void)[] = [];

  constructor(storages: StorageSpec[] = [{ name: 's0', kind: 'malloc', size: 16 << 20 }]) {
    this.cache = new Cache({
      storages,
      counters: this.counters,
      limits: this.limits,
      compileRegex: (pattern) => new RegExp(pattern),
      now: this.now,
      seed: [1, 2],
      defer: (run) => this.deferred.push(run),
      millis: () => {
        this.millis += this.tick;
        return this.millis;
      },
      events: {
        ...NO_EVENTS,
        wanted: () => true,
        evicted: (oc) => void this.killed.push(`LRU ${this.cache.vxidOf(oc)}`),
        expired: (oc) => void this.killed.push(`EXP ${this.cache.vxidOf(oc)}`),
        banned: (oc) => void this.killed.push(`BAN ${this.cache.vxidOf(oc)}`),
      },
    });
  }

  /** Runs what was deferred until nothing is left. */
  settle(): void {
    for (let run = this.deferred.shift(); run !== undefined; run = this.deferred.shift()) run();
  }

  query(url: string, fields: Record<string, string> = {}, more: Partial<LookupQuery> = {}): LookupQuery {
    const q = new LookupQuery(request(url, fields));
    q.key = url;
    q.now = this.now;
    return Object.assign(q, more);
  }

  lookup(
    url: string,
    fields: Record<string, string> = {},
    more: Partial<LookupQuery> = {},
  ): [Lookup, LookupResult] {
    const out = new LookupResult();
    return [this.cache.lookup(this.query(url, fields, more), out), out];
  }

  /** Name of a lookup's answer, everything it gave released again. */
  ask(url: string, fields: Record<string, string> = {}, more: Partial<LookupQuery> = {}): string {
    const [answer, out] = this.lookup(url, fields, more);
    for (const oc of [out.oc, out.busy, out.stale]) if (oc !== 0) this.cache.deref(oc);
    return Object.entries(Lookup).find(([, value]) => value === answer)?.[0] as string;
  }

  /** Gives a busy object attributes and a head. */
  prepare(
    oc: Oc,
    vxid: number,
    body: Buffer | string,
    life: Life,
    fields: Record<string, string> = {},
  ): boolean {
    const head: Record<string, string> = { Date: 'now' };
    if (life.length !== false) head['Content-Length'] = String(body.length);
    if (life.vary !== undefined) head.Vary = life.vary;
    this.cache.setAttributes(oc, {
      tOrigin: this.now,
      ttl: life.ttl ?? 100,
      grace: life.grace ?? 10,
      keep: life.keep ?? 0,
      vxid,
      flags: life.flags ?? 0,
    });
    const vary = life.vary === undefined ? null : this.cache.varyKey(life.vary, request('', fields));
    return this.cache.storeHead(oc, life.storage ?? null, response(head), vary);
  }

  /** Fetches into a busy object from beginning to end; false when storage gave out. */
  fetch(
    oc: Oc,
    vxid: number,
    body: Buffer | string,
    life: Life = {},
    fields: Record<string, string> = {},
  ): boolean {
    const bytes = Buffer.from(body);
    const ok = this.prepare(oc, vxid, bytes, life, fields) && this.cache.append(oc, bytes, 0, bytes.length);
    if (ok) {
      this.cache.unbusy(oc);
      this.cache.finish(oc);
    } else {
      this.cache.fail(oc);
    }
    this.cache.deref(oc);
    return ok;
  }

  /** A miss and its fetch; false when storage gave out. */
  put(
    url: string,
    vxid: number,
    body: Buffer | string,
    life: Life = {},
    fields: Record<string, string> = {},
  ): boolean {
    const [answer, out] = this.lookup(url, fields, { hashAlwaysMiss: true });
    if (answer !== Lookup.MISS) throw new Error(`lookup answered ${answer}`);
    return this.fetch(out.busy, vxid, body, life, fields);
  }

  body(oc: Oc): Buffer {
    const to = Buffer.alloc(this.cache.bodyLength(oc));
    const copied = this.cache.copyBody(oc, 0, to, 0, to.length);
    return to.subarray(0, copied);
  }
}

export { FLAG, Lookup };
