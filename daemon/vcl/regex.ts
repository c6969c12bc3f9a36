// Regular expressions of the config language: PCRE syntax over byte strings, and no expression can stall the
// worker. Each is parsed here, then run by JavaScript's engine as long as the subject is short enough for the
// worst case to stay within about two milliseconds, and by our own bounded matcher otherwise (bounded.ts:
// linear time, or an error after a step limit).

import { safeLength } from './regex/analyse.ts';
import { RegexError } from './regex/ast.ts';
import { BoundedMatcher } from './regex/bounded.ts';
import { parseRegex } from './regex/parse.ts';
import { capturesDiffer, translate } from './regex/translate.ts';

export { RegexError };

/** A match: whole text's place, and the groups' texts from index 0 (the whole); undefined took no part. */
export interface RegexMatch {
  start: number;
  end: number;
  groups: (string | undefined)[];
}

export class VclRegex {
  readonly pattern: string;
  readonly groupCount: number;
  /** For tests, and for searches from an index: the same expression without and with the flag g. */
  readonly #js: RegExp | null;
  readonly #jsFrom: RegExp | null;
  readonly #jsLimit: number;
  readonly #jsGroups: number[];
  readonly #jsCaptures: boolean;
  readonly #bounded: BoundedMatcher;

  constructor(pattern: string) {
    const parsed = parseRegex(pattern);
    const js = translate(parsed);
    this.pattern = pattern;
    this.groupCount = parsed.groups;
    this.#bounded = new BoundedMatcher(parsed);
    this.#js = js === null ? null : new RegExp(js.source);
    this.#jsFrom = js === null ? null : new RegExp(js.source, 'g');
    this.#jsLimit = js === null ? -1 : safeLength(parsed.root) || -1;
    this.#jsGroups = js?.groups ?? [];
    this.#jsCaptures = !capturesDiffer(parsed.root);
  }

  /** 1 for a match, 0 for none, -1 when the limit was reached. */
  match(s: string): number {
    if (s.length <= this.#jsLimit) return (this.#js as RegExp).test(s) ? 1 : 0;
    const found = this.#bounded.exec(s, 0);
    return found === 'limit' ? -1 : found === null ? 0 : 1;
  }

  /** Whether it matches; the limit counts as no match. */
  test(s: string): boolean {
    return this.match(s) === 1;
  }

  /** The first match at or after an index (with `notEmpty` the first that is not empty), null for none, 'limit' when the limit was reached. */
  exec(s: string, from = 0, notEmpty = false): RegexMatch | null | 'limit' {
    if (s.length <= this.#jsLimit && this.#jsCaptures) {
      const re = this.#jsFrom as RegExp;
      re.lastIndex = from;
      const m = re.exec(s);
      if (m === null) return null;
      if (notEmpty && m[0] === '') return this.#boundedExec(s, from, true);
      const groups = this.#jsGroups.map((g) => m[g]);
      return { start: m.index, end: m.index + (m[0] as string).length, groups };
    }
    return this.#boundedExec(s, from, notEmpty);
  }

  #boundedExec(s: string, from: number, notEmpty: boolean): RegexMatch | null | 'limit' {
    const caps = this.#bounded.exec(s, from, notEmpty);
    if (caps === null || caps === 'limit') return caps;
    const groups: (string | undefined)[] = [];
    for (let g = 0; g <= this.groupCount; g++) {
      const a = caps[g * 2] as number;
      const b = caps[g * 2 + 1] as number;
      groups.push(a < 0 || b < 0 ? undefined : s.slice(a, b));
    }
    return { start: caps[0] as number, end: caps[1] as number, groups };
  }
}

/** Compiles an expression; `flags` may hold "i" for ban expressions and tools. Throws RegexError. */
export function compileRegex(pattern: string, flags = ''): VclRegex {
  return new VclRegex(flags.includes('i') ? `(?i)${pattern}` : pattern);
}
