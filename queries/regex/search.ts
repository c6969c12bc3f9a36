// State of searches by the bounded matcher: fuel, position, groups found so far, and the memory of failed choices,
// which is only allocated when it pays off. A substitution searches one subject for all matches with a shared memory:
// a choice that failed fails in later searches too, and only the choices of the match itself are cleared. So all
// searches together try each choice once per position, with one allocation. Special case: if failures may depend on
// the search, nothing is shared (isolated, in instructions.ts).

import type { Program } from './instructions.ts';

/** Instructions per unit of the match limit (decision 8). */
const FUEL_PER_UNIT = 64;
/** Maximum bits of the memory of failed choices; no memory beyond. */
const MAX_MEMORY = 64_000_000;
/** Length of a subject for which it is allocated at once (chosen). */
const LONG = 4096;
/** Words of memory that cost as much as an instruction to clear (measured). */
const WORDS_PER_STEP = 8;

/** Ends of the whole match and of the nine groups that a replacement can reference. */
const MOST_CAPTURES = 20;
const NOTHING = new Int32Array(0);

/** A call in progress: its caller, its group, the return address, and the saved slots. */
export interface Frame {
  parent: Frame | null;
  group: number;
  back: number;
  slots: Int32Array;
}

/** The state that backtracking over a call or a return restores. */
export interface Undo {
  frame: Frame | null;
  slots: Int32Array | null;
}

/** Instructions that searches may still execute; several searches may share them. */
export interface Fuel {
  left: number;
}

/** Fuel for a limit in Varnish's unit (its parameter pcre2_match_limit). */
export function fuelFor(matchLimit: number): Fuel {
  return { left: Math.min(matchLimit * FUEL_PER_UNIT, 1e9) };
}

export type Found = Int32Array | null | 'limit';

/** State shared by the searches of one call over one subject. Each begins where the previous one ended. */
export class SearchMemory {
  /** One bit per choice and position, grouped by position. */
  visited: Int32Array | null = null;
  /** Its first position: a lookbehind may look before the first search. */
  base = 0;
  /** Fuel at the start of the first search; -1 before that. */
  limit = -1;
  /** Their state between attempts: each attempt restores what it has written. */
  slots: Int32Array | null = null;
  /** The last match. */
  found = NOTHING;
  made = 0;

  /** After a match ending here: clears the choices along its way, which have not failed. Earlier positions are never
   * visited again. */
  passed(p: Program, end: number, left: number): void {
    const { visited } = this;
    if (visited === null) return;
    if (p.isolated) {
      this.visited = null;
      this.limit = left;
      return;
    }
    let bit = (end - this.base) * p.remembered;
    const after = bit + p.remembered;
    while (bit < after && (bit & 31) !== 0) this.forget(visited, bit++);
    const words = (after - bit) >> 5;
    if (words > 0) {
      visited.fill(0, bit >> 5, (bit >> 5) + words);
      bit += words << 5;
    }
    while (bit < after) this.forget(visited, bit++);
  }

  private forget(visited: Int32Array, bit: number): void {
    visited[bit >> 5] = (visited[bit >> 5] as number) & ~(1 << (bit & 31));
  }
}

/** One search, over all its attempts. */
export interface Search {
  bytes: Uint8Array;
  from: number;
  notEmpty: boolean;
  slots: Int32Array;
  /** Null until allocated. */
  visited: Int32Array | null;
  remembers: boolean;
  memory: SearchMemory;
  fuel: Fuel;
}

/** A search from an index. The memory is allocated at once for a long subject, and otherwise after some instructions. */
export function beginSearch(
  p: Program,
  bytes: Uint8Array,
  from: number,
  fuel: Fuel,
  notEmpty: boolean,
  memory: SearchMemory,
): Search {
  const isFirst = memory.slots === null;
  if (memory.slots === null) {
    memory.slots = new Int32Array(p.slots).fill(-1);
    memory.found = new Int32Array(Math.min(p.captureSlots, MOST_CAPTURES));
    memory.base = p.hasLookbehind ? 0 : from;
    memory.limit = fuel.left;
  }
  const { base, slots } = memory;
  let remembers = p.remembered > 0 && p.remembered * (bytes.length - base + 1) <= MAX_MEMORY;
  if (notEmpty && p.movesStart) remembers = false;
  const visited = remembers ? memory.visited : null;
  const search: Search = { bytes, from, notEmpty, slots, visited, remembers, memory, fuel };
  if (remembers && isFirst && bytes.length - from > LONG) memoryOf(search, p);
  return search;
}

/** Allocates the memory; returns the instructions charged for it. */
export function memoryOf(search: Search, p: Program): number {
  const { memory, bytes } = search;
  const words = ((p.remembered * (bytes.length - memory.base + 1)) >> 5) + 1;
  memory.visited = new Int32Array(words);
  search.visited = memory.visited;
  return memory.made++ === 0 ? 0 : Math.ceil(words / WORDS_PER_STEP);
}

/** A copy of twice the size. */
export function larger(stack: Int32Array): Int32Array<ArrayBuffer> {
  const out = new Int32Array(stack.length * 2);
  out.set(stack);
  return out;
}
