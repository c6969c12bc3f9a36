// Programs of the bounded matcher: a parsed expression as one flat array of numbers. Every instruction is an
// opcode and its operands; jumps are indexes into the array. Awkward: a choice has a number in the memory of
// failed choices only when nothing that can follow it asks what a group holds.

import { firstBytes } from './analyse.ts';
import { type ByteSet, canBeEmpty, fixedLength, type Node, type ParsedRegex, RegexError } from './ast.ts';

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
/** [op, slot of three, negative, behind]: the body of a lookaround has matched. */
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
const WIDTH: readonly number[] = [2, 2, 4, 2, 2, 2, 3, 3, 5, 4, 3, 2, 3, 2, 4, 1, 1, 3, 4, 2];

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
  looksBehind: boolean;
  movesStart: boolean;
  /** Bytes every match holds, as one-byte texts. */
  required: string[];
}

/** Instructions an expression may expand to; the field's library has a limit of the same order. */
const MAX_SIZE = 200_000;

/** Numbers a node expands to. Throws RegexError when they are too many. */
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

/** Slots of an atomic group or lookaround: height of the stack, position, height of the trail. */
const FRAME = 3;

class Builder {
  readonly code: number[] = [];
  readonly sets: ByteSet[] = [];
  slots: number;
  remembered = 0;
  looksBehind = false;
  movesStart = false;
  /** Bodies of lookarounds and atomic groups around what is added. */
  #inside = 0;
  readonly #parsed: ParsedRegex;
  /** Where the bodies of groups begin, and the calls that wait for it. */
  readonly #entries = new Map<number, number>();
  readonly #calls: { at: number; index: number }[] = [];
  readonly #bodies = new Map<number, Node>();

