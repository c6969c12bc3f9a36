// A backtracking matcher that cannot run away. Without back-references a pair of instruction and position that
// failed once is never tried again, so the time is linear in the subject; with them, and for lookaround, a step
// limit ends the search with an error, as the field's match limit does. No recursion, no exceptions.

import { type ByteSet, fixedLength, type Node, type ParsedRegex, RegexError } from './ast.ts';

/** Choices one search may make; some tens of milliseconds. */
export const STEP_LIMIT = 500_000;
const MAX_PROGRAM = 50_000;
/** Bits of the memory of failed pairs. */
const MAX_MEMORY = 256_000_000;

const SET = 0;
const SPLIT = 1;
const JUMP = 2;
const SAVE = 3;
const ASSERT = 4;
const LOOK = 5;
const ATOMIC = 6;
const BACKREF = 7;
const MATCH = 8;
const MARK = 9;
const PROGRESS = 10;

interface Instruction {
  op: number;
  /** First choice, jump target, slot or group. */
  x: number;
  /** Second choice; for LOOK 1 is negative. */
  y: number;
  set: ByteSet | null;
  sub: Program | null;
  /** LOOK: bytes to step back, -1 for ahead, or the alternatives of a lookbehind in `behind`. */
  behind: number;
  text: string;
}

interface Program {
  code: Instruction[];
}

/** Instructions a node needs. Throws RegexError when they are too many. */
export function checkSize(n: Node): number {
  let size = 2;
  switch (n.t) {
    case 'cat':
    case 'alt':
      for (const i of n.items) size += checkSize(i);
      break;
    case 'repeat':
      size += (checkSize(n.item) + 1) * Math.max(1, n.max === Number.POSITIVE_INFINITY ? n.min + 1 : n.max);
      break;
    case 'group':
    case 'atomic':
    case 'look':
      size += checkSize(n.item);
      break;
  }
  if (size > MAX_PROGRAM) throw new RegexError('regular expression is too large', 0);
  return size;
}

class Builder {
  readonly code: Instruction[] = [];
  readonly slots: { next: number };

  constructor(slots: { next: number }) {
    this.slots = slots;
  }

  emit(op: number, x = 0, y = 0): Instruction {
    const i: Instruction = { op, x, y, set: null, sub: null, behind: -1, text: '' };
    this.code.push(i);
    return i;
  }

  add(n: Node): void {
    switch (n.t) {
      case 'empty':
        return;
      case 'set':
        this.emit(SET).set = n.set;
        return;
      case 'cat':
        for (const i of n.items) this.add(i);
        return;
      case 'alt': {
        const jumps: Instruction[] = [];
        n.items.forEach((item, i) => {
          if (i === n.items.length - 1) {
            this.add(item);
            return;
          }
          const split = this.emit(SPLIT);
          split.x = this.code.length;
          this.add(item);
          jumps.push(this.emit(JUMP));
          split.y = this.code.length;
        });
        for (const j of jumps) j.x = this.code.length;
        return;
      }
      case 'group':
        this.emit(SAVE, n.index * 2);
        this.add(n.item);
        this.emit(SAVE, n.index * 2 + 1);
        return;
      case 'keep':
        this.emit(SAVE, 0);
        return;
      case 'assert':
        this.emit(ASSERT).text = n.kind;
        return;
      case 'backref':
        this.emit(BACKREF, n.index, n.caseless ? 1 : 0);
        return;
      case 'atomic':
        this.emit(ATOMIC).sub = subProgram(n.item, this.slots);
        return;
      case 'look': {
        if (n.ahead || n.item.t !== 'alt') {
          const i = this.emit(LOOK, 0, n.negative ? 1 : 0);
          i.sub = subProgram(n.item, this.slots);
          i.behind = n.ahead ? -1 : fixedLength(n.item);
          return;
        }
        // Alternatives of a lookbehind may have different lengths: each is its own lookbehind.
        const parts = n.item.items.map((item): Node => ({ ...n, item }));
        if (n.negative) for (const p of parts) this.add(p);
        else this.add({ t: 'alt', items: parts });
        return;
      }
      case 'repeat':
        this.repeat(n);
        return;
    }
  }

