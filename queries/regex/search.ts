// The state of one search by the bounded matcher: its fuel, its place in the subject, the groups found so far, and the
// memory of choices that failed, which is made only when it is worth its cost. It decides nothing about matching.

import type { Program } from './instructions.ts';

/** Instructions that a search may execute for each unit of the match limit (decision 8). */
const FUEL_PER_UNIT = 64;
/** Bits of the memory of failed choices; without memory above it. */
const MAX_MEMORY = 64_000_000;
/** Length of a subject for which it is made at once (chosen). */
const LONG = 4096;

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

/** One search, over all its attempts. */
export interface Search {
  bytes: Uint8Array;
  from: number;
  /** Where the memory begins: a lookbehind may look before `from`. */
  base: number;
  notEmpty: boolean;
  slots: Int32Array;
  visited: Int32Array | null;
  remembers: boolean;
  /** The fuel at its begin. */
  limit: number;
  fuel: Fuel;
}

/** A search from an index. Its memory is made at once for a long subject, and otherwise when it has taken a while. */
export function beginSearch(
  p: Program,
  bytes: Uint8Array,
  from: number,
  fuel: Fuel,
  notEmpty: boolean,
): Search {
  const search: Search = {
    bytes,
    from,
    base: p.looksBehind ? 0 : from,
    notEmpty,
    slots: new Int32Array(p.slots),
    visited: null,
    remembers: true,
    limit: fuel.left,
    fuel,
  };
  search.remembers = p.remembered > 0 && p.remembered * (bytes.length - search.base + 1) <= MAX_MEMORY;
  if (notEmpty && p.movesStart) search.remembers = false;
  if (search.remembers && bytes.length - from > LONG) memoryOf(search, p);
  return search;
}

/** Makes the memory of a search. */
export function memoryOf(search: Search, p: Program): Int32Array {
  const bits = p.remembered * (search.bytes.length - search.base + 1);
  search.visited = new Int32Array((bits >> 5) + 1);
  return search.visited;
}

/** A copy of twice the size. */
export function larger(stack: Int32Array): Int32Array<ArrayBuffer> {
  const out = new Int32Array(stack.length * 2);
  out.set(stack);
  return out;
}
