// Facts from a bounded sample of the traffic: rankings, latencies, tags. The daemon sends at most a few hundred
// requests a second with the records that matter, however busy it is; every map here is pruned, so that a console
// left open for a month holds no more than after an hour.

import type { LogTransaction } from '../../protocol/messages.ts';
import { LatencyMeter } from './latency-meter.ts';
import { readTraffic, type TrafficFacts } from './traffic-facts.ts';

export const RANKINGS = ['url', 'host', 'client', 'status', 'method', 'backend', 'agent'] as const;
export type RankingName = (typeof RANKINGS)[number];

export interface Rank {
  key: string;
  requests: number;
  hits: number;
  misses: number;
  errors: number;
  /** To the client. */
  bytes: number;
  /** Summed, of those that have a time. */
  seconds: number;
}

export interface SeenTag {
  fetches: number;
  header: string;
  url: string;
}

const KEPT = 2000;
const KEPT_TAGS = 500;

export class TrafficSample {
  readonly tags = new Map<string, SeenTag>();
  readonly latency = new LatencyMeter();
  private readonly ranks = new Map<RankingName, Map<string, Rank>>(RANKINGS.map((name) => [name, new Map()]));
  /** Requests of clients in the sample so far. */
  requests = 0;
  /** Raised with every batch. */
  version = 0;

  /** @param earlier they lie before all that came so far */
  add(transactions: readonly LogTransaction[], earlier = false): void {
    for (const tx of transactions) {
      if (tx.type !== 'request' && tx.type !== 'bereq') continue;
      const facts = readTraffic(tx);
      if (tx.type === 'bereq') this.addFetch(facts);
      else if (tx.reason === 'esi') this.addFragment(facts);
      else this.addRequest(facts, earlier);
    }
    this.version++;
  }

  /** The highest by a figure, at most `limit`. */
  top(ranking: RankingName, by: Exclude<keyof Rank, 'key'>, limit: number): Rank[] {
    const all = [...(this.ranks.get(ranking) as Map<string, Rank>).values()];
    return all.sort((a, b) => b[by] - a[by] || (a.key < b.key ? -1 : 1)).slice(0, limit);
  }

  all(ranking: RankingName): readonly Rank[] {
    return [...(this.ranks.get(ranking) as Map<string, Rank>).values()];
  }

  clearRanks(): void {
    for (const map of this.ranks.values()) map.clear();
    this.requests = 0;
    this.version++;
  }

  /** Of a fragment of a page only what it asks for: no client sent it, and none waits for it alone. */
  private addFragment(f: TrafficFacts): void {
    if (f.url !== '') this.count('url', f.url, f, isMiss(f));
    if (f.host !== '') this.count('host', f.host, f, isMiss(f));
  }

  private addRequest(f: TrafficFacts, earlier: boolean): void {
    this.requests++;
    const miss = isMiss(f);
    this.latency.add(f.seconds, f.handling === 'hit', earlier);
    for (const [name, key] of [
      ['url', f.url],
      ['host', f.host],
      ['client', f.client],
      ['status', f.status === 0 ? '' : String(f.status)],
      ['method', f.method],
      ['agent', f.agent],
    ] as const) {
      if (key !== '') this.count(name, key, f, miss);
    }
  }

  private addFetch(f: TrafficFacts): void {
    if (f.backend !== '') this.count('backend', f.backend, f, true);
    for (const tag of f.tags) {
      const seen = this.tags.get(tag);
      if (seen !== undefined) {
        seen.fetches++;
        seen.url = f.url;
      } else if (this.tags.size < KEPT_TAGS)
        this.tags.set(tag, { fetches: 1, header: f.tagHeader, url: f.url });
    }
  }

  private count(name: RankingName, key: string, f: TrafficFacts, miss: boolean): void {
    const map = this.ranks.get(name) as Map<string, Rank>;
    let rank = map.get(key);
    if (rank === undefined) {
      rank = { key, requests: 0, hits: 0, misses: 0, errors: 0, bytes: 0, seconds: 0 };
      map.set(key, rank);
      if (map.size > 2 * KEPT) prune(map);
    }
    rank.requests++;
    if (f.handling === 'hit') rank.hits++;
    else if (miss) rank.misses++;
    if (f.status >= 500 || f.failed) rank.errors++;
    rank.bytes += f.bytes;
    if (f.seconds >= 0) rank.seconds += f.seconds;
  }
}

/** Drops the half that was seen least. */
function isMiss({ handling }: TrafficFacts): boolean {
  return handling !== 'hit' && handling !== 'synth' && handling !== 'purge' && handling !== '';
}

function prune(map: Map<string, Rank>): void {
  const order = [...map.values()].sort((a, b) => b.requests - a.requests);
  for (const rank of order.slice(KEPT)) map.delete(rank.key);
}
