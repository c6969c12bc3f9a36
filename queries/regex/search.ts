// The state of searches by the bounded matcher: their fuel, the place in the subject, the groups found so far, and the
// memory of choices that failed, which is made only when it is worth its cost. It decides nothing about matching.
//
// A substitution searches one subject for all matches. They share the memory: a choice that failed fails in later
// searches too, and nothing is cleared but what the match itself went through. So all of them together try each choice
// once at a position, and make one memory. Special case: whether a choice fails may depend on its search, and then nothing
// outlives one (isolated, in instructions.ts).

import type { Program } from './instructions.ts';

/** Instructions that a search may execute for each unit of the match limit (decision 8). */
const FUEL_PER_UNIT = 64;
/** Bits of the memory of failed choices; without memory above it. */
const MAX_MEMORY = 64_000_000;
/** Length of a subject for which it is made at once (chosen). */
const LONG = 4096;
/** Words of memory that cost as much as an instruction, when it is made again (measured). */
const WORDS_PER_STEP = 8;

/** Ends of the whole and of the nine groups that a replacement can name. */
const MOST_CAPTURES = 20;
const NOTHING = new Int32Array(0);

/** A call in progress: its caller, its group, the place to continue at, and the saved slots. */
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

/** The instructions that searches may still execute; several searches may share one. */
export interface Fuel {
  left: number;
}

/** Fuel for a limit of Varnish's measure (its parameter pcre2_match_limit). */
export function fuelFor(matchLimit: number): Fuel {
  return { left: Math.min(matchLimit * FUEL_PER_UNIT, 1e9) };
}

export type Found = Int32Array | null | 'limit';

/** What the searches of one call over one subject share. Each begins where the one before it has ended. */
export class SearchMemory {
  /** A bit for each choice at each position, those of one position together. */
  visited: Int32Array | null = null;
  /** Where it begins: a lookbehind may look before the first search. */
  base = 0;
  /** The fuel when the first search began; -1 before that. */
  limit = -1;
  /** As they are between attempts: each brings back what it has written. */
  slots: Int32Array | null = null;
  /** The last match. */
  found = NOTHING;
  made = 0;

  /** A match has ended here: what it went through has not failed. Everything else before this is never asked again. */
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
  /** Null while there is none. */
  visited: Int32Array | null;
  remembers: boolean;
  memory: SearchMemory;
  fuel: Fuel;
}

/** A search from an index. The memory is made at once for a long subject, and otherwise when the searches have taken a
 * while. */
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

/** Makes the memory; returns how many instructions it counts as, beside the first one. */
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