  private repeat(n: Extract<Node, { t: 'repeat' }>): void {
    if (n.mode === 'possessive') {
      this.emit(ATOMIC).sub = subProgram({ ...n, mode: 'greedy' }, this.slots);
      return;
    }
    for (let i = 0; i < n.min; i++) this.add(n.item);
    const choose = (): Instruction => this.emit(SPLIT);
    const enter = (split: Instruction, body: number, exit: number): void => {
      split.x = n.mode === 'lazy' ? exit : body;
      split.y = n.mode === 'lazy' ? body : exit;
    };
    if (n.max === Number.POSITIVE_INFINITY) {
      const slot = n.item.t === 'set' ? -1 : this.slots.next++;
      const at = this.code.length;
      const split = choose();
      const body = this.code.length;
      if (slot >= 0) this.emit(MARK, slot);
      this.add(n.item);
      if (slot >= 0) this.emit(PROGRESS, slot);
      this.emit(JUMP, at);
      enter(split, body, this.code.length);
      return;
    }
    const splits: [Instruction, number][] = [];
    for (let i = n.min; i < n.max; i++) {
      const split = choose();
      splits.push([split, this.code.length]);
      this.add(n.item);
    }
    for (const [split, body] of splits) enter(split, body, this.code.length);
  }
}

function subProgram(n: Node, slots: { next: number }): Program {
  const b = new Builder(slots);
  b.add(n);
  b.emit(MATCH);
  return { code: b.code };
}

/** State of one search, shared with its sub-searches. */
interface Search {
  steps: number;
  /** A whole match that ends here does not count; -1 is none such. */
  notEmpty: number;
  caps: Int32Array;
}

export type Found = Int32Array | null | 'limit';

export class BoundedMatcher {
  readonly #program: Program;
  readonly #memo: boolean;
  readonly #size: number;

  constructor(parsed: ParsedRegex) {
    checkSize(parsed.root);
    const slots = { next: (parsed.groups + 1) * 2 };
    this.#program = subProgram(parsed.root, slots);
    this.#memo = !parsed.backrefs;
    this.#size = slots.next;
  }

