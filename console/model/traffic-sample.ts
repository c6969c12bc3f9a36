// Facts from a bounded sample of the traffic: rankings, latencies, tags. The daemon sends at most a few hundred
// requests a second with the records that matter, however busy it is; every map here is pruned, so that a console
// left open for a month holds no more than after an hour.

import type { LogTransaction } from '../../protocol/messages.ts';
import { LatencyMeter } from './latency-meter.ts';
import { splitGroups } from './request-group.ts';
import { readTraffic, type TrafficFacts } from './traffic-facts.ts';
import { isMiss, isPass } from './transaction.ts';

export const RANKINGS = [
  'url',
  'host',
  'client',
  'status',
  'method',
  'backend',
  'agent',
  'fragment',
] as const;
export type RankingName = (typeof RANKINGS)[number];

export interface Rank {
  key: string;
  requests: number;
  hits: number;
  misses: number;
  passes: number;
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
  /** Epoch seconds from which on rankings count; 0 before the first. */
  since = 0;
  /** Raised with every batch. */
  version = 0;

  /** `now`: epoch seconds at which they came. */
  add(transactions: readonly LogTransaction[], now: number): void {
    if (this.since === 0) this.since = now;
    for (const group of splitGroups(transactions))
      for (const facts of readTraffic(group)) this.take(facts, now);
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

  clearRanks(now: number): void {
    this.since = now;
    for (const map of this.ranks.values()) map.clear();
    this.requests = 0;
    this.version++;
  }

  private take(f: TrafficFacts, now: number): void {
    switch (f.kind) {
      case 'fragment':
        // No client sent it, and none waits for it alone.
        this.count('fragment', f.url, f);
        break;
      case 'fetch':
        this.count('backend', f.backend, f);
        this.seeTags(f);
        break;
      case 'request':
        this.requests++;
        this.latency.add(f.seconds, f.handling === 'hit', now);
        this.count('url', f.url, f);
        this.count('host', f.host, f);
        this.count('client', f.client, f);
        this.count('status', f.status === 0 ? '' : String(f.status), f);
        this.count('method', f.method, f);
        this.count('agent', f.agent, f);
    }
  }

  /** What is passed is not kept: no object carries its tags. */
  private seeTags(f: TrafficFacts): void {
    if (isPass(f.handling)) return;
    for (const tag of f.tags) {
      const seen = this.tags.get(tag);
      if (seen !== undefined) {
        seen.fetches++;
        seen.url = f.url;
      } else if (this.tags.size < KEPT_TAGS)
        this.tags.set(tag, { fetches: 1, header: f.tagHeader, url: f.url });
    }
  }

  private count(name: RankingName, key: string, f: TrafficFacts): void {
    if (key === '') return;
    const map = this.ranks.get(name) as Map<string, Rank>;
    let rank = map.get(key);
    if (rank === undefined) {
      rank = { key, requests: 0, hits: 0, misses: 0, passes: 0, errors: 0, bytes: 0, seconds: 0 };
      map.set(key, rank);
      if (map.size > 2 * KEPT) prune(map);
    }
    rank.requests++;
    if (f.handling === 'hit') rank.hits++;
    else if (isMiss(f.handling)) rank.misses++;
    else if (isPass(f.handling)) rank.passes++;
    if (f.status >= 500 || f.failed) rank.errors++;
    rank.bytes += f.bytes;
    if (f.seconds >= 0) rank.seconds += f.seconds;
  }
}

/** Drops the half that was seen least. */
function prune(map: Map<string, Rank>): void {
  const order = [...map.values()].sort((a, b) => b.requests - a.requests);
  for (const rank of order.slice(KEPT)) map.delete(rank.key);
}
