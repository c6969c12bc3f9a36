// A cache with a clock of its own, and short ways to make objects and ask for them.

import { Cache } from '../../../daemon/cache/cache.ts';
import { type CacheCounters, newCacheCounters } from '../../../daemon/cache/cache-counters.ts';
import {
  type CacheLimits,
  CacheState,
  type LurkerLimits,
  NO_EVENTS,
  type ObjectEvents,
} from '../../../daemon/cache/cache-state.ts';
import { LookupAnswer, LookupQuery, LookupResult } from '../../../daemon/cache/lookup-query.ts';
import type { Oc } from '../../../daemon/cache/objcore.ts';
import { varyKey } from '../../../daemon/cache/vary.ts';
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

/** A state by itself, for the parts that need no more. */
export function bareState(events: Partial<ObjectEvents> = {}): CacheState {
  return new CacheState({
    storages: [{ name: 's0', kind: 'malloc', size: 1 << 20 }],
    counters: newCacheCounters(),
    limits: defaultLimits(),
    compileRegex: (pattern) => new RegExp(pattern),
    now: T0,
    seed: [1, 2],
    events: { ...NO_EVENTS, ...events },
  });
}

export function defaultLimits(): CacheLimits {
  return {
    nukeLimit: 50,
    rushExponent: 3,
    lruInterval: 0,
    gzipSupport: true,
    normaliseVary: false,
    banDups: true,
    banAnyVariant: 10_000,
    tagHeaders: ['xkey', 'x-hashtwo'],
    tagSpace: 0,
    lurker: { age: 0, batch: 3, sleep: 0.01, cutoff: 0, holdoff: 0.03 },
  };
}

export interface Life {
  /** More headers of the response. */
  head?: Record<string, string>;
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
  readonly counters: CacheCounters;
  readonly limits = defaultLimits();
  readonly killed: string[] = [];
  /** Times maintenance asked to be called early. */
  wakes = 0;
  /** Transactions so far. */
  transactions = 0;
  /** The steady clock's milliseconds; each reading moves it on by `tick`. */
  millis = 0;
  tick = 0;
  readonly cache: Cache;
  private readonly deferred: (() => void)[] = [];

  constructor(
    storages: StorageSpec[] = [{ name: 's0', kind: 'malloc', size: 16 << 20 }],
    counters: CacheCounters = newCacheCounters(),
  ) {
    this.counters = counters;
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
      transactions: () => this.transactions,
      wake: () => {
        this.wakes++;
        this.deferred.push(() => this.maintain());
      },
      events: {
        ...NO_EVENTS,
        wanted: () => true,
        evicted: (oc) => void this.killed.push(`LRU ${this.cache.facts.vxidOf(oc)}`),
        expired: (oc) => void this.killed.push(`EXP ${this.cache.facts.vxidOf(oc)}`),
        purged: (oc) => void this.killed.push(`EXP ${this.cache.facts.vxidOf(oc)}`),
        banned: (oc) => void this.killed.push(`BAN ${this.cache.facts.vxidOf(oc)}`),
      },
    });
  }

  /** Runs what was deferred until nothing is left, maintenance that was woken among it. */
  settle(): void {
    for (let run = this.deferred.shift(); run !== undefined; run = this.deferred.shift()) run();
  }

  /** Runs what was deferred until now: the next turn of the event loop. False when nothing was. */
  turn(): boolean {
    const due = this.deferred.splice(0);
    for (const run of due) run();
    return due.length > 0;
  }

  /** Lets the lurker work for a moment; returns its pause in seconds. */
  lurk(limits: LurkerLimits): number {
    this.limits.lurker = limits;
    return this.cache.maintenance.lurker.step(this.now);
  }

  /** Does maintenance until it wants to rest; returns how often it was called. */
  maintain(): number {
    for (let calls = 1; calls < 10_000; calls++) if (this.cache.maintenance.step(this.now) > 0) return calls;
    throw new Error('maintenance does not come to rest');
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
  ): [LookupAnswer, LookupResult] {
    const out = new LookupResult();
    return [this.cache.lookup.find(this.query(url, fields, more), out), out];
  }

  /** Name of a lookup's answer, everything it gave released again. */
  ask(url: string, fields: Record<string, string> = {}, more: Partial<LookupQuery> = {}): string {
    const [answer, out] = this.lookup(url, fields, more);
    for (const oc of [out.oc, out.busy, out.stale]) if (oc !== 0) this.cache.references.deref(oc);
    return Object.entries(LookupAnswer).find(([, value]) => value === answer)?.[0] as string;
  }

  /** Gives a busy object attributes and a head. */
  prepare(
    oc: Oc,
    vxid: number,
    body: Buffer | string,
    life: Life,
    fields: Record<string, string> = {},
  ): boolean {
    const head: Record<string, string> = { Date: 'now', ...life.head };
    if (life.length !== false) head['Content-Length'] = String(body.length);
    if (life.vary !== undefined) head.Vary = life.vary;
    this.cache.filling.setAttributes(oc, {
      tOrigin: this.now,
      ttl: life.ttl ?? 100,
      grace: life.grace ?? 10,
      keep: life.keep ?? 0,
      vxid,
      flags: life.flags ?? 0,
    });
    const vary = life.vary === undefined ? null : varyKey(life.vary, request('', fields));
    return this.cache.filling.storeHead(oc, life.storage ?? null, response(head), vary);
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
    const ok =
      this.prepare(oc, vxid, bytes, life, fields) && this.cache.filling.append(oc, bytes, 0, bytes.length);
    if (ok) {
      this.cache.filling.unbusy(oc);
      this.cache.filling.finish(oc);
    } else {
      this.cache.filling.fail(oc);
    }
    this.cache.references.deref(oc);
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
    if (answer !== LookupAnswer.MISS) throw new Error(`lookup answered ${answer}`);
    return this.fetch(out.busy, vxid, body, life, fields);
  }

  body(oc: Oc): Buffer {
    const to = Buffer.alloc(this.cache.reading.bodyLength(oc));
    const copied = this.cache.reading.copyBody(oc, 0, to, 0, to.length);
    return to.subarray(0, copied);
  }
}
