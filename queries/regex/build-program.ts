// Generates the program of a parsed expression. Special case: a choice has a number in the memory of failed choices
// only if nothing after it depends on the contents of a group.

import { firstBytes } from './analyse.ts';
import {
  ASSERT,
  ASSERT_KINDS,
  ATOMIC,
  ATOMIC_END,
  BACKREF,
  CALL,
  CHAR,
  CLOSE,
  COND,
  FAIL,
  JUMP,
  LOOK,
  LOOK_END,
  LOOP,
  MATCH,
  PROGRESS,
  type Program,
  RETURN,
  SAVE,
  SET,
  SPLIT,
  TAKE,
  WIDTH,
} from './instructions.ts';
import { type ByteSet, canBeEmpty, fixedLength, type Node, type ParsedRegex } from './pattern-ast.ts';
import { beginsAtStart, checkSize, requiredBytes, singleByte } from './program-facts.ts';

/** Slots of an atomic group or lookaround: height of the stack, position, height of the trail. */
const FRAME = 3;

class Builder {
  readonly code: number[] = [];
  readonly sets: ByteSet[] = [];
  slots: number;
  remembered = 0;
  hasLookbehind = false;
  movesStart = false;
  isolated = false;
  /** Nesting of lookarounds and atomic groups at the current position. */
  #inside = 0;
  readonly #parsed: ParsedRegex;
  /** Entry points of group bodies, and calls waiting for them. */
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
        // A group in a repeat of zero iterations, or in a DEFINE: its body exists for calls only.
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
        this.isolated = true;
        this.emit(SAVE, 0);
        return;
      case 'assert':
        if (n.kind === 'search-start') this.isolated = true;
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

  /** Offset of a set in the table. */
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

  /** A number in the memory; its lowest bit is set within a body. */
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
    // Alternatives of a lookbehind may have different lengths: each becomes its own lookbehind.
    if (!n.ahead && n.item.t === 'alt') {
      const parts = n.item.items.map((item): Node => ({ ...n, item }));
      if (n.negative) for (const part of parts) this.add(part);
      else this.#atomic({ t: 'alt', items: parts });
      return;
    }
    const slot = this.#frame();
    if (!n.ahead) this.hasLookbehind = true;
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
    // The last mandatory iteration of an endless loop is its body: `body, again?`.
    const before = endless && n.min > 0 ? n.min - 1 : n.min;
    for (let i = 0; i < before; i++) this.add(n.item);
    const enter = (split: number, body: number, exit: number): void => {
      this.code[split + 1] = n.mode === 'lazy' ? exit : body;
      this.code[split + 2] = n.mode === 'lazy' ? body : exit;
    };
    if (endless) {
      const slot = canBeEmpty(n.item) ? this.slots++ : -1;
      if (slot >= 0) this.isolated = true;
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

  /** Removes the numbers of choices whose outcome depends on captures. */
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

/** Marks every instruction from which one that reads a capture is reachable. */
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

/** Throws RegexError if the expression is too large. */
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
    hasLookbehind: b.hasLookbehind,
    movesStart: b.movesStart,
    isolated: b.isolated,
    required: [...required].slice(0, 4).map((c) => String.fromCharCode(c)),
  };
}
