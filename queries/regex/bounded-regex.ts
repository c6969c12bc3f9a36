// Regular expressions of programs, bans, queries and filters: PCRE2 syntax over byte strings, without the possibility
// to stall the process. Each is parsed here, then run by JavaScript's engine as long as the subject is short enough
// for the worst case to stay within about two milliseconds, and by our own bounded matcher otherwise
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

/** A match: position of the whole text, and texts of the groups that a replacement can reference, from index 0 (the
 * whole); undefined for unused groups. */
export interface RegexMatch {
  start: number;
  end: number;
  groups: (string | undefined)[];
}

/** Facts determined on first use. The parsed expression is not kept: it is as large as the rest of a ban, and few bans
 * need it again. */
interface Prepared {
  /** For searches from the start. */
  js: RegExp | null;
  jsGroups: readonly number[];
  jsCaptures: boolean;
  growth: Growth | null;
  /** Longest subject that is safe with a backtracking engine; 0 if there is none. */
  safeLength: number;
}

/** JavaScript limits the size of expressions, and some limits are only reported by searching. Its first search is
 * interpreted, twenty times slower, and its second compiles to machine code: both are done here with an empty
 * subject, and not when thousands of bans test their first object. */
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
  /** Longest subject for JavaScript's engine; -1 before first use and for never. */
  #jsLimit = -1;
  #js: RegExp | null = null;
  #prepared: Prepared | null = null;
  /** For searches from an index, and its longest subject. */
  #jsFrom: RegExp | null = null;
  #jsFromLimit = -1;
  #bounded: BoundedMatcher | null = null;
  /** Text that subjects must begin with or contain, and whether that is sufficient. */
  #start = '';
  #part = '';
  #partOnly = false;

  /** Accepts any text: an expression not checked by compileRegex throws on first use. */
  constructor(pattern: string) {
    this.pattern = pattern;
  }

  /** Parses and analyses the expression, once. Throws RegexError. */
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

  /** Is a subject short enough for JavaScript's engine, which needs no fuel? */
  isQuick(s: string): boolean {
    if (this.#prepared === null) this.prepare();
    return s.length <= this.#jsLimit;
  }

  /** Maximum steps of JavaScript's engine for a subject of this length. */
  quickSteps(length: number): number {
    const g = this.prepare().growth;
    return g === null ? Number.POSITIVE_INFINITY : length + (g.factor * length ** g.degree) / g.ways;
  }

  /** 1 for a match, 0 for none, -1 if the fuel was used up. */
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

  /** Does it match? Exceeding the limit counts as no match. */
  test(s: string): boolean {
    return this.match(s) === 1;
  }

  /** The first match at or after an index (with `notEmpty` the first that is not empty), null for none, 'limit' if the
   * fuel was used up. To find all matches, pass the same fuel and memory to each search, and exclude empty ones after
   * the first. */
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

/** Checks an expression; `flags` may contain "i" for ban expressions and tools. Throws RegexError. */
export function compileRegex(pattern: string, flags = ''): BoundedRegex {
  checkRegex(pattern);
  const re = new BoundedRegex(flags.includes('i') ? `(?i)${pattern}` : pattern);
  re.prepare();
  return re;
}

/** Throws RegexError if an expression is invalid. Cheaper than constructing it. Returns the size of its program in
 * numbers. */
export function checkRegex(pattern: string): number {
  return checkSize(parseRegex(pattern).root);
}
