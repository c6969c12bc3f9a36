// Worst-case run time of a backtracking engine: the subject length up to which JavaScript's own engine is certain to
// be fast. A loop whose body can match one text in two ways is exponential and gets 0; otherwise the time grows as a
// power of the length, by the number of loops that can exchange text with each other.

import { type ByteSet, canBeEmpty, type Node } from './pattern-ast.ts';

/** Steps that take at most about two milliseconds (measured). */
const BUDGET = 1_000_000;
/** Counted repeats with a wider range than this count as loops. */
const NARROW = 10;

interface Cost {
  exponential: boolean;
  /** Loops that may give text back to a neighbour, and loops that cannot. */
  loose: number;
  strict: number;
  /** Ways to choose among optional parts and alternatives. */
  factor: number;
}

/** Growth of the steps of JavaScript's engine with the length n of a subject: at most factor * n^degree / ways. */
export interface Growth {
  degree: number;
  /** Loops that share a text of n bytes have n over `degree` ways to do so. */
  ways: number;
  factor: number;
}

/** Null if they may grow exponentially. `fromStart`: the search begins at the start of the subject, where a leading .*
 * makes later starts pointless. */
export function growth(root: Node, fromStart = true): Growth | null {
  const c = cost(root, null, true);
  if (c.exponential || c.factor > 10_000) return null;
  const inner = c.loose + (c.strict > 0 ? 1 : 0);
  const oneStart = startsAnchored(root) || (fromStart && leadingDots(root) !== null);
  // Loops that cannot match a first byte do their work once for all starts.
  const first = firstBytes(root);
  const apart = first !== null && loopSets(root, []).every((set) => disjoint(set, first));
  const degree = oneStart || apart ? Math.max(inner, oneStart ? 0 : 1) : inner + 1;
  let ways = 1;
  for (let d = 2; d <= degree; d++) ways *= d;
  return { degree, ways, factor: c.factor };
}

/** Longest subject for which JavaScript's engine stays within the budget; 0 for none. */
export function safeLength(root: Node, fromStart = true): number {
  const g = growth(root, fromStart);
  if (g === null) return 0;
  return g.degree === 0 ? BUDGET : Math.floor(((BUDGET * g.ways) / g.factor) ** (1 / g.degree));
}

/** The set of a .* at the start of every match, with or without newline; null if there is none. */
export function leadingDots(n: Node): ByteSet | null {
  switch (n.t) {
    case 'cat':
      return n.items.length > 0 ? leadingDots(n.items[0] as Node) : null;
    case 'group':
      return leadingDots(n.item);
    case 'repeat': {
      if (n.mode === 'possessive' || n.min > 0 || n.max !== Number.POSITIVE_INFINITY) return null;
      return n.item.t === 'set' && n.item.set.every((v, c) => v === 1 || c === 10) ? n.item.set : null;
    }
    default:
      return null;
  }
}

/** Sets of all loops; any byte for a loop over more than a set. */
function loopSets(n: Node, into: ByteSet[]): ByteSet[] {
  switch (n.t) {
    case 'set':
      return into;
    case 'cat':
    case 'alt':
      for (const i of n.items) loopSets(i, into);
      return into;
    case 'group':
    case 'atomic':
      return loopSets(n.item, into);
    case 'repeat':
      if (n.max - n.min <= NARROW && n.max <= NARROW) return loopSets(n.item, into);
      into.push(n.item.t === 'set' ? n.item.set : new Uint8Array(256).fill(1));
      return into;
    case 'look':
      into.push(new Uint8Array(256).fill(1));
      return into;
    default:
      return into;
  }
}

function startsAnchored(n: Node): boolean {
  switch (n.t) {
    case 'assert':
      return n.kind === 'start';
    case 'cat':
      return n.items.length > 0 && startsAnchored(n.items[0] as Node);
    case 'alt':
      return n.items.every(startsAnchored);
    case 'group':
    case 'atomic':
      return startsAnchored(n.item);
    default:
      return false;
  }
}

const NOTHING: Cost = { exponential: false, loose: 0, strict: 0, factor: 1 };

function add(a: Cost, b: Cost): Cost {
  return {
    exponential: a.exponential || b.exponential,
    loose: a.loose + b.loose,
    strict: a.strict + b.strict,
    factor: Math.min(1e9, a.factor * b.factor),
  };
}

/** `last`: the rest matches whatever this consumes, so it is never backtracked into. */
function cost(n: Node, follow: ByteSet | null, last: boolean): Cost {
  switch (n.t) {
    case 'cat': {
      // From the end: the continuation of an item is known then, and long texts take linear time.
      let sum = NOTHING;
      let after = follow;
      let free = last;
      for (let i = n.items.length - 1; i >= 0; i--) {
        const item = n.items[i] as Node;
        sum = add(sum, cost(item, after, free));
        after = firstOf(item, after);
        free &&= item.t === 'empty' || (item.t === 'repeat' && item.min === 0);
      }
      return sum;
    }
    case 'alt': {
      const all = n.items.map((i) => cost(i, follow, last));
      const overlap = !disjointFirsts(n.items);
      return {
        exponential: all.some((c) => c.exponential),
        loose: Math.max(...all.map((c) => c.loose)),
        strict: Math.max(...all.map((c) => c.strict)),
        factor: Math.max(...all.map((c) => c.factor)) * (overlap ? n.items.length : 1),
      };
    }
    case 'group':
    case 'atomic':
      return cost(n.item, follow, last);
    case 'look':
      return add(cost(n.item, null, false), { ...NOTHING, strict: 1 });
    case 'repeat':
      return repeatCost(n, follow, last);
    default:
      return NOTHING;
  }
}