  /** Searches from an index; `notEmpty` leaves empty matches out. The result holds start and end of every group, -1 for one that took no part. */
  exec(s: string, from: number, notEmpty = false): Found {
    const search: Search = { steps: 0, notEmpty: -1, caps: new Int32Array(this.#size).fill(-1) };
    const bits = this.#program.code.length * (s.length - from + 1);
    if (this.#memo && bits > MAX_MEMORY) return 'limit';
    const visited = this.#memo ? new Uint32Array((bits >> 5) + 1) : null;
    for (let start = from; start <= s.length; start++) {
      search.caps.fill(-1);
      search.caps[0] = start;
      if (notEmpty) search.notEmpty = start;
      const end = run(this.#program, s, start, from, search, visited, this.#program);
      if (end === -2) return 'limit';
      if (end >= 0) {
        search.caps[1] = end;
        return search.caps;
      }
    }
    return null;
  }
}

/** Runs a program at a position: the end of the match, -1 for none, -2 when the limit was reached. */
function run(
  program: Program,
  s: string,
  start: number,
  base: number,
  search: Search,
  visited: Uint32Array | null,
  root: Program | null,
): number {
  const { code } = program;
  const caps = search.caps;
  const width = s.length - base + 1;
  // Entries are (pc, position), or (-1 - slot, old value) to restore a capture on the way back.
  const stack: number[] = [0, start];
  while (stack.length > 0) {
    let pos = stack.pop() as number;
    let pc = stack.pop() as number;
    if (pc < 0) {
      caps[-1 - pc] = pos;
      continue;
    }
    for (;;) {
      const i = code[pc] as Instruction;
      if ((i.op === SPLIT || i.op >= LOOK) && ++search.steps > STEP_LIMIT) return -2;
      if (visited !== null && i.op === SPLIT) {
        const bit = pc * width + pos - base;
        const word = bit >> 5;
        const mask = 1 << (bit & 31);
        if (((visited[word] as number) & mask) !== 0) break;
        visited[word] = (visited[word] as number) | mask;
      }
      let ok = true;
      switch (i.op) {
        case SET:
          ok = pos < s.length && (i.set as ByteSet)[s.charCodeAt(pos)] === 1;
          if (ok) {
            pos++;
            pc++;
          }
          break;
        case SPLIT:
          stack.push(i.y, pos);
          pc = i.x;
          break;
        case JUMP:
          pc = i.x;
          break;
        case SAVE:
        case MARK:
          stack.push(-1 - i.x, caps[i.x] as number);
          caps[i.x] = pos;
          pc++;
          break;
        case PROGRESS:
          // A turn that consumed nothing leaves the loop instead of starting again.
          pc = caps[i.x] === pos ? pc + 2 : pc + 1;
          break;
        case ASSERT:
          ok = holds(i.text, s, pos);
          if (ok) pc++;
          break;
        case BACKREF: {
          const end = reference(s, pos, caps, i);
          ok = end >= 0;
          if (ok) {
            pos = end;
            pc++;
          }
          break;
        }
        case LOOK: {
          const at = i.behind < 0 ? pos : pos - i.behind;
          const before = caps.slice();
          const end =
            at < 0
              ? -1
              : run(i.sub as Program, s, at, at, search, fresh(visited, i.sub as Program, s, at), null);
          if (end === -2) return -2;
          const hit = end >= 0 && (i.behind < 0 || end === pos);
          ok = hit !== (i.y === 1);
          if (!ok || i.y === 1) caps.set(before);
          else
            for (let k = 0; k < caps.length; k++)
              if (caps[k] !== before[k]) stack.push(-1 - k, before[k] as number);
          if (ok) pc++;
          break;
        }
        case ATOMIC: {
          const before = caps.slice();
          const end = run(
            i.sub as Program,
            s,
            pos,
            pos,
            search,
            fresh(visited, i.sub as Program, s, pos),
            null,
          );
          if (end === -2) return -2;
          ok = end >= 0;
          if (!ok) caps.set(before);
          else {
            for (let k = 0; k < caps.length; k++)
              if (caps[k] !== before[k]) stack.push(-1 - k, before[k] as number);
            pos = end;
            pc++;
          }
          break;
        }
        default:
          if (pos !== search.notEmpty || root !== program) return pos;
          ok = false;
      }
      if (!ok) break;
    }
  }
  return -1;
}

/** Memory for a sub-search: only worth it when the body has choices, and small enough. */
function fresh(visited: Uint32Array | null, sub: Program, s: string, base: number): Uint32Array | null {
  if (visited === null) return null;
  if (!sub.code.some((i) => i.op === SPLIT)) return null;
  const bits = sub.code.length * (s.length - base + 1);
  return bits > 1_000_000 ? null : new Uint32Array((bits >> 5) + 1);
}

function isWordAt(s: string, i: number): boolean {
  if (i < 0 || i >= s.length) return false;
  const c = s.charCodeAt(i);
  return (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || c === 95 || (c >= 97 && c <= 122);
}

function holds(kind: string, s: string, pos: number): boolean {
  switch (kind) {
    case 'start':
      return pos === 0;
    case 'line-start':
      return pos === 0 || s.charCodeAt(pos - 1) === 10;
    case 'end':
      return pos === s.length;
    case 'end-newline':
      return pos === s.length || (pos === s.length - 1 && s.charCodeAt(pos) === 10);
    case 'line-end':
      return pos === s.length || s.charCodeAt(pos) === 10;
    case 'word':
      return isWordAt(s, pos - 1) !== isWordAt(s, pos);
    default:
      return isWordAt(s, pos - 1) === isWordAt(s, pos);
  }
}

/** End of a back-reference's text at `pos`, or -1. A group that took no part matches nothing. */
function reference(s: string, pos: number, caps: Int32Array, i: Instruction): number {
  const from = caps[i.x * 2] as number;
  const to = caps[i.x * 2 + 1] as number;
  if (from < 0 || to < 0) return -1;
  const length = to - from;
  let a = s.slice(from, to);
  let b = s.slice(pos, pos + length);
  if (i.y === 1) {
    a = a.toLowerCase();
    b = b.toLowerCase();
  }
  return a === b ? pos + length : -1;
}
