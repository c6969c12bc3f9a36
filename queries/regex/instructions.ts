// Programs of the bounded matcher: a parsed expression as one flat array of numbers. Every instruction is an
// opcode and its operands; jumps are indexes into the array. Made by build-program.ts, run by bounded-matcher.ts.

import type { ByteSet } from './pattern-ast.ts';

/** [op, byte] */
export const CHAR = 0;
/** [op, offset of 256 flags in the table of sets] */
export const SET = 1;
/** [op, target tried first, target tried second, memory number or -1] */
export const SPLIT = 2;
/** [op, target] */
export const JUMP = 3;
/** [op, slot]: writes the position to a slot. */
export const SAVE = 4;
/** [op, kind] */
export const ASSERT = 5;
/** [op, slot, exit]: a turn of a loop that consumed nothing leaves it. */
export const PROGRESS = 6;
/** [op, group, caseless] */
export const BACKREF = 7;
/** [op, slot of three, memory number, exit, bytes to step back]: a lookahead (-1) or lookbehind; exit is
 * where a negative one goes on when its body fails, -1 for positive ones. */
export const LOOK = 8;
/** [op, slot of three, negative, after]: the body of a lookaround has matched. */
export const LOOK_END = 9;
/** [op, slot of three, memory number] */
export const ATOMIC = 10;
/** [op, slot of three] */
export const ATOMIC_END = 11;
/** [op, target, group] */
export const CALL = 12;
/** [op, group]: returns when the innermost call is one of this group. */
export const RETURN = 13;
/** [op, group, recursion, target if not] */
export const COND = 14;
export const MATCH = 15;
export const FAIL = 16;
/** [op, slot, slot of the start]: writes both ends of a group. A group that is referred to keeps what it held
 * until it is complete. */
export const CLOSE = 17;
/** [op, offset of a set, memory number or -1, exit]: a greedy loop over one set, each turn a choice. */
export const LOOP = 18;
/** [op, offset of a set]: takes all it can and gives nothing back. */
export const TAKE = 19;

/** Lengths of the instructions, by opcode. */
export const WIDTH: readonly number[] = [2, 2, 4, 2, 2, 2, 3, 3, 5, 4, 3, 2, 3, 2, 4, 1, 1, 3, 4, 2];

export const ASSERT_KINDS = [
  'start',
  'line-start',
  'end',
  'end-newline',
  'line-end',
  'word',
  'not-word',
  'search-start',
] as const;

export interface Program {
  code: Int32Array;
  sets: Uint8Array;
  /** Captures and the marks of loops, atomic groups and lookarounds. */
  slots: number;
  /** Slots 0 to this belong to the groups. */
  captureSlots: number;
  /** Choices that have a number in the memory. */
  remembered: number;
  /** Bytes that a match can begin with; null when it may be empty or begin with anything. */
  first: ByteSet | null;
  /** A match begins at the start of the subject. */
  anchored: boolean;
  /** It has a lookbehind, or a \K. */
  hasLookbehind: boolean;
  movesStart: boolean;
  /** What failed in one search may not fail in the next: it asks where the search began (\G), moves the start of the
   * match, or repeats what may be empty, and in the first search it may be. */
  isolated: boolean;
  /** Bytes every match holds, as one-byte texts. */
  required: string[];
}