function repeatCost(n: Extract<Node, { t: 'repeat' }>, follow: ByteSet | null, last: boolean): Cost {
  const span = n.max - n.min;
  if (span <= NARROW) {
    if (n.max <= 1) {
      const inner = cost(n.item, follow, last);
      return { ...inner, factor: inner.factor * (span > 0 && !last ? 2 : 1) };
    }
    const inner = cost(n.item, null, false);
    // A long fixed sequence is matched again from every start.
    const turns = Math.max(1, n.max / 4);
    const loops = inner.loose + inner.strict > 0;
    return {
      exponential: inner.exponential || (loops && n.max > 3),
      loose: inner.loose * n.max + (loops ? inner.strict * n.max : 0),
      strict: inner.strict,
      factor: Math.min(1e9, inner.factor ** n.max * (span + 1) * turns),
    };
  }
  if (n.item.t === 'set') {
    if (last && n.min <= 1) return NOTHING;
    const strict = follow !== null && disjoint(n.item.set, follow);
    return strict || n.mode === 'possessive' ? { ...NOTHING, strict: 1 } : { ...NOTHING, loose: 1 };
  }
  // A longer body is only safe if a text can be split into iterations in a single way: every loop in it must end
  // where its continuation begins, including the next iteration.
  const again = firstOf(n.item, null);
  const next = again === null || follow === null ? null : union([again, follow]);
  const inner = cost(n.item, next, false);
  const single = inner.loose === 0 && inner.factor === 1 && plain(n.item);
  return { exponential: !single, loose: 1, strict: inner.strict, factor: 1 };
}

/** A body without choices: fixed text or classes, loops over classes, or alternatives that differ in their first byte. */
function plain(n: Node): boolean {
  switch (n.t) {
    case 'set':
      return true;
    case 'cat':
      return n.items.some((i) => i.t === 'set') && n.items.every((i) => plain(i) || isSetLoop(i));
    case 'group':
      return plain(n.item);
    case 'alt':
      return n.items.every(plain) && disjointFirsts(n.items);
    default:
      return false;
  }
}

function isSetLoop(n: Node): boolean {
  return n.t === 'repeat' && n.item.t === 'set' && n.max === Number.POSITIVE_INFINITY;
}

function disjointFirsts(items: readonly Node[]): boolean {
  const seen = new Uint8Array(256);
  for (const item of items) {
    const set = firstOf(item, null);
    if (set === null || !disjoint(set, seen)) return false;
    for (let c = 0; c < 256; c++) if (set[c] === 1) seen[c] = 1;
  }
  return true;
}

function disjoint(a: ByteSet, b: ByteSet): boolean {
  for (let c = 0; c < 256; c++) if (a[c] === 1 && b[c] === 1) return false;
  return true;
}

/** First bytes of a node and its continuation, `follow` being those of the continuation; null if it may be empty at
 * the end or is unknown. Zero-width nodes only narrow the set, so ignoring them is safe. */
function firstOf(n: Node, follow: ByteSet | null): ByteSet | null {
  switch (n.t) {
    case 'set':
      return n.set;
    case 'cat':
      return n.items.reduceRight((after, item) => firstOf(item, after), follow);
    case 'group':
    case 'atomic':
      return firstOf(n.item, follow);
    case 'repeat': {
      const own = firstOf(n.item, null);
      return own === null || n.min > 0 ? own : union([own, follow]);
    }
    case 'alt':
      return union(n.items.map((i) => firstOf(i, follow)));
    case 'assert': {
      const ending = n.kind === 'end' || n.kind === 'end-newline' || n.kind === 'line-end';
      return follow === null && ending ? newlineOnly() : follow;
    }
    case 'empty':
    case 'look':
    case 'keep':
      return follow;
    default:
      return null;
  }
}

function union(sets: readonly (ByteSet | null)[]): ByteSet | null {
  const out = new Uint8Array(256);
  for (const set of sets) {
    if (set === null) return null;
    for (let c = 0; c < 256; c++) if (set[c] === 1) out[c] = 1;
  }
  return out;
}

/** After an end assertion only a newline can follow. */
function newlineOnly(): ByteSet {
  const s = new Uint8Array(256);
  s[10] = 1;
  return s;
}

/** Bytes one of which begins every match; null if a match may be empty or they are unknown. */
export function firstBytes(root: Node): ByteSet | null {
  return canBeEmpty(root) ? null : firstOf(root, null);
}
