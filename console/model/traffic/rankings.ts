// Rankings of traffic, as a table, and the figures of one key. A ranking counts client requests, unless it is of
// fragments or backends: those count fragments and fetches. Tables are pruned: after a month they hold no more keys
// than after an hour.

import { isIPv6 } from 'node:net';
import { isMiss, isPass } from '../log/transaction.ts';
import type { TrafficFacts } from './traffic-facts.ts';

export interface RankingRow {
  /** As a word of a sentence: "by host". */
  title: string;
  of: TrafficFacts['kind'];
  /** '' is not ranked. */
  key(facts: TrafficFacts): string;
}

export const RANKINGS = {
  url: { title: 'URL', of: 'request', key: (f) => f.url },
  page: { title: 'host and path', of: 'request', key: (f) => (f.url === '' ? '' : f.host + pathOf(f.url)) },
  prefix: { title: 'path prefix', of: 'request', key: (f) => prefixOf(f.url) },
  host: { title: 'host', of: 'request', key: (f) => f.host },
  client: { title: 'client', of: 'request', key: (f) => f.client },
  network: { title: 'client network', of: 'request', key: (f) => networkOf(f.client) },
  forwarded: { title: 'X-Forwarded-For', of: 'request', key: (f) => f.forwarded },
  status: { title: 'status', of: 'request', key: (f) => (f.status === 0 ? '' : String(f.status)) },
  method: { title: 'method', of: 'request', key: (f) => f.method },
  agent: { title: 'agent', of: 'request', key: (f) => f.agent },
  backend: { title: 'backend, fetches', of: 'fetch', key: (f) => f.backend },
  fragment: { title: 'fragment, not requests', of: 'fragment', key: (f) => f.url },
} as const satisfies Record<string, RankingRow>;
export type RankingName = keyof typeof RANKINGS;
export const RANKING_NAMES = Object.keys(RANKINGS) as readonly RankingName[];

export interface Rank {
  key: string;
  /** Of the newest request, as sent. */
  url: string;
  host: string;
  /** Of the newest request, as looked up. */
  lookupUrl: string;
  lookupHost: string;
  /** Epoch seconds at which the oldest request ended; 0 when unknown. */
  since: number;
  requests: number;
  hits: number;
  misses: number;
  passes: number;
  errors: number;
  /** To the client. */
  bytes: number;
  /** Sum over the requests that have a time. */
  seconds: number;
}

/** Keys that a table keeps when it is pruned. */
const KEPT = 2000;

const UNCOUNTED: Rank = {
  key: '',
  url: '',
  host: '',
  lookupUrl: '',
  lookupHost: '',
  since: 0,
  requests: 0,
  hits: 0,
  misses: 0,
  passes: 0,
  errors: 0,
  bytes: 0,
  seconds: 0,
};

export class RankTable {
  private readonly ranking: RankingRow;
  private ranks = new Map<string, Rank>();

  constructor(ranking: RankingRow) {
    this.ranking = ranking;
  }

  count(f: TrafficFacts): void {
    if (f.kind !== this.ranking.of) return;
    const key = this.ranking.key(f);
    if (key === '') return;
    let rank = this.ranks.get(key);
    if (rank === undefined) {
      rank = { ...UNCOUNTED, key };
      this.ranks.set(key, rank);
      if (this.ranks.size > 2 * KEPT) this.prune();
    }
    rank.url = f.url;
    rank.host = f.host;
    rank.lookupUrl = f.lookupUrl;
    rank.lookupHost = f.lookupHost;
    rank.since = earliest(rank.since, f.ended);
    rank.requests++;
    if (f.handling === 'hit') rank.hits++;
    else if (isMiss(f.handling)) rank.misses++;
    else if (isPass(f.handling)) rank.passes++;
    if (f.status >= 500 || f.failed) rank.errors++;
    rank.bytes += f.bytes;
    if (f.seconds >= 0) rank.seconds += f.seconds;
  }

  all(): Rank[] {
    return [...this.ranks.values()];
  }

  clear(): void {
    this.ranks.clear();
  }

  /** Drops the less frequent half. */
  private prune(): void {
    this.ranks = new Map(highest(this.all(), 'requests', KEPT).map((rank) => [rank.key, rank]));
  }
}

/** A figure of a rank. */
export type RankFigure = Exclude<keyof Rank, 'key' | 'url' | 'host' | 'lookupUrl' | 'lookupHost' | 'since'>;

/** The highest by a figure, at most `limit`. */
export function highest(ranks: Rank[], by: RankFigure, limit: number): Rank[] {
  return ranks.sort((a, b) => b[by] - a[by] || (a.key < b.key ? -1 : 1)).slice(0, limit);
}

/** The earlier of two times; 0 is unknown. */
export function earliest(a: number, b: number): number {
  return a === 0 ? b : b === 0 ? a : Math.min(a, b);
}

export function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
}

/** The first segment of a path, `/img/`; `/` for files at the top. */
export function prefixOf(url: string): string {
  if (url === '') return '';
  return /^\/[^/]+\//.exec(pathOf(url))?.[0] ?? '/';
}

/** The /24 of an IPv4 address, the /64 of an IPv6 one; '' for anything else, such as a Unix domain socket. */
export function networkOf(address: string): string {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+)\.\d+$/i.exec(address);
  if (v4 !== null) return `${v4[1]}.0/24`;
  if (!isIPv6(address)) return '';
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
