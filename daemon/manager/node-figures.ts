// How this node of a fleet does, for its sign of life: what it runs, its rates over the last seconds, where it is found. Never
// a secret: what goes over the bus is read by all that it lets in.

import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { CounterInfo } from '../../protocol/messages.ts';
import type { NodeFigures } from '../fleet/node-messages.ts';
import type { ListenerAddress } from '../link.ts';

/** Milliseconds that rates are taken over. */
const WINDOW = 10_000;

/** A reading of all counters. */
export interface Counters {
  readonly info: readonly CounterInfo[];
  readonly values: readonly bigint[];
}

interface Sample {
  readonly at: number;
  readonly requests: number;
  readonly hits: number;
  readonly misses: number;
}

/** Rates from counters that are read now and then. */
export class TrafficRates {
  private samples: Sample[] = [];

  /** @param at milliseconds */
  take({ info, values }: Counters, at: number): void {
    const value = (name: string): number =>
      Number(values[info.findIndex((counter) => counter.name === name)] ?? 0n);
    const sample = {
      at,
      requests: value('MAIN.client_req'),
      hits: value('MAIN.cache_hit'),
      misses: value('MAIN.cache_miss'),
    };
    // A new worker begins again.
    if (sample.requests < (this.samples.at(-1)?.requests ?? 0)) this.samples = [];
    this.samples.push(sample);
    while ((this.samples[1]?.at ?? at) <= at - WINDOW) this.samples.shift();
  }

  get rates(): Pick<NodeFigures, 'requests' | 'hit_rate'> {
    const [first] = this.samples;
    const last = this.samples.at(-1);
    if (first === undefined || last === undefined || last.at <= first.at)
      return { requests: 0, hit_rate: null };
    const hits = last.hits - first.hits;
    const lookups = hits + last.misses - first.misses;
    return {
      requests: rounded(((last.requests - first.requests) * 1000) / (last.at - first.at), 10),
      hit_rate: lookups === 0 ? null : rounded(hits / lookups, 10_000),
    };
  }
}

/** Threads of the worker; 0 without one. */
export function threadsIn({ info }: Counters): number {
  return info.filter(({ name }) => /^THR\.\d+\.requests$/.test(name)).length;
}

function rounded(value: number, to: number): number {
  return Math.round(value * to) / to;
}

const ANY = new Set(['', '0.0.0.0', '::', '*']);

/** A name or an address that other machines may reach this one by. @param seen as the bus sees it */
export function ownAddress(seen: string | null): string {
  const local = seen === null || seen.startsWith('127.') || seen === '::1';
  return local ? hostname() : seen;
}

/** A listener that takes what comes from anywhere is at the machine's address. */
export function reachedAt(host: string, port: number, address: string): string {
  const at = ANY.has(host) ? address : host;
  return isIP(at) === 6 ? `[${at}]:${port}` : `${at}:${port}`;
}

/** Listeners for traffic as text. */
export function listening(listeners: readonly ListenerAddress[], address: string): string[] {
  return listeners
    .slice(0, MOST_LISTENERS)
    .map(({ address: host, port, path }) =>
      path === undefined || path === '' ? reachedAt(host, port, address) : path,
    );
}

/** As many as a sign of life names. */
const MOST_LISTENERS = 8;
