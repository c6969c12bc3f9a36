// Regular expressions in queries and filters: does a record's text match, within the effort allowed for its group?
// The text comes from outside and the expression from an operator, and both together are bounded. A text that takes
// too much effort, and all texts after the effort of its group is used up, match nothing; the evaluation of the group
// then checks the effort and discards the result.

import { type BoundedRegex, checkRegex, compileRegex, type Fuel, fuelFor } from './regex/bounded-regex.ts';
import { RegexError } from './regex/pattern-ast.ts';

export interface TextPattern {
  test(text: string): boolean;
}

/** An error in an expression: PCRE2's text, and the column from 0. */
export interface PatternError {
  message: string;
  offset: number;
}

/** Steps of JavaScript's engine that take as long as one of the bounded matcher. */
const QUICK = 6;

/** Maximum words of a query that the daemon evaluates (chosen). */
export const SHARED_WORDS = 2000;

/** The limits on the size of a query and on the effort for each group, in steps of the bounded matcher: some 80
 * million a second (measured). */
export class Effort implements Fuel {
  left: number;
  private readonly text: number;
  private readonly group: number;

  /** Maximum words of a query, and total size of the programs of its expressions. */
  readonly words: number;
  private room: number;

  private constructor(text: number, group: number, words: number, room: number) {
    this.words = words;
    this.room = room;
    this.text = text;
    this.group = group;
    this.left = group;
  }

  /** For the manager, which has other work: some 50 ms per group. */
  static shared(): Effort {
    return new Effort(fuelFor(10_000).left, 4_000_000, SHARED_WORDS, 500_000);
  }

  /** For a tool, which has no other work: a second per text, and unlimited time per group. */
  static alone(): Effort {
    const any = Number.POSITIVE_INFINITY;
    return new Effort(80_000_000, any, any, any);
  }

  /** Is there room for another expression of this size? */
  takes(size: number): boolean {
    this.room -= size;
    return this.room >= 0;
  }

  /** Resets the effort for the next group. */
  renew(): void {
    this.left = this.group;
  }

  /** Is the effort used up, so that the result for the group is unknown? */
  get spent(): boolean {
    return this.left <= 0;
  }

  /** Does `regex` match? A match that is too expensive uses up the effort. */
  test(regex: BoundedRegex, text: string): boolean {
    if (this.left <= 0) return false;
    if (regex.isQuick(text)) {
      this.left -= 1 + regex.quickSteps(text.length) / QUICK;
      return regex.test(text);
    }
    const fuel: Fuel = { left: Math.min(this.text, this.left) };
    const given = fuel.left;
    const found = regex.match(text, fuel);
    this.left = found < 0 ? 0 : this.left - (given - fuel.left);
    return found === 1;
  }
}

/** The expression, or its error. `pattern` has one character per byte. */
export function compilePattern(
  pattern: string,
  caseless: boolean,
  effort: Effort,
): TextPattern | PatternError {
  let regex: BoundedRegex;
  try {
    // Errors have positions in the original text.
    if (!effort.takes(checkRegex(pattern))) {
      return { message: 'the expressions of this query are too large together', offset: 0 };
    }
    regex = compileRegex(pattern, caseless ? 'i' : '');
  } catch (cause) {
    if (!(cause instanceof RegexError)) throw cause;
    return { message: cause.message, offset: cause.offset };
  }
  return { test: (text) => effort.test(regex, text) };
}
