// Regular expressions of the config language: PCRE syntax over byte strings, and no expression can stall the
// worker. Each is parsed here, then run by JavaScript's engine as long as the subject is short enough for the
// worst case to stay within about two milliseconds, and by our own bounded matcher otherwise (bounded.ts:
// linear time, or an error after a step limit).

import { safeLength } from './regex/analyse.ts';
import { type ParsedRegex, RegexError } from './regex/ast.ts';
import { BoundedMatcher, checkSize } from './regex/bounded.ts';
import { parseRegex } from './regex/parse.ts';
import { capturesDiffer, type Translation, translate } from './regex/translate.ts';

export { RegexError };

/** A match: whole text's place, and the groups' texts from index 0 (the whole); undefined took no part. */
export interface RegexMatch {
  start: number;
  end: number;
  groups: (string | undefined)[];
}

/** A translation that JavaScript takes: it has limits of its own on size. */
function usable(t: Translation | null): Translation | null {
  if (t === null) return null;
  try {
    new RegExp(t.source);
    return t;
  } catch {
    return null;
  }
}

/** What a first use finds out about an expression. */
interface Prepared {
  groupCount: number;
  /** For tests, and for searches from an index: the same expression without and with the flag g. */
  js: RegExp | null;
  jsFrom: RegExp | null;
  jsGroups: readonly number[];
  jsCaptures: boolean;
  parsed: ParsedRegex;
}

export class VclRegex {
  readonly pattern: string;
  /** Longest subject for JavaScript's engine; -1 before the first use and for never. */
  #jsLimit = -1;
  #js: RegExp | null = null;
  #prepared: Prepared | null = null;
  #bounded: BoundedMatcher | null = null;

  /** Takes any text: an expression that was not checked by compileRegex throws when it is first used. */
  constructor(pattern: string) {
    this.pattern = pattern;
  }

  /** Parses and judges the expression, once. Throws RegexError. */
  prepare(): Prepared {
    if (this.#prepared !== null) return this.#prepared;
    const parsed = parseRegex(this.pattern);
    const js = usable(translate(parsed));
    this.#js = js === null ? null : new RegExp(js.source);
    this.#jsLimit = js === null ? -1 : safeLength(parsed.root) || -1;
    this.#prepared = {
      groupCount: parsed.groups,
      js: this.#js,
      jsFrom: js === null ? null : new RegExp(js.source, 'g'),
      jsGroups: js?.groups ?? [],
      jsCaptures: !capturesDiffer(parsed.root),
      parsed,
    };
    return this.#prepared;
  }

  #matcher(): BoundedMatcher {
    this.#bounded ??= new BoundedMatcher(this.prepare().parsed);
    return this.#bounded;
  }

  /** 1 for a match, 0 for none, -1 when the limit was reached. */
  match(s: string): number {
    if (s.length <= this.#jsLimit) return (this.#js as RegExp).test(s) ? 1 : 0;
    if (this.#prepared === null) {
      this.prepare();
      return this.match(s);
    }
    const found = this.#matcher().exec(s, 0);
    return found === 'limit' ? -1 : found === null ? 0 : 1;
  }

  /** Whether it matches; the limit counts as no match. */
  test(s: string): boolean {
    return this.match(s) === 1;
  }

  /** The first match at or after an index (with `notEmpty` the first that is not empty), null for none, 'limit' when the limit was reached. */
  exec(s: string, from = 0, notEmpty = false): RegexMatch | null | 'limit' {
    const p = this.prepare();
    if (s.length <= this.#jsLimit && p.jsCaptures) {
      const re = p.jsFrom as RegExp;
      re.lastIndex = from;
      const m = re.exec(s);
      if (m === null) return null;
      if (notEmpty && m[0] === '') return this.#boundedExec(s, from, true);
      const groups = p.jsGroups.map((g) => m[g]);
      return { start: m.index, end: m.index + (m[0] as string).length, groups };
    }
    return this.#boundedExec(s, from, notEmpty);
  }

  #boundedExec(s: string, from: number, notEmpty: boolean): RegexMatch | null | 'limit' {
    const caps = this.#matcher().exec(s, from, notEmpty);
    if (caps === null || caps === 'limit') return caps;
    const groups: (string | undefined)[] = [];
    for (let g = 0; g <= this.prepare().groupCount; g++) {
      const a = caps[g * 2] as number;
      const b = caps[g * 2 + 1] as number;
      groups.push(a < 0 || b < 0 ? undefined : s.slice(a, b));
    }
    return { start: caps[0] as number, end: caps[1] as number, groups };
  }
}

/** Checks an expression and makes it ready; `flags` may hold "i" for ban expressions and tools. Throws
 * RegexError. */
export function compileRegex(pattern: string, flags = ''): VclRegex {
  const re = new VclRegex(flags.includes('i') ? `(?i)${pattern}` : pattern);
  re.prepare();
  return re;
}

/** Throws RegexError when an expression cannot be used. Cheaper than making it. */
export function checkRegex(pattern: string): void {
  const parsed = parseRegex(pattern);
  checkSize(parsed.root);
}
