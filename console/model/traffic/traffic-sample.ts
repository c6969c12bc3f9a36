// Facts from a bounded sample of the traffic: rankings, latencies, tags, and which share of all requests the sample is. The
// daemon sends at most a few hundred requests a second with the records that matter, however busy it is; every map here is
// pruned, so that a console left open for a month holds no more than after an hour.

import type { LogTransaction } from '../../../protocol/messages.ts';
import { LONGEST_BY_DEFAULT } from '../log/looked-up.ts';
import { splitGroups } from '../log/request-group.ts';
import { isPass, summarise } from '../log/transaction.ts';
import { type BackendTraffic, backendTraffic, TRAFFIC_SECONDS } from './backend-traffic.ts';
import { FactTrail } from './fact-trail.ts';
import {
  LatencyMeter,
  LatencySpan,
  type LatencyTrail,
  latencyTrail,
  type Quantity,
} from './latency-meter.ts';
import {
  highest,
  RANKING_NAMES,
  RANKINGS,
  type Rank,
  type RankFigure,
  type RankingName,
  RankTable,
} from './rankings.ts';
import { RecentFacts } from './recent-facts.ts';
import { readTraffic, type TrafficFacts } from './traffic-facts.ts';
import { type Unserved, UnservedRequests } from './unserved.ts';
import { UrlTrail } from './url-trail.ts';

export interface SeenTag {
  fetches: number;
  header: string;
  url: string;
}

/** Seconds that a ranking covers; null is all since the last reset. */
export type Window = number | null;

export interface Ranked {
  ranks: Rank[];
  /** Facts of the ranking's kind in the window, and client requests. */
  total: number;
  requests: number;
  /** Epoch seconds from which on it counts, 0 before the first; and the seconds since. */
  since: number;
  seconds: number;
}

type Counts = Record<TrafficFacts['kind'], number>;

const KEPT_TAGS = 500;
/** Backends whose address is kept. */
const KEPT_ADDRESSES = 500;
const NONE: Counts = { request: 0, fragment: 0, fetch: 0 };

/** A ranking at one time. */
interface Made {
  at: number;
  ranks: Rank[];
  counts: Counts;
}

/** A run of older groups: the facts whose order matters. */
export class EarlierTraffic {
  readonly unserved = new UnservedRequests();
  readonly recent = new RecentFacts();
  /** Epoch seconds of its first group; 0 without any. */
  since = 0;
}

export class TrafficSample {
  readonly tags = new Map<string, SeenTag>();
  readonly latency = new LatencyMeter();
  private readonly addresses = new Map<string, string>();
  readonly unserved = new UnservedRequests();
  readonly urls = new UrlTrail();
  readonly facts = new FactTrail();
  private readonly tables = new Map(RANKING_NAMES.map((name) => [name, new RankTable(RANKINGS[name])]));
  private readonly recent = new RecentFacts();
  private counts: Counts = { ...NONE };
  /** Made of the last minutes in this second, by name and window: views are drawn more often. */
  private readonly rankings = new OfSecond<Made>();
  private readonly backends = new OfSecond<ReadonlyMap<string, BackendTraffic>>();
  private readonly latencies = new OfSecond<LatencySpan>();
  /** The last latencies over time; made once a second. */
  private trail: { key: string; of: LatencyTrail } = { key: '', of: { p50: [], p99: [] } };
  /** Epoch seconds from which on latencies count; 0: all. */
  private latencyFrom = 0;
  /** Epoch seconds from which on rankings count; 0 before the first. */
  since = 0;
  /** Bytes at which a record's text may have been cut. */
  longestRecord = LONGEST_BY_DEFAULT;
  /** Incremented with every batch. */
  version = 0;

  /** Client requests in the sample. */
  get requests(): number {
    return this.counts.request;
  }

