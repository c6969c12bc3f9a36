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
  /** Client requests before it. */
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

export class UnservedRequests {
  private all: Unserved[] = [];
  private bytes = 0;
  /** Index of the first without a verdict; those before it, by path, and among them those that may have purged. */
  private judged = 0;
  private byPath = new Map<string, Unserved[]>();
  private purges: Unserved[] = [];
  private readonly hits = new HitMarks();

  /** `before`: client requests so far. */
  add(group: readonly LogTransaction[], f: TrafficFacts, before: number, now: number): void {
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
    this.all.push({ at: now, ended, host, url, sent, group: own, before, counts, verdict: null });
    this.bytes += bytesOf(own);
    // By half, which is cheap.
    if (this.all.length > 2 * KEPT || this.bytes > MOST_BYTES) this.halve();
  }

  /** Prepends a collection that is older than all here, among this many client requests. The requests here are
   * judged again, with the older ones as evidence. */
  prepend(part: UnservedRequests, requests: number): void {
    for (const one of this.all) {
      one.before += requests;
      one.verdict = null;
    }
    this.all = [...part.all, ...this.all];
    this.bytes += part.bytes;
    this.judgeAgain();
    this.hits.prepend(part.hits);
    while (this.all.length > 2 * KEPT || this.bytes > MOST_BYTES) this.halve();
  }

  /** The oldest first. */
  last(): readonly Unserved[] {
    return this.all;
  }

  /** Gives a verdict to at most `limit` requests that have none. Returns whether some are left. */
  judge(limit: number, judge: Judge): boolean {
    const end = Math.min(this.all.length, this.judged + limit);
    for (; this.judged < end; this.judged++) {
      const one = this.all[this.judged] as Unserved;
      const key = pathOf(one.url);
      const same = this.byPath.get(key) ?? [];
      if (one.counts && one.verdict === null) one.verdict = judge(one, this.evidence(one, same));
      if (!one.counts) this.purges.push(one);
      same.push(one);
      this.byPath.set(key, same);
    }
    return this.judged < this.all.length;
  }

  clear(): void {
    this.all = [];
    this.bytes = 0;
    this.judgeAgain();
    this.hits.clear();
  }

  private halve(): void {
    this.all = this.all.slice(Math.ceil(this.all.length / 2));
    // Verdicts are kept.
    this.judgeAgain();
    this.bytes = this.all.reduce((sum, one) => sum + bytesOf(one.group), 0);
  }

  private judgeAgain(): void {
    this.judged = 0;
    this.byPath = new Map();
    this.purges = [];
  }

  private evidence(one: Unserved, samePath: readonly Unserved[]): Evidence {
    const own = (other: Unserved): boolean => other.host === one.host && other.url === one.url;
    return {
      earlier: newest(samePath, EARLIER, own),
      beside: newest(
        samePath,
        BESIDE,
        (other) => !own(other) && (other.host === one.host || other.url === one.url),
      ),
      purges: newest(this.purges, BESIDE, () => true),
      hit: this.hits.before(one.host, one.url, one.at),
      hitBeside: this.hits.beside(one.host, one.url, one.at),
    };
  }
}

function bytesOf(group: readonly LogTransaction[]): number {
  return group.reduce((sum, tx) => sum + tx.records.length, 0);
}

/** The last of a list that are accepted, the newest first. */
function newest(list: readonly Unserved[], limit: number, accept: (one: Unserved) => boolean): Unserved[] {
  const out: Unserved[] = [];
  for (let i = list.length - 1; i >= 0 && out.length < limit; i--) {
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
