// The facts of the last minutes, for rankings over a window, by the second of their arrival. Equal texts are shared: a
// sample of three hundred requests a second for five minutes takes some ten megabytes. Pages of many fragments and long
// URLs take more: beyond a bound the oldest are dropped, and `since` has the new beginning.

import type { TrafficFacts } from './traffic-facts.ts';

/** Seconds that are kept. */
const RECENT_SECONDS = 300;
const TEXTS = 20_000;
/** Bytes that all facts may take, and those of one besides its texts (estimated). */
const MOST_BYTES = 48 << 20;
const OWN_BYTES = 160;
const TEXT_FIELDS = [
  'method',
  'url',
  'host',
  'lookupUrl',
  'lookupHost',
  'client',
  'forwarded',
  'agent',
  'backend',
  'error',
] as const;

export class RecentFacts {
  /** The oldest first. */
  private seconds: { at: number; facts: TrafficFacts[]; bytes: number; requests: number }[] = [];
  private bytes = 0;
  /** Epoch seconds since which nothing was dropped for want of room. */
  since = 0;
  private readonly texts = new Map<string, string>();

  add(facts: TrafficFacts, now: number): void {
    const at = Math.floor(now);
    for (const field of TEXT_FIELDS) facts[field] = this.same(facts[field]);
    let last = this.seconds.at(-1);
    if (last === undefined || last.at !== at) {
      last = { at, facts: [], bytes: 0, requests: 0 };
      this.seconds.push(last);
    }
    const bytes = TEXT_FIELDS.reduce((sum, field) => sum + facts[field].length, OWN_BYTES);
    last.facts.push(facts);
    if (facts.kind === 'request') last.requests++;
    last.bytes += bytes;
    this.bytes += bytes;
    while ((this.seconds[0]?.at ?? at) < at - RECENT_SECONDS) this.drop();
    this.bound();
  }

  /** Prepends a collection that is older than all here. */
  prepend(part: RecentFacts): void {
    this.seconds = [...part.seconds, ...this.seconds];
    this.bytes += part.bytes;
    this.bound();
  }

  /** Calls `visit` with each fact of the last `seconds` before `now`, and the second of its arrival. */
  each(seconds: number, now: number, visit: (facts: TrafficFacts, at: number) => void): void {
    for (const { at, facts } of this.seconds)
      if (at > now - seconds - 1 && at <= now) for (const one of facts) visit(one, at);
  }

  /** Client requests from an epoch second on. */
  requestsFrom(second: number): number {
    return this.seconds.reduce((sum, { at, requests }) => (at >= second ? sum + requests : sum), 0);
  }

  clear(): void {
    this.seconds = [];
    this.bytes = 0;
    this.since = 0;
  }

  private bound(): void {
    while (this.bytes > MOST_BYTES && this.seconds.length > 1) {
      this.drop();
      this.since = this.seconds[0]?.at ?? 0;
    }
  }

  private drop(): void {
    this.bytes -= this.seconds.shift()?.bytes ?? 0;
  }

  private same(text: string): string {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    if (this.texts.size >= TEXTS) this.texts.clear();
    this.texts.set(text, text);
    return text;
  }
}
