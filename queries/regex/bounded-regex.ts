// Regular expressions of programs, bans, queries and filters: PCRE2 syntax over byte strings, and no expression can
// stall the process that runs it. Each is parsed here, then run by JavaScript's engine as long as the subject is short
// enough for the worst case to stay within about two milliseconds, and by our own bounded matcher otherwise
// (bounded-matcher.ts: linear time, or an error when its fuel is used up).

import { type Growth, growth, safeLength } from './analyse.ts';
import { BoundedMatcher } from './bounded-matcher.ts';
import { makeProgram } from './build-program.ts';
import { parseRegex } from './parse-pattern.ts';
import { RegexError } from './pattern-ast.ts';
import { checkSize } from './program-facts.ts';
import { requiredText } from './required-text.ts';
import { type Fuel, fuelFor, SearchMemory } from './search.ts';
import { capturesDiffer, translate } from './translate.ts';

export { type Fuel, fuelFor, RegexError, SearchMemory };

/** Varnish's default of the parameter pcre2_match_limit. */
export const DEFAULT_MATCH_LIMIT = 10_000;

/** \0 to \9. */
const MOST_GROUPS = 10;

/** A match: whole text's place, and the texts of the groups that a replacement can name, from index 0 (the whole);
 * undefined took no part. */
export interface RegexMatch {
  start: number;
  end: number;
  groups: (string | undefined)[];
}

/** The facts that the first use of an expression finds. The parsed expression is not kept: it is as large as all the rest
 * of a ban, and few are asked what takes it again. */
interface Prepared {
  /** For searches from the start. */
  js: RegExp | null;
  jsGroups: readonly number[];
  jsCaptures: boolean;
  growth: Growth | null;
  /** Longest subject that is safe with a backtracking engine; 0 where there is none. */
  safeLength: number;
}

/** JavaScript limits the size of expressions: trying is the only way to find out. It reports some only when it searches.
 * Its first search is interpreted, twenty times as slow, and its second makes machine code: therefore both are made here over
 * an empty subject, and not in the turn in which thousands of bans meet their first object. */
function compiled(source: string, flags: string): RegExp | null {
  try {
    const regex = new RegExp(source, flags);
    regex.test('');
    regex.test('');
    return regex;
  } catch {
    return null;
  }
}

export class BoundedRegex {
  readonly pattern: string;
  /** Longest subject for JavaScript's engine; -1 before the first use and for never. */
  #jsLimit = -1;
  #js: RegExp | null = null;
  #prepared: Prepared | null = null;
  /** For searches from an index, and the longest subject for it. */
  #jsFrom: RegExp | null = null;
  #jsFromLimit = -1;
  #bounded: BoundedMatcher | null = null;
  /** What subjects have to begin with, or to have in them, and whether that is all. */
  #start = '';
  #part = '';
  #partOnly = false;

  /** Takes any text: an expression that was not checked by compileRegex throws when it is first used. */
  constructor(pattern: string) {
    this.pattern = pattern;
  }

  /** Parses and judges the expression, once. Throws RegexError. */
  prepare(): Prepared {
    if (this.#prepared !== null) return this.#prepared;
    const parsed = parseRegex(this.pattern);
    const translation = translate(parsed);
    const js = translation === null ? null : compiled(translation.fromStart, '');
    const { text, where, whole } = requiredText(parsed.root);
    if (where === 'start') this.#start = text;
    else this.#part = text;
    this.#partOnly = whole;
    this.#js = js;
    const safe = safeLength(parsed.root);
    this.#jsLimit = js === null ? -1 : safe || -1;
    this.#prepared = {
      js,
      jsGroups: translation?.groups.slice(0, MOST_GROUPS) ?? [],
      jsCaptures: !capturesDiffer(parsed.root),
      growth: growth(parsed.root),
      safeLength: safe,
    };
    return this.#prepared;
  }

