// The last sampled requests that were no hits, whole, so that the reason can be found: a verdict is made of a request, the
// earlier requests for its URL and the purges in between, and is kept with it. Purges and bans are kept among them for that,
// and of hits only when each URL had one. Bounded: the oldest go first.

import type { LogTransaction } from '../../../protocol/messages.ts';
import { withoutFragments } from '../log/request-group.ts';
import { isMiss, isPass } from '../log/transaction.ts';
import type { TrafficFacts } from './traffic-facts.ts';

export interface Verdict {
  /** Requests with the same cause are one row. */
  cause: string;
  /** Distinguishes it within its cause's text: a header's name, why a response is not stored; '' for nothing. */
  detail: string;
  sentence: string;
}

export interface Unserved {
  /** Epoch seconds of its arrival. */
  at: number;
  /** Epoch seconds, by the daemon's clock, of its end; 0 when unknown. */
  ended: number;
  /** As looked up: two requests for one object have one URL, whatever clients call it. */
  host: string;
  url: string;
  /** As the client sent it. */
  sent: { url: string; host: string };
  group: readonly LogTransaction[];
  /** Client requests before it, all that were seen. */
  before: number;
  /** A miss or a pass; false for a request that is kept because it may have purged. */
  counts: boolean;
  verdict: Verdict | null;
}

/** Input of a verdict. */
export interface Evidence {
  /** Groups of the URL before it, the newest first. */
  earlier: readonly Unserved[];
  /** Requests that purged or banned before it. */
  purges: readonly Unserved[];
  /** Kept requests before it with another query string, or another host. */
  beside: readonly Unserved[];
  /** Whether the URL was a hit before. */
  hit: boolean;
  /** A recent hit with another query string, or under another host. */
  hitBeside: { host: string; url: string } | null;
}

export type Judge = (request: Unserved, evidence: Evidence) => Verdict;

const KEPT = 2000;
/** Bytes of records that they may have (chosen). */
const MOST_BYTES = 24 << 20;
/** Requests that a verdict reads: for its URL, and beside it (chosen). */
const EARLIER = 4;
const BESIDE = 8;
const LOOKED_AT = 2000;

export class UnservedRequests {
  private all: Unserved[] = [];
  private bytes = 0;
  /** Those without a verdict, or whose verdict more of the past may change; the newest last. */
  private waiting: Unserved[] = [];
  /** By path, and those that may have purged; the oldest first. */
  private byPath = new Map<string, Unserved[]>();
  private purges: Unserved[] = [];
  private readonly hits = new HitMarks();
  /** Client requests so far, and those of them before the kept ones. */
  private seen = 0;
  private dropped = 0;

  /** Client requests in the time of those that are kept. */
  get requests(): number {
    return this.seen - this.dropped;
  }

  /** Whether older ones were dropped. */
  get isCut(): boolean {
    return this.dropped > 0;
  }

  /** Called for each client request, hits too. */
  add(group: readonly LogTransaction[], f: TrafficFacts, now: number): void {
    const before = this.seen++;
    if (f.handling === 'hit') {
      this.hits.add(f.lookupHost, f.lookupUrl, now);
      return;
    }
    const counts = isMiss(f.handling) || isPass(f.handling) || f.handling === 'pipe';
    // Other synthetic answers are kept where they may have purged.
    if (!counts && /^(GET|HEAD|POST)$/.test(f.method)) return;
    // Copied out of the frame.
    const own = withoutFragments(group).map((tx) => ({ ...tx, records: new Uint8Array(tx.records) }));
    const { lookupHost: host, lookupUrl: url, ended } = f;
    const sent = { url: f.url, host: f.host };
    const one = { at: now, ended, host, url, sent, group: own, before, counts, verdict: null };
    this.all.push(one);
    this.index(one);
    if (counts) this.waiting.push(one);
    this.bytes += bytesOf(own);
    // By half, which is cheap.
    if (this.all.length > 2 * KEPT || this.bytes > MOST_BYTES) this.halve();
  }

  /** Prepends a collection that is older than all here. Verdicts stay; those on a path of which the older ones know
   * something are made again, after those that have none. */
  prepend(part: UnservedRequests): void {
    this.seen += part.seen;
    for (const one of this.all) one.before += part.seen;
    // Between the two is a hole where the oldest here were dropped.
    if (this.dropped > 0) {
      this.dropped += part.seen;
      return;
    }
    this.dropped = part.dropped;
    const again: Unserved[] = [];
    for (const one of this.all) if (one.verdict !== null && part.knows(pathOf(one.url))) again.push(one);
    const fresh = [...part.waiting, ...this.waiting.filter((one) => one.verdict === null)];
    const still = this.waiting.filter((one) => one.verdict !== null && !part.knows(pathOf(one.url)));
    this.waiting = [...[...again, ...still].sort((a, b) => a.before - b.before), ...fresh];
    this.all = [...part.all, ...this.all];
    this.bytes += part.bytes;
    this.indexAll();
    this.hits.prepend(part.hits);
    while (this.all.length > 2 * KEPT || this.bytes > MOST_BYTES) this.halve();
  }

  /** The oldest first. */
  last(): readonly Unserved[] {
    return this.all;
  }

  /** Gives a verdict to at most `limit` requests that wait for one, the newest first. Returns whether some are left. */
  judge(limit: number, judge: Judge): boolean {
    for (let n = 0; n < limit; n++) {
      const one = this.waiting.pop();
      if (one === undefined) break;
      one.verdict = judge(one, this.evidence(one));
    }
    return this.waiting.length > 0;
  }

