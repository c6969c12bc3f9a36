// The facts of the last minutes, for rankings over a window. They are kept by the second in which they came, and texts
// that say the same are one text: a sample of three hundred requests a second for five minutes is some ten megabytes.

import type { TrafficFacts } from './traffic-facts.ts';

/** Seconds that are kept. */
const RECENT_SECONDS = 300;
const TEXTS = 20_000;
const TEXT_FIELDS = ['method', 'url', 'host', 'client', 'forwarded', 'agent', 'backend'] as const;

export class RecentFacts {
  /** The oldest first. */
  private seconds: { at: number; facts: TrafficFacts[] }[] = [];
  private readonly texts = new Map<string, string>();

  add(facts: TrafficFacts, now: number): void {
    const at = Math.floor(now);
    for (const field of TEXT_FIELDS) facts[field] = this.same(facts[field]);
    const last = this.seconds.at(-1);
    if (last !== undefined && last.at === at) last.facts.push(facts);
    else {
      this.seconds.push({ at, facts: [facts] });
      const oldest = at - RECENT_SECONDS;
      while ((this.seconds[0]?.at ?? at) < oldest) this.seconds.shift();
    }
  }

  /** Calls `visit` with each of the last `seconds` before `now`. */
  each(seconds: number, now: number, visit: (facts: TrafficFacts) => void): void {
    for (const second of this.seconds)
      if (second.at > now - seconds - 1 && second.at <= now) for (const facts of second.facts) visit(facts);
  }

  clear(): void {
    this.seconds = [];
  }

  private same(text: string): string {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    if (this.texts.size >= TEXTS) this.texts.clear();
    this.texts.set(text, text);
    return text;
  }
}
