// One pattern of RE2: linear time by construction, bounded by what a search may cost at most, which is known beforehand.
// Texts are bytes, one a character; with `utf8` the library gets them as bytes and counts in bytes, too.

import { RE2JS } from 're2js';
import type { VclContext } from '../../contract/context.ts';
import { checkPosix, inWordsOfRe2, PatternError, quoted, sizeOf } from './syntax.ts';

/** The regex options of the module, in the order of its signatures. */
export interface Options {
  readonly utf8: boolean;
  readonly posix_syntax: boolean;
  readonly longest_match: boolean;
  /** Bytes, as RE2 counts them for its own programs. */
  readonly max_mem: number;
  readonly literal: boolean;
  readonly never_nl: boolean;
  readonly dot_nl: boolean;
  readonly never_capture: boolean;
  readonly case_sensitive: boolean;
  readonly perl_classes: boolean;
  readonly word_boundary: boolean;
  readonly one_line: boolean;
}

/** Positions of the whole match and of each group: begin and end, -1 for a group that is not in it. */
export type Found = readonly number[];

/** Instructions of a pattern that is compiled while a request waits: some 20 ms (measured). */
export const MOST_AT_RUN_TIME = 5000;
/** Of one that is compiled with its program: some 0.4 s. It is what RE2 makes of 8 MB. */
const MOST_AT_LOAD = 87_381;
/** RE2 gives a program two thirds of max_mem, of which a quarter is for instructions of 16 bytes. */
const BYTES_PER_INSTRUCTION = 96;
/** Instructions times bytes that one search may take, for each unit of pcre2_match_limit: 0.2 s at worst with its default,
 * and a hundredth of that for most patterns. */
const STEPS_PER_UNIT = 1000;
const DEFAULT_UNITS = 10_000;
/** Milliseconds for the searches of one substitution, once those so far may have cost as much as one search may: each is bounded,
 * their number is that of the text's bytes. Below that the clock does not matter, so that a busy machine fails no small text. */
const SUBSTITUTION = 100;

/** A search that would cost too much. */
export class TooExpensive extends Error {
  constructor() {
    super('pattern and text are too large (pcre2_match_limit)');
  }
}

/** Instructions for max_mem. */
export function mostInstructions(maxMem: number): number {
  return maxMem <= 0 ? MOST_AT_LOAD : Math.min(MOST_AT_LOAD, Math.floor(maxMem / BYTES_PER_INSTRUCTION));
}

/** A pattern as the library is to get it. @throws PatternError */
export function sourceOf(pattern: string, options: Options): string {
  const { literal, posix_syntax, perl_classes, word_boundary, utf8 } = options;
  if (!literal && posix_syntax) checkPosix(pattern, perl_classes, word_boundary);
  // The library does not know \\C, any byte. In UTF-8 it would be a part of a character.
  const source = literal
    ? quoted(pattern)
    : pattern.replace(/\\./gs, (c) => (c === '\\C' && !utf8 ? '(?s:.)' : c));
  return utf8 ? Buffer.from(source, 'latin1').toString('utf8') : source;
}

export function flagsOf(options: Options): number {
  const { posix_syntax, one_line, dot_nl, case_sensitive, longest_match } = options;
  return (
    (case_sensitive ? 0 : RE2JS.CASE_INSENSITIVE) |
    (dot_nl ? RE2JS.DOTALL : 0) |
    (longest_match ? RE2JS.LONGEST_MATCH : 0) |
    (posix_syntax && !one_line ? RE2JS.MULTILINE : 0)
  );
}

/** Refuses a search of this many bytes. Returns the steps that one search may take. @throws TooExpensive */
export function permit(ctx: VclContext, instructions: number, length: number): number {
  const units = Number(ctx.host.param('pcre2_match_limit')) || DEFAULT_UNITS;
  const steps = units * STEPS_PER_UNIT;
  if (instructions * (length + 1) > steps) throw new TooExpensive();
  return steps;
}

/** A text as the library is to get it. */
export function inputOf(text: string, utf8: boolean): string | Uint8Array {
  return utf8 ? Buffer.from(text, 'latin1') : text;
}

/** The parts of a text that a pattern may see at once: with never_nl its lines, which no match may leave. */
export function partsOf(text: string, neverNl: boolean): readonly string[] {
  return neverNl && text.includes('\n') ? text.split('\n') : [text];
}

export class Pattern {
  readonly options: Options;
  /** Groups that can be referred to. */
  readonly groups: number;
  /** Numbers of the groups with a name. */
  readonly names: ReadonlyMap<string, number>;
  /** Instructions of the program: RE2's measure of the cost. */
  readonly cost: number;
  readonly #compiled: RE2JS;

  /**
   * @param most instructions
   * @throws PatternError
   */
  constructor(pattern: string, options: Options, most: number = mostInstructions(options.max_mem)) {
    const source = sourceOf(pattern, options);
    // The bound is a rough one: what lies above it may still be below when it is compiled.
    if (sizeOf(source) > 2 * most) throw new PatternError('pattern too large - compile failed');
    try {
      this.#compiled = RE2JS.compile(source, flagsOf(options));
    } catch (error) {
      throw new PatternError(inWordsOfRe2((error as Error).message));
    }
    // RE2 has two more for the same pattern.
    this.cost = this.#compiled.programSize() + 2;
    if (this.cost > most) throw new PatternError('pattern too large - compile failed');
    this.options = options;
    this.groups = options.never_capture ? 0 : this.#compiled.groupCount();
    this.names = new Map(Object.entries(this.#compiled.namedGroups()));
  }

  /** @throws TooExpensive */
  test(ctx: VclContext, text: string): boolean {
    const { utf8, never_nl } = this.options;
    permit(ctx, this.cost, text.length);
    return partsOf(text, never_nl).some((part) => this.#compiled.test(inputOf(part, utf8)));
  }

  /** The first match. @throws TooExpensive */
  find(ctx: VclContext, text: string): Found | null {
    return this.all(ctx, text).next().value ?? null;
  }

  /** All matches that do not overlap; none is empty where the one before has ended. @throws TooExpensive */
  *all(ctx: VclContext, text: string): Generator<Found, undefined> {
    const { utf8, never_nl } = this.options;
    let steps = permit(ctx, this.cost, text.length);
    let until = Number.NaN;
    let base = 0;
    let end = -1;
    for (const part of partsOf(text, never_nl)) {
      const matcher = this.#compiled.matcher(inputOf(part, utf8));
      const count = this.groups;
      while (matcher.find()) {
        const found: number[] = [];
        for (let group = 0; group <= count; group++) {
          const from = matcher.start(group);
          found.push(from < 0 ? -1 : base + from, from < 0 ? -1 : base + matcher.end(group));
        }
        if (found[0] === found[1] && found[0] === end) continue;
        end = found[1] as number;
        yield found;
        steps -= this.cost * (text.length - end + 1);
        if (steps >= 0) continue;
        const now = performance.now();
        if (Number.isNaN(until)) until = now + SUBSTITUTION;
        else if (now > until) throw new TooExpensive();
      }
      base += part.length + 1;
    }
  }
}
