// Reads a pattern from left to right: the cursor, and the counts shared by all parts of the parser (groups,
// names, references that are resolved at the end). It does not interpret characters.

import { type Node, RegexError } from './pattern-ast.ts';

export interface Flags {
  /** i: ignores case. */
  readonly caseless: boolean;
  /** m: ^ and $ at lines. */
  readonly multiline: boolean;
  /** s: a dot matches a newline. */
  readonly dotAll: boolean;
  /** x and xx: blanks and comments are ignored (1), also blanks in classes (2). */
  readonly extended: 0 | 1 | 2;
  /** n: bare parentheses do not capture. */
  readonly noCapture: boolean;
  /** U: greedy and lazy are swapped. */
  readonly ungreedy: boolean;
  /** J: names may be used twice. */
  readonly sameNames: boolean;
}

export const NO_FLAGS: Flags = {
  caseless: false,
  multiline: false,
  dotAll: false,
  extended: 0,
  noCapture: false,
  ungreedy: false,
  sameNames: false,
};

/** A reference that only the whole pattern can resolve: called once at its end. */
type Pending = () => void;

export class PatternReader {
  readonly text: string;
  at = 0;
  /** Capturing groups so far; reset by (?|…). */
  groups = 0;
  highestGroup = 0;
  readonly names = new Map<string, number[]>();
  readonly bodies = new Map<number, Node>();
  readonly pending: Pending[] = [];
  captureDependent = false;
  recursive = false;
  sharedNumbers = false;
  /** Depth of lookarounds around the cursor. */
  lookDepth = 0;
  /** \R without \v, \f and 0x85, after (*BSR_ANYCRLF). */
  narrowNewlines = false;
  /** Called after each alternative of a (?|…) group, not of those inside it. */
  onBranch: (() => void) | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** `offset`: the offset that PCRE2 reports; by default the end of the text read so far. */
  fail(message: string, at = this.at, offset = this.at): never {
    throw new RegexError(message, at, offset);
  }

  get ended(): boolean {
    return this.at >= this.text.length;
  }

  peek(): string {
    return this.text.charAt(this.at);
  }

  /** Consumes this text if it is next, and returns whether it was. */
  eat(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  /** Consumes the text that a sticky expression matches here. */
  take(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.at;
    const m = sticky.exec(this.text);
    if (m !== null) this.at += m[0].length;
    return m;
  }

  newGroup(): number {
    this.groups++;
    if (this.groups > this.highestGroup) this.highestGroup = this.groups;
    return this.groups;
  }

  /** Names a group; groups of the same number in (?|…) may share a name. */
  nameGroup(name: string, index: number, flags: Flags, at: number): void {
    if (name.length > 32) this.fail('subpattern name is too long (maximum 32 code units)', at);
    const known = this.names.get(name);
    if (known === undefined) this.names.set(name, [index]);
    else if (known.includes(index)) return;
    else if (flags.sameNames) known.push(index);
    else this.fail('two named subpatterns have the same name (PCRE2_DUPNAMES not set)', at);
  }

  /** The numbers of a name. */
  named(name: string, at: number): number[] {
    return this.names.get(name) ?? this.fail(`reference to non-existent subpattern '${name}'`, at);
  }
}
