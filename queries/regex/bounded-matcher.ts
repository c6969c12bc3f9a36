// A backtracking matcher with bounded time. A choice that failed once at a position is never tried there again, so
// that most expressions take linear time; the rest (back-references, lookarounds that look far) ends when the fuel is
// used up. Never recurses, never throws. Special case: a failure inside a lookaround or an atomic group is local to
// it, so its choices are forgotten when the body matches.

import { holds, repeated } from './at-position.ts';
import type { Program } from './instructions.ts';
import {
  beginSearch,
  type Found,
  type Frame,
  type Fuel,
  larger,
  memoryOf,
  type Search,
  SearchMemory,
  type Undo,
} from './search.ts';

// Opcodes are literal numbers in the switch: an imported constant costs a load and a compare per case, which makes
// the interpreter's switch ten times slower. Their names are next to them and in instructions.ts.

/** Instructions before the memory is allocated for a short subject (measured): most searches end sooner. */
const WITHOUT_MEMORY = 1000;
/** Initial entries of the stack; each is a number. */
const FIRST_STACK = 256;
const KEPT_STACK = 65_536;
/** Extra instructions charged for a call or a return (measured). PCRE2 allows fewer calls by its own limit. */
const COPY = 24;
const NO_SLOTS = new Int32Array(0);

export class BoundedMatcher {
  readonly #program: Program;
  #stack = new Int32Array(FIRST_STACK);
  /** The last subject and its bytes: a substitution searches the same one many times. */
  #text = '';
  #bytes: Uint8Array = new Uint8Array(0);

  constructor(program: Program) {
    this.#program = program;
  }