  clear(): void {
    this.all = [];
    this.bytes = 0;
    this.waiting = [];
    this.seen = 0;
    this.dropped = 0;
    this.indexAll();
    this.hits.clear();
  }

  private halve(): void {
    this.all = this.all.slice(Math.ceil(this.all.length / 2));
    this.dropped = this.all[0]?.before ?? this.seen;
    this.waiting = this.waiting.filter((one) => one.before >= this.dropped);
    this.indexAll();
    this.bytes = this.all.reduce((sum, one) => sum + bytesOf(one.group), 0);
  }

  private indexAll(): void {
    this.byPath = new Map();
    this.purges = [];
    for (const one of this.all) this.index(one);
  }

  private index(one: Unserved): void {
    if (!one.counts) this.purges.push(one);
    const key = pathOf(one.url);
    const same = this.byPath.get(key);
    if (same === undefined) this.byPath.set(key, [one]);
    else same.push(one);
  }

  private knows(path: string): boolean {
    return this.byPath.has(path) || this.hits.knows(path);
  }

  private evidence(one: Unserved): Evidence {
    const own = (other: Unserved): boolean => other.host === one.host && other.url === one.url;
    const samePath = this.byPath.get(pathOf(one.url)) ?? [];
    const end = firstFrom(samePath, one.before);
    return {
      earlier: newest(samePath, end, EARLIER, own),
      beside: newest(
        samePath,
        end,
        BESIDE,
        (other) => !own(other) && (other.host === one.host || other.url === one.url),
      ),
      purges: newest(this.purges, firstFrom(this.purges, one.before), BESIDE, () => true),
      hit: this.hits.before(one.host, one.url, one.at),
      hitBeside: this.hits.beside(one.host, one.url, one.at),
    };
  }
}

/** Index of the first that is not before the request with this number. */
function firstFrom(list: readonly Unserved[], before: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] as Unserved).before < before) low = middle + 1;
    else high = middle;
  }
  return low;
}

function bytesOf(group: readonly LogTransaction[]): number {
  return group.reduce((sum, tx) => sum + tx.records.length, 0);
}

/** Of the first `end` of a list the last that are accepted, the newest first. Looks at a bounded number: on a path with
 * thousands of query strings none may be accepted. */
function newest(
  list: readonly Unserved[],
  end: number,
  limit: number,
  accept: (one: Unserved) => boolean,
): Unserved[] {
  const out: Unserved[] = [];
  for (let i = end - 1; i >= Math.max(0, end - LOOKED_AT) && out.length < limit; i--) {
    const one = list[i] as Unserved;
    if (accept(one)) out.push(one);
  }
  return out;
}

interface Mark {
  host: string;
  url: string;
  /** Epoch seconds of the first and of the last hit. */
  first: number;
  last: number;
}

const KEPT_MARKS = 5000;
/** Seconds for which an object is taken to be stored after a hit (chosen). */
const FRESH = 60;

class HitMarks {
  private readonly marks = new Map<string, Mark>();
  private readonly byPath = new Map<string, Set<Mark>>();

  add(host: string, url: string, at: number): void {
    const key = keyOf(host, url);
    const known = this.marks.get(key);
    if (known !== undefined) {
      known.first = Math.min(known.first, at);
      known.last = Math.max(known.last, at);
      return;
    }
    this.put(key, { host, url, first: at, last: at });
    if (this.marks.size > KEPT_MARKS) this.drop(this.marks.keys().next().value as string);
  }

  /** Whether it was a hit by then. */
  before(host: string, url: string, at: number): boolean {
    return (this.marks.get(keyOf(host, url))?.first ?? Number.POSITIVE_INFINITY) <= at;
  }

  /** A recent hit on the same path with another query string, or on the same URL under another host. */
  beside(host: string, url: string, at: number): { host: string; url: string } | null {
    for (const mark of this.byPath.get(pathOf(url)) ?? []) {
      const near = (mark.host === host) !== (mark.url === url);
      if (near && mark.first <= at && mark.last >= at - FRESH) return mark;
    }
    return null;
  }

  /** Prepends a collection, as far as there is room. */
  prepend(part: HitMarks): void {
    for (const [key, { host, url, first, last }] of part.marks)
      if (this.marks.has(key) || this.marks.size < KEPT_MARKS) {
        this.add(host, url, first);
        this.add(host, url, last);
      }
  }

  /** Whether some URL of the path was a hit. */
  knows(path: string): boolean {
    return this.byPath.has(path);
  }

  clear(): void {
    this.marks.clear();
    this.byPath.clear();
  }

  private put(key: string, mark: Mark): void {
    this.marks.set(key, mark);
    const path = pathOf(mark.url);
    const same = this.byPath.get(path) ?? new Set();
    this.byPath.set(path, same.add(mark));
  }

  private drop(key: string): void {
    const mark = this.marks.get(key);
    this.marks.delete(key);
    if (mark === undefined) return;
    const same = this.byPath.get(pathOf(mark.url));
    same?.delete(mark);
    if (same?.size === 0) this.byPath.delete(pathOf(mark.url));
  }
}

function keyOf(host: string, url: string): string {
  return `${host} ${url}`;
}

function pathOf(url: string): string {
  return url.replace(/\?.*$/s, '');
}
