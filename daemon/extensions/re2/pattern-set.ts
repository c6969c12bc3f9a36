// A set of patterns that are matched at once, in one pass over the text, and what the program has attached to each.

import { RE2Set } from 're2js';
import type { Director, VclContext } from '../../contract/context.ts';
import { taskPriv } from '../../contract/priv.ts';
import { State } from '../../contract/program.ts';
import type { SubValue } from '../../vcl/runtime/sub-value.ts';
import {
  flagsOf,
  inputOf,
  mostInstructions,
  type Options,
  Pattern,
  partsOf,
  permit,
  sourceOf,
} from './pattern.ts';
import { fail, searched, shown, type Text } from './rewriting.ts';
import { inWordsOfRe2, PatternError, sizeOf } from './syntax.ts';

export type Anchor = 'none' | 'start' | 'both';
export type Select = 'FIRST' | 'LAST' | 'UNIQUE';

const ANCHORS: Readonly<Record<Anchor, number>> = {
  none: RE2Set.UNANCHORED,
  start: RE2Set.ANCHOR_START,
  both: RE2Set.ANCHOR_BOTH,
};

/** The things that belong to a pattern; undefined where they were not given. */
export interface Member {
  readonly string?: string | undefined;
  readonly backend?: Director | undefined;
  readonly regex?: Pattern | undefined;
  readonly integer?: number | undefined;
  readonly sub?: SubValue | undefined;
}

/** How messages say that no pattern of a set has such a member, and that one has none. */
const ABSENT: Readonly<Record<keyof Member, readonly [none: string, one: string]>> = {
  string: ['No strings were set', 'String # was not added'],
  backend: ['No backends were set', 'Backend # was not added'],
  regex: ['No regexen were saved', 'Pattern # was not saved'],
  integer: ['No integers were set', 'integer # was not added'],
  sub: ['No subroutines were set', 'subroutine # was not added'],
};

export class PatternSet {
  readonly name: string;
  readonly options: Options;
  readonly #set: RE2Set;
  readonly #members: Member[] = [];
  /** Things that any of them has. */
  readonly #kinds = new Set<string>();
  #size = 0;
  #isCompiled = false;