  /** `now`: epoch seconds of their arrival. */
  add(transactions: readonly LogTransaction[], now: number): void {
    if (this.since === 0) this.since = now;
    // The clock was set back to before the beginning: it counts from now on.
    if (now < this.since) this.clearRanks(now);
    for (const group of splitGroups(transactions)) {
      for (const facts of readTraffic(group, this.longestRecord)) {
        if (facts.kind === 'request') this.unserved.add(group, facts, now);
        this.take(facts, now);
        this.recent.add(facts, now);
      }
    }
    this.version++;
  }

  /** Adds groups older than all so far; prepend() completes the part. */
  addEarlier(part: EarlierTraffic, transactions: readonly LogTransaction[]): void {
    for (const group of splitGroups(transactions)) {
      const { at } = summarise(group[0] as LogTransaction);
      if (part.since === 0 || at < part.since) part.since = at;
      for (const facts of readTraffic(group, this.longestRecord)) {
        this.take(facts, at, true);
        part.recent.add(facts, at);
        if (facts.kind === 'request') part.unserved.add(group, facts, at);
      }
    }
    this.version++;
  }

  /** The part is complete. */
  prepend(part: EarlierTraffic): void {
    if (part.since === 0) return;
    this.trail.key = '';
    this.unserved.prepend(part.unserved);
    this.recent.prepend(part.recent);
    if (this.since === 0 || part.since < this.since) this.since = part.since;
    this.forgetSecond();
    this.version++;
  }

  /** Misses and passes of the last `window` seconds before `now`, or all that are kept, the oldest first; the client
   * requests in that time, and its beginning in epoch seconds, 0 before the first. */
  unservedOver(window: Window, now: number): { list: readonly Unserved[]; requests: number; since: number } {
    const all = this.unserved.last().filter((one) => one.counts);
    const first = this.unserved.isCut ? (this.unserved.last()[0]?.at ?? 0) : this.since;
    if (window === null) return { list: all, requests: this.unserved.requests, since: first };
    const since = Math.floor(Math.max(first, this.recent.since, now - window));
    return {
      list: all.filter((one) => one.at >= since),
      requests: this.recent.requestsFrom(since),
      since: this.since === 0 ? 0 : since,
    };
  }

  /** The highest by a figure, at most `limit`, since the last reset. */
  top(ranking: RankingName, by: RankFigure, limit: number): Rank[] {
    return highest(this.all(ranking), by, limit);
  }

  all(ranking: RankingName): Rank[] {
    return this.tables.get(ranking)?.all() ?? [];
  }

  /** Address of the last connection to a backend; '' without one. */
  addressOf(backend: string): string {
    return this.addresses.get(backend) ?? '';
  }

  /** A ranking over a window that ends at `now`, the highest of the figure first. */
  ranked(
    ranking: RankingName,
    window: Window,
    now: number,
    limit: number,
    by: RankFigure = 'requests',
  ): Ranked {
    const { ranks, counts, at } =
      window === null ? this.whole(ranking, now) : this.over(ranking, window, now);
    // Facts are kept by whole seconds.
    const from =
      window === null ? this.since : Math.max(this.since, this.recent.since, Math.floor(now) - window);
    return {
      ranks: highest(ranks, by, limit),
      total: counts[RANKINGS[ranking].of],
      requests: counts.request,
      since: this.since === 0 ? 0 : from,
      seconds: this.since === 0 ? 0 : at - from,
    };
  }

  /** By backend, without its program: how it answered in the last seconds before `now`. */
  backendTraffic(now: number, seconds = TRAFFIC_SECONDS): ReadonlyMap<string, BackendTraffic> {
    return this.backends.get(now, String(seconds), () => backendTraffic(this.recent, now, seconds));
  }

  /** Latencies of the last `window` seconds before `now`; null: of the last requests. */
  latencyOver(window: Window, now: number): LatencyMeter | LatencySpan {
    if (window === null) return this.latency;
    const make = (): LatencySpan => new LatencySpan(this.recent, window, now, this.latencyFrom);
    return this.latencies.get(now, `${window} ${this.latencyFrom}`, make);
  }