  /** Whether a subject is short enough for JavaScript's engine, which needs no fuel. */
  isQuick(s: string): boolean {
    if (this.#prepared === null) this.prepare();
    return s.length <= this.#jsLimit;
  }

  /** Steps that JavaScript's engine may take for a subject of this length, at the most. */
  quickSteps(length: number): number {
    const g = this.prepare().growth;
    return g === null ? Number.POSITIVE_INFINITY : length + (g.factor * length ** g.degree) / g.ways;
  }

  /** 1 for a match, 0 for none, -1 when the fuel was used up. */
  match(s: string, fuel?: Fuel): number {
    const start = this.#start;
    for (let i = 0; i < start.length; i++) if (s.charCodeAt(i) !== start.charCodeAt(i)) return 0;
    if (this.#part !== '' && !s.includes(this.#part)) return 0;
    if (this.#partOnly) return 1;
    if (s.length <= this.#jsLimit) return (this.#js as RegExp).test(s) ? 1 : 0;
    if (this.#prepared === null) {
      this.prepare();
      return this.match(s, fuel);
    }
    const found = this.#matcher().exec(s, 0, fuel ?? fuelFor(DEFAULT_MATCH_LIMIT));
    return found === 'limit' ? -1 : found === null ? 0 : 1;
  }

  /** Whether it matches; the limit counts as no match. */
  test(s: string): boolean {
    return this.match(s) === 1;
  }

  /** The first match at or after an index (with `notEmpty` the first that is not empty), null for none,
   * 'limit' when the fuel was used up. Whoever looks for all matches gives the same fuel and memory to each search, and
   * leaves empty ones out after the first. */
  exec(
    s: string,
    from = 0,
    notEmpty = false,
    fuel?: Fuel,
    memory?: SearchMemory,
  ): RegexMatch | null | 'limit' {
    const p = this.prepare();
    if (from > 0 && this.#jsFrom === null && p.js !== null) this.#prepareFrom();
    if (s.length <= (from === 0 ? this.#jsLimit : this.#jsFromLimit) && p.jsCaptures) {
      const re = (from === 0 ? p.js : this.#jsFrom) as RegExp;
      re.lastIndex = from;
      const m = re.exec(s);
      if (m === null) return null;
      if (!notEmpty || m[0] !== '') {
        const groups = p.jsGroups.map((g) => m[g]);
        return { start: m.index, end: m.index + (m[0] as string).length, groups };
      }
    }
    return this.#boundedExec(s, from, notEmpty, fuel ?? fuelFor(DEFAULT_MATCH_LIMIT), memory);
  }

  #prepareFrom(): void {
    const parsed = parseRegex(this.pattern);
    this.#jsFrom = compiled(translate(parsed)?.source ?? '', 'g');
    if (this.#jsFrom !== null) this.#jsFromLimit = safeLength(parsed.root, false) || -1;
  }

  #matcher(): BoundedMatcher {
    this.#bounded ??= new BoundedMatcher(makeProgram(parseRegex(this.pattern)));
    return this.#bounded;
  }

  #boundedExec(
    s: string,
    from: number,
    notEmpty: boolean,
    fuel: Fuel,
    memory?: SearchMemory,
  ): RegexMatch | null | 'limit' {
    const caps = this.#matcher().exec(s, from, fuel, notEmpty, memory);
    if (caps === null || caps === 'limit') return caps;
    const groups: (string | undefined)[] = [];
    for (let i = 0; i < caps.length; i += 2) {
      const a = caps[i] as number;
      const b = caps[i + 1] as number;
      groups.push(a < 0 || b < 0 ? undefined : s.slice(a, b));
    }
    return { start: caps[0] as number, end: caps[1] as number, groups };
  }
}

/** Checks an expression and makes it ready; `flags` may hold "i" for ban expressions and tools. Throws
 * RegexError. */
export function compileRegex(pattern: string, flags = ''): BoundedRegex {
  checkRegex(pattern);
  const re = new BoundedRegex(flags.includes('i') ? `(?i)${pattern}` : pattern);
  re.prepare();
  return re;
}

/** Throws RegexError when an expression cannot be used. Cheaper than making it. Returns how many numbers its program may
 * take. */
export function checkRegex(pattern: string): number {
  return checkSize(parseRegex(pattern).root);
}