  constructor(name: string, anchor: Anchor, options: Options) {
    this.name = name;
    this.options = options;
    this.#set = new RE2Set(
      ANCHORS[anchor],
      flagsOf(options),
      options.max_mem > 0 ? options.max_mem : undefined,
    );
  }

  /** In vcl_init. */
  add(
    ctx: VclContext,
    pattern: Text,
    attached: Omit<Member, 'regex'>,
    save: boolean,
    neverCapture: boolean,
  ): void {
    const call = `${this.name}.add("${shown(pattern)}")`;
    if (ctx.state !== State.init) fail(`${call}: .add() may only be called in vcl_init`);
    if (this.#isCompiled) fail(`${call}: ${this.name} has already been compiled`);
    if (pattern === null) fail(`${call}: pattern is undefined`);
    try {
      const source = sourceOf(pattern, this.options);
      this.#size += sizeOf(source);
      // Each is checked alone, too: the library finds some mistakes when it compiles all.
      const alone = new Pattern(
        pattern,
        { ...this.options, never_capture: neverCapture },
        mostInstructions(0),
      );
      this.#set.add(source);
      const member: Member = { ...attached, regex: save ? alone : undefined };
      this.#members.push(member);
      for (const [kind, value] of Object.entries(member)) if (value !== undefined) this.#kinds.add(kind);
    } catch (error) {
      const text = error instanceof PatternError ? error.message : inWordsOfRe2((error as Error).message);
      fail(`${call}: Cannot compile '${shown(pattern)}': ${text}`);
    }
  }

  /** compile() of the program. */
  compile(ctx: VclContext): void {
    const call = `${this.name}.compile()`;
    if (ctx.state !== State.init) fail(`${call}: .compile() may only be called in vcl_init`);
    if (this.#isCompiled) fail(`${call}: ${this.name} has already been compiled`);
    this.#finish(call);
  }

  /** Compiles what vcl_init has not. */
  complete(): void {
    if (!this.#isCompiled) this.#finish(`${this.name} set initialization`);
  }

  #finish(who: string): void {
    if (this.#members.length === 0) fail(`${who}: no patterns were added`);
    const most = mostInstructions(this.options.max_mem);
    if (this.#size <= 2 * most) this.#set.compile();
    if (this.#size > 2 * most || this.#set.prog.numInst() > most)
      fail(`${who}: possibly insufficient memory`);
    this.#isCompiled = true;
  }

  /** Numbers of the patterns that match, from 0, in their order. */
  #matching(ctx: VclContext, call: string, text: string): readonly number[] {
    const { utf8, never_nl } = this.options;
    return searched(call, () => {
      permit(ctx, this.#set.prog.numInst(), text.length);
      const found = new Set(partsOf(text, never_nl).flatMap((part) => this.#set.match(inputOf(part, utf8))));
      return [...found].sort((a, b) => a - b);
    });
  }

  match(ctx: VclContext, text: Text): boolean {
    if (text === null) return false;
    const call = `${this.name}.match("${shown(text)}")`;
    if (!this.#isCompiled) fail(`${call}: ${this.name} was not compiled`);
    const matched = this.#matching(ctx, call, text);
    taskPriv(ctx, this).value = matched;
    return matched.length > 0;
  }

  /** Whether it matches, without a trace in the task: for lines of a head. */
  matches(ctx: VclContext, line: string): boolean {
    return this.#matching(ctx, `${this.name}.hdr_filter(${shown(line)})`, line).length > 0;
  }

  /** The patterns that the last match of this task has found; null without one. */
  #last(ctx: VclContext): readonly number[] | null {
    const last = taskPriv(ctx, this).value;
    return Array.isArray(last) ? last : null;
  }

  matched(ctx: VclContext, n: number): boolean {
    if (n < 1 || n > this.#members.length)
      fail(`n=${n} out of range in ${this.name}.matched() (${this.#members.length} patterns)`);
    const last = this.#last(ctx) ?? fail(`${this.name}.matched(${n}) called without prior match`);
    return last.includes(n - 1);
  }

  nmatches(ctx: VclContext): number {
    return (this.#last(ctx) ?? fail(`${this.name}.nmatches() called without prior match`)).length;
  }

  /** The number of the selected pattern, from 1, or the module's error text if there is none. */
  #chosen(ctx: VclContext, method: string, n: number, select: Select): number | string {
    const call = `${this.name}.${method}`;
    if (n > 0) {
      const count = this.#members.length;
      return n <= count ? n : `${call}(${n}): set has ${count} patterns`;
    }
    const last = this.#last(ctx);
    if (last === null) return `${call}() called without prior match`;
    if (last.length === 0) return `${call}(${n}): previous match was unsuccessful`;
    if (last.length > 1 && select === 'UNIQUE') return `${call}(${n}): ${last.length} successful matches`;
    return (last.at(select === 'LAST' ? -1 : 0) as number) + 1;
  }

  /** The number of the selected pattern, from 1. */
  which(ctx: VclContext, method: string, n: number, select: Select): number {
    const chosen = this.#chosen(ctx, method, n, select);
    return typeof chosen === 'string' ? fail(chosen) : chosen;
  }

  /** Whether the selected pattern has such a member. */
  has(ctx: VclContext, key: keyof Member, n: number, select: Select): boolean {
    return this.#members[this.which(ctx, 'saved', n, select) - 1]?.[key] !== undefined;
  }

  /**
   * A member of the selected pattern.
   * @param args of the call, for messages, with a comma after each
   * @returns the value, or the module's error text if it is missing
   */
  attached<K extends keyof Member>(
    ctx: VclContext,
    key: K,
    call: { readonly method: string; readonly args?: string },
    n: number,
    select: Select,
  ): { readonly value: NonNullable<Member[K]> } | { readonly missing: string } {
    const { method, args = '' } = call;
    const who = `${this.name}.${method}`;
    const [none, one] = ABSENT[key];
    if (!this.#kinds.has(key)) return { missing: `${who}(${n}): ${none} for ${this.name}` };
    const chosen = this.#chosen(ctx, method, n, select);
    if (typeof chosen === 'string') return { missing: chosen };
    const value = this.#members[chosen - 1]?.[key];
    return value === undefined
      ? { missing: `${who}(${args}${n}, ${select}): ${one.replace('#', String(chosen))}` }
      : { value };
  }
}