  /** Latencies over the last `seconds` before `now`. */
  latencyTrail(now: number, seconds: number, slices: number, quantity: Quantity): LatencyTrail {
    const key = `${Math.floor(now)} ${seconds} ${slices} ${quantity} ${this.latencyFrom}`;
    if (this.trail.key !== key) {
      const from = this.latencyFrom;
      this.trail = { key, of: latencyTrail(this.recent, { now, seconds, slices, from, quantity }) };
    }
    return this.trail.of;
  }

  clearLatency(now: number): void {
    this.latency.clear();
    this.latencyFrom = now;
  }

  /** Epoch seconds from which on backendTraffic() has all of the sample; 0 before the first. */
  trafficSince(now: number): number {
    return this.since === 0 ? 0 : Math.max(this.since, this.recent.since, now - TRAFFIC_SECONDS);
  }

  clearRanks(now: number): void {
    for (const table of this.tables.values()) table.clear();
    this.recent.clear();
    this.unserved.clear();
    this.counts = { ...NONE };
    this.forgetSecond();
    this.since = now;
    this.version++;
  }

  private forgetSecond(): void {
    this.rankings.clear();
    this.backends.clear();
    this.latencies.clear();
  }

  private whole(ranking: RankingName, now: number): Made {
    return { at: now, ranks: this.all(ranking), counts: this.counts };
  }

  private over(ranking: RankingName, window: number, now: number): Made {
    return this.rankings.get(now, `${ranking} ${window}`, () => {
      const table = new RankTable(RANKINGS[ranking]);
      const counts = { ...NONE };
      this.recent.each(window, now, (facts) => {
        counts[facts.kind]++;
        table.count(facts);
      });
      return { at: now, ranks: table.all(), counts };
    });
  }

  private take(f: TrafficFacts, at: number, earlier = false): void {
    this.counts[f.kind]++;
    this.facts.count(f, at);
    for (const table of this.tables.values()) table.count(f);
    if (f.kind === 'fetch') {
      this.seeTags(f);
      this.seeAddress(f);
    }
    // No client waits for a fragment alone.
    if (f.kind !== 'request') return;
    // One of the history arrived when it ended.
    this.latency.add(f.seconds, f.handling === 'hit', earlier ? f.ended || at : at, earlier);
    if (f.lookupUrl !== '') this.urls.count(f, at);
  }

  private seeAddress({ backend, address }: TrafficFacts): void {
    if (address !== '' && (this.addresses.size < KEPT_ADDRESSES || this.addresses.has(backend)))
      this.addresses.set(backend, address);
  }

  /** A passed response is not stored: no object carries its tags. */
  private seeTags(f: TrafficFacts): void {
    if (isPass(f.handling)) return;
    for (const { tag, header } of f.tags) {
      const seen = this.tags.get(tag);
      if (seen !== undefined) {
        seen.fetches++;
        seen.url = f.url;
      } else if (this.tags.size < KEPT_TAGS) this.tags.set(tag, { fetches: 1, header, url: f.url });
    }
  }
}

/** Values made once a second, by name. */
class OfSecond<T> {
  private second = 0;
  private readonly values = new Map<string, T>();

  get(now: number, name: string, make: () => T): T {
    const second = Math.floor(now);
    if (second !== this.second) this.values.clear();
    this.second = second;
    const known = this.values.get(name);
    if (known !== undefined) return known;
    const made = make();
    this.values.set(name, made);
    return made;
  }

  clear(): void {
    this.values.clear();
  }
}

export class SampleShare {
  /** Requests that the sample is a part of; null before the first counters. */
  private of: number | null = null;

  /** 0..1 for a sample of this many requests; 1 before any. */
  share(sampled: number): number {
    return this.of === null || this.of === 0 ? 1 : Math.min(1, sampled / this.of);
  }

  /** Called at the first counters, with the requests of the sample. */
  begin(sampled: number): void {
    this.of ??= sampled;
  }

  /** More requests: counted since begin(), or read from the past. */
  add(requests: number): void {
    if (this.of !== null) this.of += requests;
  }

  /** The sample is empty again. */
  clear(): void {
    if (this.of !== null) this.of = 0;
  }
}
