// Static facts about an expression: the size of its program, the bytes that every match contains, whether matches
// begin at the start of the subject.

import { type ByteSet, type Node, RegexError } from './pattern-ast.ts';

/** Maximum instructions that an expression may expand to (chosen; PCRE2 has a limit of the same order). */
const MAX_SIZE = 200_000;

/** Number of instructions that a node expands to. Throws RegexError if too many. */
export function checkSize(n: Node): number {
  let size = 4;
  switch (n.t) {
    case 'cat':
    case 'alt':
      for (const i of n.items) size += checkSize(i);
      break;
    case 'repeat':
      size += (checkSize(n.item) + 4) * Math.max(1, n.max === Number.POSITIVE_INFINITY ? n.min + 1 : n.max);
      break;
    case 'cond':
      size += checkSize(n.yes) + checkSize(n.no) + (n.test.kind === 'look' ? checkSize(n.test.look) : 0);
      break;
    case 'group':
    case 'atomic':
    case 'look':
      size += checkSize(n.item);
      break;
  }
  if (size > MAX_SIZE * 4) throw new RegexError('regular expression is too large', 0);
  return size;
}

/** The byte of a set of one, else -1. */
export function singleByte(set: ByteSet): number {
  const first = set.indexOf(1);
  return first >= 0 && set.lastIndexOf(1) === first ? first : -1;
}

/** Bytes in every match: those outside of choices. */
export function requiredBytes(n: Node, into: Set<number>): void {
  switch (n.t) {
    case 'set': {
      const only = singleByte(n.set);
      if (only >= 0) into.add(only);
      return;
    }
    case 'cat':
      for (const i of n.items) requiredBytes(i, into);
      return;
    case 'group':
    case 'atomic':
      requiredBytes(n.item, into);
      return;
    case 'repeat':
      if (n.min > 0) requiredBytes(n.item, into);
      return;
  }
}

export function beginsAtStart(n: Node): boolean {
  switch (n.t) {
    case 'assert':
      return n.kind === 'start';
    case 'cat':
      return n.items.length > 0 && beginsAtStart(n.items[0] as Node);
    case 'alt':
      return n.items.every(beginsAtStart);
    case 'group':
    case 'atomic':
      return beginsAtStart(n.item);
    default:
      return false;
  }
}
