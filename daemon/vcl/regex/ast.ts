// Syntax tree of a regular expression over bytes: subjects are byte strings, so a class is 256 flags and case
// is folded into it while parsing.

export type ByteSet = Uint8Array;

export type Assertion = 'start' | 'line-start' | 'end' | 'end-newline' | 'line-end' | 'word' | 'not-word';

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
  | { t: 'assert'; kind: Assertion }
  | { t: 'keep' };

export interface ParsedRegex {
  root: Node;
  /** Number of capturing groups. */
  groups: number;
  names: Map<string, number>;
  backrefs: boolean;
}

/** An expression that cannot be compiled: why, and where in it (from 0). */
export class RegexError extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'RegexError';
    this.position = position;
  }
}

/** Whether the node can match the empty text. */
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
    default:
      return true;
  }
}

/** Length of everything the node matches, or -1 when it varies. */
export function fixedLength(n: Node): number {
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
        const l = fixedLength(i);
        if (l < 0) return -1;
        sum += l;
      }
      return sum;
    }
    case 'alt': {
      const lengths = n.items.map(fixedLength);
      return lengths.every((l) => l === lengths[0]) ? (lengths[0] ?? 0) : -1;
    }
    case 'repeat': {
      const l = fixedLength(n.item);
      return l >= 0 && n.min === n.max ? l * n.min : l === 0 ? 0 : -1;
    }
    case 'group':
    case 'atomic':
      return fixedLength(n.item);
    case 'backref':
      return -1;
  }
}
