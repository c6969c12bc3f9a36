// The patterns that came with calls, as long as they are among the latest: compiling one takes longer than most searches,
// and a pattern of a header is often the same again.

import type { Options, Pattern } from './pattern.ts';

/** Patterns that are kept, and instructions in all of them (chosen): each takes some hundred bytes. */
const MOST = 100;
const MOST_INSTRUCTIONS = 50_000;

export class RecentPatterns {
  readonly #compile: (pattern: string, options: Options) => Pattern;
  /** Latest used last. */
  readonly #patterns = new Map<string, Pattern>();
  #instructions = 0;

  constructor(compile: (pattern: string, options: Options) => Pattern) {
    this.#compile = compile;
  }

  /** @throws PatternError */
  of(pattern: string, options: Options): Pattern {
    const key = `${Object.values(options).map(Number).join()} ${pattern}`;
    const known = this.#patterns.get(key);
    if (known !== undefined) {
      this.#patterns.delete(key);
      this.#patterns.set(key, known);
      return known;
    }
    const made = this.#compile(pattern, options);
    this.#patterns.set(key, made);
    this.#instructions += made.cost;
    for (const [oldest, { cost }] of this.#patterns) {
      if (this.#patterns.size <= MOST && this.#instructions <= MOST_INSTRUCTIONS) break;
      this.#patterns.delete(oldest);
      this.#instructions -= cost;
    }
    return made;
  }
}