  /** Searches from an index; `notEmpty` excludes empty matches. The result has start and end of the whole and of the
   * first groups, -1 for unused ones, valid until the next search; 'limit' if the fuel was used up. `memory`: shared
   * by the searches of one call, all but the first of which exclude empty matches. */
  exec(s: string, from: number, fuel: Fuel, notEmpty = false, memory = new SearchMemory()): Found {
    const p = this.#program;
    for (const byte of p.required) if (!s.includes(byte, from)) return null;
    if (s !== this.#text) this.#bytes = Buffer.from(s, 'latin1');
    // Even if equal: the next search then compares identical strings, which is fast.
    this.#text = s;
    const bytes = this.#bytes;
    const search = beginSearch(p, bytes, from, fuel, notEmpty, memory);
    const { first } = p;
    const last = p.anchored ? 0 : s.length;
    let found: Found = null;
    for (let start = from; start <= last; start++) {
      if (first !== null && (start === s.length || first[bytes[start] as number] !== 1)) continue;
      const ended = this.#run(search, start);
      if (ended === null) continue;
      if (ended !== 'limit') memory.passed(p, ended[1] as number, fuel.left);
      found = ended;
      break;
    }
    if (this.#stack.length > KEPT_STACK) this.#stack = new Int32Array(FIRST_STACK);
    return found;
  }

  /** One attempt. */
  #run(search: Search, start: number): Found {
    const { bytes: s, from, slots, notEmpty, fuel } = search;
    const { base, limit } = search.memory;
    let { visited } = search;
    const { code, sets, remembered } = this.#program;
    const length = s.length;
    let stack = this.#stack;
    let left = fuel.left;
    // Pairs: (pc, position) is a choice, (-1 - slot, value) restores a slot, a slot after the last one is an entry of
    // `undos`.
    let sp = 0;
    let pc = 0;
    let pos = start;
    const trail: number[] = [];
    let frame: Frame | null = null;
    const undos: Undo[] = [];
    slots[0] = start;
    for (;;) {
      if (--left < 0) {
        fuel.left = 0;
        return 'limit';
      }
      if (sp + 8 > stack.length) {
        stack = larger(stack);
        this.#stack = stack;
      }
      let ok = true;
      switch (code[pc]) {
        // CHAR
        case 0:
          if (pos < length && s[pos] === code[pc + 1]) {
            pos++;
            pc += 2;
          } else ok = false;
          break;
        // SET
        case 1:
          if (pos < length && sets[(code[pc + 1] as number) + (s[pos] as number)] === 1) {
            pos++;
            pc += 2;
          } else ok = false;
          break;
        // SPLIT
        case 2: {
          const id = code[pc + 3] as number;
          if (id >= 0 && visited === null && left < limit - WITHOUT_MEMORY && search.remembers) {
            left -= memoryOf(search, this.#program);
            visited = search.visited;
          }
          if (id >= 0 && visited !== null) {
            const bit = (pos - base) * remembered + (id >> 1);
            const word = bit >> 5;
            const mask = 1 << (bit & 31);
            const old = visited[word] as number;
            if ((old & mask) !== 0) {
              ok = false;
              break;
            }
            visited[word] = old | mask;
            if ((id & 1) === 1) trail.push(bit);
          }
          stack[sp] = code[pc + 2] as number;
          stack[sp + 1] = pos;
          sp += 2;
          pc = code[pc + 1] as number;
          break;
        }
        // LOOP
        case 18: {
          const set = code[pc + 1] as number;
          const id = code[pc + 2] as number;
          const exit = code[pc + 3] as number;
          if (id >= 0 && visited === null && left < limit - WITHOUT_MEMORY && search.remembers) {
            left -= memoryOf(search, this.#program);
            visited = search.visited;
          }
          while (pos < length && sets[set + (s[pos] as number)] === 1) {
            if (id >= 0 && visited !== null) {
              const bit = (pos - base) * remembered + (id >> 1);
              const old = visited[bit >> 5] as number;
              const mask = 1 << (bit & 31);
              if ((old & mask) !== 0) {
                ok = false;
                break;
              }
              visited[bit >> 5] = old | mask;
              if ((id & 1) === 1) trail.push(bit);
            }
            if (sp + 8 > stack.length) {
              stack = larger(stack);
              this.#stack = stack;
            }
            stack[sp] = exit;
            stack[sp + 1] = pos++;
            sp += 2;
            left--;
          }
          pc = exit;
          break;
        }
        // TAKE
        case 19: {
          const set = code[pc + 1] as number;
          const began = pos;
          while (pos < length && sets[set + (s[pos] as number)] === 1) pos++;
          left -= (pos - began) >> 2;
          pc += 2;
          break;
        }
        // JUMP
        case 3:
          pc = code[pc + 1] as number;
          break;
        // SAVE
        case 4: {
          const slot = code[pc + 1] as number;
          stack[sp] = -1 - slot;
          stack[sp + 1] = slots[slot] as number;
          sp += 2;
          slots[slot] = pos;
          pc += 2;
          break;
        }
        // CLOSE
        case 17: {
          const slot = code[pc + 1] as number;
          stack[sp] = -1 - slot;
          stack[sp + 1] = slots[slot] as number;
          stack[sp + 2] = -2 - slot;
          stack[sp + 3] = slots[slot + 1] as number;
          sp += 4;
          slots[slot] = slots[code[pc + 2] as number] as number;
          slots[slot + 1] = pos;
          pc += 3;
          break;
        }
        // ASSERT
        case 5:
          if (holds(code[pc + 1] as number, s, pos, from)) pc += 2;
          else ok = false;
          break;
        // PROGRESS
        case 6:
          pc = slots[code[pc + 1] as number] === pos ? (code[pc + 2] as number) : pc + 3;
          break;
        // BACKREF
        case 7: {
          const group = code[pc + 1] as number;
          const a = slots[group * 2] as number;
          const b = slots[group * 2 + 1] as number;
          const end = a < 0 || b < 0 ? -1 : repeated(s, a, b, pos, code[pc + 2] === 1);
          left -= b > a ? (b - a) >> 3 : 0;
          if (end < 0) ok = false;
          else {
            pos = end;
            pc += 3;
          }
          break;
        }
        // LOOK
        case 8:
        // ATOMIC
        case 10: {
          const id = code[pc + 2] as number;
          if (id >= 0 && visited !== null) {
            const bit = (pos - base) * remembered + (id >> 1);
            const word = bit >> 5;
            const mask = 1 << (bit & 31);
            const old = visited[word] as number;
            if ((old & mask) !== 0) {
              ok = false;
              break;
            }
            visited[word] = old | mask;
            if ((id & 1) === 1) trail.push(bit);
          }
          const slot = code[pc + 1] as number;
          for (let i = 0; i < 3; i++) {
            stack[sp] = -1 - slot - i;
            stack[sp + 1] = slots[slot + i] as number;
            sp += 2;
          }
          slots[slot] = sp;
          slots[slot + 1] = pos;
          slots[slot + 2] = trail.length;
          if (code[pc] === 10) {
            pc += 3;
            break;
          }
          const exit = code[pc + 3] as number;
          if (exit >= 0) {
            stack[sp] = exit;
            stack[sp + 1] = pos;
            sp += 2;
          }
          const back = code[pc + 4] as number;
          pc += 5;
          if (back > 0) {
            pos -= back;
            // There is nothing before the start of the subject; the memory begins where the search did.
            if (pos < 0) ok = false;
          }
          break;
        }
        // LOOK_END
        case 9:
        // ATOMIC_END
        case 11: {
          const slot = code[pc + 1] as number;
          const look = code[pc] === 9;
          if (look && code[pc + 3] === 1 && pos !== slots[slot + 1]) {
            ok = false;
            break;
          }
          if (visited !== null) {
            const height = slots[slot + 2] as number;
            while (trail.length > height) {
              const bit = trail.pop() as number;
              visited[bit >> 5] = (visited[bit >> 5] as number) & ~(1 << (bit & 31));
            }
          }
          const floor = slots[slot] as number;
          if (look && code[pc + 2] === 1) {
            // A negative one has failed: everything since its start is undone, including its exit.
            while (sp > floor) {
              sp -= 2;
              const entry = stack[sp] as number;
              if (entry >= 0) continue;
              const value = stack[sp + 1] as number;
              if (-1 - entry < slots.length) slots[-1 - entry] = value;
              else {
                const undo = undos[value] as Undo;
                frame = undo.frame;
                if (undo.slots !== null) slots.set(undo.slots);
              }
            }
            ok = false;
            break;
          }
          if (look) pos = slots[slot + 1] as number;
          // Drops the choices, keeps the restores.
          let kept = floor;
          for (let i = floor; i < sp; i += 2) {
            if ((stack[i] as number) >= 0) continue;
            stack[kept] = stack[i] as number;
            stack[kept + 1] = stack[i + 1] as number;
            kept += 2;
          }
          left -= (sp - floor) >> 3;
          sp = kept;
          pc += look ? 4 : 2;
          break;
        }
        // CALL
        case 12:
          stack[sp] = -1 - slots.length;
          stack[sp + 1] = undos.push({ frame, slots: null }) - 1;
          sp += 2;
          frame = { parent: frame, group: code[pc + 2] as number, back: pc + 3, slots: slots.slice() };
          left -= COPY + slots.length;
          pc = code[pc + 1] as number;
          break;
        // RETURN
        case 13:
          if (frame === null || frame.group !== code[pc + 1]) {
            pc += 2;
            break;
          }
          stack[sp] = -1 - slots.length;
          stack[sp + 1] = undos.push({ frame, slots: slots.slice() }) - 1;
          sp += 2;
          left -= COPY + slots.length;
          // A start moved by \K stays moved.
          frame.slots[0] = slots[0] as number;
          slots.set(frame.slots);
          pc = frame.back;
          frame = frame.parent;
          break;
        // COND
        case 14: {
          const group = code[pc + 1] as number;
          const holdsNow =
            code[pc + 2] === 1
              ? frame !== null && (group === 0 || frame.group === group)
              : (slots[group * 2 + 1] as number) >= 0;
          pc = holdsNow ? pc + 4 : (code[pc + 3] as number);
          break;
        }
        // MATCH
        case 15:
          if (!notEmpty || pos !== slots[0]) {
            fuel.left = left;
            const { found } = search.memory;
            for (let i = 0; i < found.length; i++) found[i] = slots[i] as number;
            found[1] = pos;
            // Restores the slots as after a failed attempt.
            while (sp > 0) {
              sp -= 2;
              const entry = stack[sp] as number;
              if (entry >= 0) continue;
              const value = stack[sp + 1] as number;
              if (-1 - entry < slots.length) slots[-1 - entry] = value;
              else slots.set((undos[value] as Undo).slots ?? NO_SLOTS);
            }
            return found;
          }
          ok = false;
          break;
        // FAIL
        case 16:
          ok = false;
          break;
      }
      if (ok) continue;
      // Back to the last choice, restoring slots on the way.
      for (;;) {
        if (sp === 0) {
          fuel.left = left;
          return null;
        }
        sp -= 2;
        const entry = stack[sp] as number;
        const value = stack[sp + 1] as number;
        if (entry >= 0) {
          pc = entry;
          pos = value;
          break;
        }
        if (-1 - entry < slots.length) slots[-1 - entry] = value;
        else {
          const undo = undos[value] as Undo;
          frame = undo.frame;
          if (undo.slots !== null) slots.set(undo.slots);
          undos.length = value;
        }
      }
    }
  }
}