  constructor(parsed: ParsedRegex) {
    this.#parsed = parsed;
    this.slots = (parsed.groups + 1) * 2;
    collectGroups(parsed.root, this.#bodies);
  }

  build(): void {
    this.#entries.set(0, 0);
    this.add(this.#parsed.root);
    if (this.#parsed.recursive) this.emit(RETURN, 0);
    this.emit(MATCH);
    for (const c of this.#calls) {
      let entry = this.#entries.get(c.index);
      if (entry === undefined) {
        // A group in a repeat of no turns, or in a DEFINE: its body exists for calls only.
        entry = this.code.length;
        const body = this.#bodies.get(c.index);
        if (body !== undefined) this.add(body);
        this.emit(FAIL);
      }
      this.code[c.at + 1] = entry;
    }
  }

  emit(op: number, ...operands: number[]): number {
    const at = this.code.length;
    this.code.push(op, ...operands);
    return at;
  }

  add(n: Node): void {
    switch (n.t) {
      case 'empty':
        return;
      case 'set':
        this.#set(n.set);
        return;
      case 'cat':
        for (const i of n.items) this.add(i);
        return;
      case 'alt':
        this.#alternatives(n.items);
        return;
      case 'group':
        if (!this.#entries.has(n.index)) this.#entries.set(n.index, this.code.length);
        if (this.#parsed.captureDependent) {
          const begin = this.slots++;
          this.emit(SAVE, begin);
          this.add(n.item);
          this.emit(CLOSE, n.index * 2, begin);
        } else {
          this.emit(SAVE, n.index * 2);
          this.add(n.item);
          this.emit(SAVE, n.index * 2 + 1);
        }
        if (this.#parsed.recursive) this.emit(RETURN, n.index);
        return;
      case 'keep':
        this.movesStart = true;
        this.emit(SAVE, 0);
        return;
      case 'assert':
        this.emit(ASSERT, ASSERT_KINDS.indexOf(n.kind));
        return;
      case 'backref':
        this.emit(BACKREF, n.index, n.caseless ? 1 : 0);
        return;
      case 'call':
        this.#calls.push({ at: this.emit(CALL, 0, n.index), index: n.index });
        return;
      case 'atomic':
        this.#atomic(n.item);
        return;
      case 'look':
        this.#look(n);
        return;
      case 'cond':
        this.#conditional(n);
        return;
      case 'repeat':
        this.#repeat(n);
        return;
    }
  }

  #set(set: ByteSet): void {
    const only = singleByte(set);
    if (only >= 0) this.emit(CHAR, only);
    else this.emit(SET, this.#offset(set));
  }

  /** Where a set stands in the table. */
  #offset(set: ByteSet): number {
    const index = this.sets.findIndex((s) => s === set || s.every((v, i) => v === set[i]));
    return (index < 0 ? this.sets.push(set) - 1 : index) * 256;
  }

  #alternatives(items: readonly Node[]): void {
    const jumps: number[] = [];
    items.forEach((item, i) => {
      if (i === items.length - 1) {
        this.add(item);
        return;
      }
      const split = this.emit(SPLIT, 0, 0, this.#remember());
      this.code[split + 1] = this.code.length;
      this.add(item);
      jumps.push(this.emit(JUMP, 0));
      this.code[split + 2] = this.code.length;
    });
    for (const j of jumps) this.code[j + 1] = this.code.length;
  }

  /** A number in the memory: its lowest bit says that it belongs to a body. */
  #remember(): number {
    return this.#parsed.recursive ? -1 : (this.remembered++ << 1) | (this.#inside > 0 ? 1 : 0);
  }

  #frame(): number {
    const slot = this.slots;
    this.slots += FRAME;
    return slot;
  }

  #atomic(item: Node): void {
    const slot = this.#frame();
    this.emit(ATOMIC, slot, this.#remember());
    this.#inside++;
    this.add(item);
    this.#inside--;
    this.emit(ATOMIC_END, slot);
  }

  #look(n: Extract<Node, { t: 'look' }>): void {
    // Alternatives of a lookbehind may have different lengths: each is its own lookbehind.
    if (!n.ahead && n.item.t === 'alt') {
      const parts = n.item.items.map((item): Node => ({ ...n, item }));
      if (n.negative) for (const part of parts) this.add(part);
      else this.#atomic({ t: 'alt', items: parts });
      return;
    }
    const slot = this.#frame();
    if (!n.ahead) this.looksBehind = true;
    const back = n.ahead ? -1 : fixedLength(n.item, this.#bodies);
    const at = this.emit(LOOK, slot, this.#remember(), -1, back);
    this.#inside++;
    this.add(n.item);
    this.#inside--;
    this.emit(LOOK_END, slot, n.negative ? 1 : 0, n.ahead ? 0 : 1);
    if (n.negative) this.code[at + 3] = this.code.length;
  }

  #conditional(n: Extract<Node, { t: 'cond' }>): void {
    const { test } = n;
    if (test.kind === 'never') {
      const skip = this.emit(JUMP, 0);
      this.add(n.yes);
      this.code[skip + 1] = this.code.length;
      return;
    }
    if (test.kind === 'look') {
      const asked = test.look as Extract<Node, { t: 'look' }>;
      // (?(look)yes|no) is look then yes, or its opposite then no.
      this.add({
        t: 'alt',
        items: [
          { t: 'cat', items: [asked, n.yes] },
          { t: 'cat', items: [{ ...asked, negative: !asked.negative }, n.no] },
        ],
      });
      return;
    }
    const at = this.emit(COND, test.index, test.kind === 'recursion' ? 1 : 0, 0);
    this.add(n.yes);
    const end = this.emit(JUMP, 0);
    this.code[at + 3] = this.code.length;
    this.add(n.no);
    this.code[end + 1] = this.code.length;
  }

  #repeat(n: Extract<Node, { t: 'repeat' }>): void {
    if (n.item.t === 'set' && n.max === Number.POSITIVE_INFINITY && n.mode !== 'lazy') {
      for (let i = 0; i < n.min; i++) this.add(n.item);
      const set = this.#offset(n.item.set);
      if (n.mode === 'possessive') this.emit(TAKE, set);
      else this.emit(LOOP, set, this.#remember(), this.code.length + 4);
      return;
    }
    if (n.mode === 'possessive') {
      this.#atomic({ ...n, mode: 'greedy' });
      return;
    }
    const endless = n.max === Number.POSITIVE_INFINITY;
    // The last obligatory turn of an endless loop is its body already: `body, again?`.
    const before = endless && n.min > 0 ? n.min - 1 : n.min;
    for (let i = 0; i < before; i++) this.add(n.item);
    const enter = (split: number, body: number, exit: number): void => {
      this.code[split + 1] = n.mode === 'lazy' ? exit : body;
      this.code[split + 2] = n.mode === 'lazy' ? body : exit;
    };
    if (endless) {
      const slot = canBeEmpty(n.item) ? this.slots++ : -1;
      const ahead = n.min > 0 ? -1 : this.emit(SPLIT, 0, 0, this.#remember());
      const body = this.code.length;
      if (slot >= 0) this.emit(SAVE, slot);
      this.add(n.item);
      const progress = slot >= 0 ? this.emit(PROGRESS, slot, 0) : -1;
      const again = ahead >= 0 ? this.emit(JUMP, ahead) : this.emit(SPLIT, 0, 0, this.#remember());
      if (progress >= 0) this.code[progress + 2] = this.code.length;
      enter(ahead >= 0 ? ahead : again, body, this.code.length);
      return;
    }
    const splits: number[] = [];
    for (let i = n.min; i < n.max; i++) {
      splits.push(this.emit(SPLIT, 0, 0, this.#remember()));
      this.add(n.item);
    }
    for (const split of splits) enter(split, split + (WIDTH[SPLIT] as number), this.code.length);
  }

  /** Takes the numbers from choices whose outcome depends on captures. */
  forgetDependent(): void {
    const dependent = reachesCaptures(this.code);
    for (let pc = 0; pc < this.code.length; pc += WIDTH[this.code[pc] as number] as number) {
      const op = this.code[pc];
      if (op !== SPLIT && op !== LOOP && op !== LOOK && op !== ATOMIC) continue;
      if (dependent[pc] === 1) this.code[pc + (op === SPLIT ? 3 : 2)] = -1;
    }
  }
}

function collectGroups(n: Node, into: Map<number, Node>): void {
  switch (n.t) {
    case 'cat':
    case 'alt':
      for (const i of n.items) collectGroups(i, into);
      return;
    case 'cond':
      if (n.test.kind === 'look') collectGroups(n.test.look, into);
      collectGroups(n.yes, into);
      collectGroups(n.no, into);
      return;
    case 'group':
      if (!into.has(n.index)) into.set(n.index, n);
      collectGroups(n.item, into);
      return;
    case 'repeat':
    case 'atomic':
    case 'look':
      collectGroups(n.item, into);
      return;
  }
}

/** Marks every instruction from which one that reads a capture can be reached. */
function reachesCaptures(code: readonly number[]): Uint8Array {
  const marks = new Uint8Array(code.length + 1);
  const order: number[] = [];
  for (let pc = 0; pc < code.length; pc += WIDTH[code[pc] as number] as number) order.push(pc);
  for (let changed = true; changed; ) {
    changed = false;
    for (let i = order.length - 1; i >= 0; i--) {
      const pc = order[i] as number;
      if (marks[pc] === 1) continue;
      const op = code[pc] as number;
      let mark = op === BACKREF || op === COND;
      for (const next of successors(code, pc)) mark ||= marks[next] === 1;
      if (!mark) continue;
      marks[pc] = 1;
      changed = true;
    }
  }
  return marks;
}

function successors(code: readonly number[], pc: number): number[] {
  const op = code[pc] as number;
  const next = pc + (WIDTH[op] as number);
  switch (op) {
    case SPLIT:
      return [code[pc + 1] as number, code[pc + 2] as number];
    case LOOP:
      return [code[pc + 3] as number];
    case JUMP:
      return [code[pc + 1] as number];
    case PROGRESS:
      return [next, code[pc + 2] as number];
    case LOOK:
      return (code[pc + 3] as number) < 0 ? [next] : [next, code[pc + 3] as number];
    case MATCH:
    case FAIL:
      return [];
    default:
      return [next];
  }
}

/** The byte of a set of one, else -1. */
function singleByte(set: ByteSet): number {
  const first = set.indexOf(1);
  return first >= 0 && set.lastIndexOf(1) === first ? first : -1;
}

/** Bytes without which nothing matches: those that stand outside of choices. */
function requiredBytes(n: Node, into: Set<number>): void {
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

function beginsAtStart(n: Node): boolean {
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

/** Throws RegexError when the expression is too large. */
export function makeProgram(parsed: ParsedRegex): Program {
  checkSize(parsed.root);
  const b = new Builder(parsed);
  b.build();
  if (parsed.captureDependent && !parsed.recursive) b.forgetDependent();
  const sets = new Uint8Array(b.sets.length * 256);
  b.sets.forEach((set, i) => {
    sets.set(set, i * 256);
  });
  const required = new Set<number>();
  requiredBytes(parsed.root, required);
  return {
    code: Int32Array.from(b.code),
    sets,
    slots: b.slots,
    captureSlots: (parsed.groups + 1) * 2,
    remembered: b.remembered,
    first: parsed.recursive ? null : firstBytes(parsed.root),
    anchored: beginsAtStart(parsed.root),
    looksBehind: b.looksBehind,
    movesStart: b.movesStart,
    required: [...required].slice(0, 4).map((c) => String.fromCharCode(c)),
  };
}
