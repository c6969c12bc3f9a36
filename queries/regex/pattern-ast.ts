// Syntax tree of a regular expression over bytes: subjects are byte strings, so a class is 256 flags and case
// is folded into it while parsing.

export type ByteSet = Uint8Array;

export type Assertion =
  | 'start'
  | 'line-start'
  | 'end'
  | 'end-newline'
  | 'line-end'
  | 'word'
  | 'not-word'
  /** \G: start of the search. */
  | 'search-start';

/** The condition of a conditional group: a group that took part, a recursion (into that group; 0 is any), or a
 * lookaround. `never` is DEFINE. */
export type Condition =
  | { kind: 'group'; index: number }
  | { kind: 'recursion'; index: number }
  | { kind: 'look'; look: Node }
  | { kind: 'never' };

export type Node =
  | { t: 'empty' }
  | { t: 'set'; set: ByteSet }
  | { t: 'cat'; items: Node[] }
  | { t: 'alt'; items: Node[] }
  | { t: 'repeat'; item: Node; min: number; max: number; mode: 'greedy' | 'lazy' | 'possessive' }
  | { t: 'group'; item: Node; index: number }
  | { t: 'atomic'; item: Node }
  | { t: 'look'; item: Node; ahead: boolean; negative: boolean }
  | { t: 'backref'; index: number; caseless: boolean }
  /** A subroutine call of a group; 0 is the whole expression. */
  | { t: 'call'; index: number }
  | { t: 'cond'; test: Condition; yes: Node; no: Node }
  | { t: 'assert'; kind: Assertion }
  | { t: 'keep' };

export interface ParsedRegex {
  root: Node;
  /** Number of capturing groups. */
  groups: number;
  /** Some part depends on the contents of a group: back-references, conditions, recursion. */
  captureDependent: boolean;
  /** It calls itself or one of its groups. */
  recursive: boolean;
  /** Two groups share a number, as in (?|…). */
  sharedNumbers: boolean;
}

/** An invalid expression: the reason, the position (from 0), and the offset that PCRE2 reports. */
export class RegexError extends Error {
  readonly position: number;
  readonly offset: number;

  constructor(message: string, position: number, offset = position) {
    super(message);
    this.offset = offset;
    this.name = 'RegexError';
    this.position = position;
  }
}

/** Can the node match the empty text? */
export function canBeEmpty(n: Node): boolean {
  switch (n.t) {
    case 'set':
      return false;
    case 'cat':
      return n.items.every(canBeEmpty);
    case 'alt':
      return n.items.some(canBeEmpty);
    case 'repeat':
      return n.min === 0 || canBeEmpty(n.item);
    case 'group':
    case 'atomic':
      return canBeEmpty(n.item);
    case 'cond':
      return canBeEmpty(n.yes) || canBeEmpty(n.no);
    default:
      return true;
  }
}

/** Length of all matches of the node, or -1 if it varies. `groups` has the bodies by number, for references; `depth`
 * ends a recursion. */
export function fixedLength(n: Node, groups: ReadonlyMap<number, Node>, depth = 0): number {
  const of = (item: Node): number => fixedLength(item, groups, depth);
  switch (n.t) {
    case 'empty':
    case 'assert':
    case 'look':
    case 'keep':
      return 0;
    case 'set':
      return 1;
    case 'cat': {
      let sum = 0;
      for (const i of n.items) {
        const l = of(i);
        if (l < 0) return -1;
        sum += l;
      }
      return sum;
    }
    case 'alt': {
      const first = of(n.items[0] as Node);
      return n.items.every((i) => of(i) === first) ? first : -1;
    }
    case 'repeat': {
      const l = of(n.item);
      return l >= 0 && n.min === n.max ? l * n.min : -1;
    }
    case 'group':
    case 'atomic':
      return of(n.item);
    case 'cond': {
      const yes = of(n.yes);
      return n.test.kind === 'never' ? 0 : yes === of(n.no) ? yes : -1;
    }
    case 'backref':
    case 'call': {
      const body = groups.get(n.index);
      return body === undefined || depth > 20 ? -1 : fixedLength(body, groups, depth + 1);
    }
  }
}
