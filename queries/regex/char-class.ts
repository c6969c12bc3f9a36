// Character classes: [a-z], [^…], [[:alpha:]], [\d\x41], \Q…\E inside. The cursor is after the opening bracket.
// Special case: a hyphen next to a nested class ([\d-z]) is an error in PCRE2, not a literal.

import { addByte, byteSet, CLASS_ESCAPES, invert, POSIX_CLASSES, setOf, unicodeSet } from './byte-sets.ts';
import { charEscape } from './escapes.ts';
import type { ByteSet, Node } from './pattern-ast.ts';
import type { Flags, PatternReader } from './pattern-reader.ts';

const POSIX = /\[([:.=])(\^?)([^\]:]*)\1\]/y;

/** A whole class whose bracket is at `at`. */
export function charClass(p: PatternReader, flags: Flags, at: number): Node {
  const word = p.take(/\[:([<>]):\]\]/y);
  if (word !== null) return wordBoundary(word[1] === '<');
  const negate = p.eat('^');
  const set = new Uint8Array(256);
  let first = true;
  let quoted = false;
  /** Byte that may start a range; -1 for none; -2 after a nested class, which a range must not follow. */
  let low = -1;
  for (;;) {
    if (p.ended) p.fail('missing terminating ] for character class', at);
    if (p.eat('\\E')) {
      quoted = false;
      continue;
    }
    if (quoted) {
      low = literal(p, set, flags);
      first = false;
      continue;
    }
    if (p.eat('\\Q')) {
      quoted = true;
      continue;
    }
    if (flags.extended === 2 && p.take(/[ \t]/y) !== null) continue;
    if (!first && p.eat(']')) break;
    if (!first && low !== -1 && rangeFollows(p)) {
      const dash = p.at++;
      if (low === -2) p.fail('invalid range in character class', dash);
      while (p.eat('\\E') || p.eat('\\Q'));
      const high = member(p, set, flags);
      if (high < 0) p.fail('invalid range in character class', dash);
      if (high < low) p.fail('range out of order in character class', dash, p.at - 1);
      for (let b = low; b <= high; b++) addByte(set, b, flags.caseless);
      low = -1;
      continue;
    }
    first = false;
    low = member(p, set, flags);
  }
  return { t: 'set', set: negate ? invert(set) : set };
}

/** Is the hyphen neither the last member nor followed by the end? */
function rangeFollows(p: PatternReader): boolean {
  if (p.peek() !== '-') return false;
  return !/^-(?:\\E)*\]/.test(p.text.slice(p.at, p.at + 10)) && p.at + 1 < p.text.length;
}

function literal(p: PatternReader, set: ByteSet, flags: Flags): number {
  const c = p.text.charCodeAt(p.at++);
  addByte(set, c, flags.caseless);
  return c;
}

/** Adds one member: returns its byte, or -2 for a nested class. */
function member(p: PatternReader, set: ByteSet, flags: Flags): number {
  const at = p.at;
  const posix = p.take(POSIX);
  if (posix !== null) {
    addPosix(p, set, flags, posix, at);
    return -2;
  }
  if (!p.eat('\\')) return literal(p, set, flags);
  const e = p.peek();
  const test = CLASS_ESCAPES[e];
  if (test !== undefined) {
    p.at++;
    for (let b = 0; b < 256; b++) if (test(b)) set[b] = 1;
    return -2;
  }
  if (e === 'p' || e === 'P') {
    p.at++;
    property(p, e === 'P', at).forEach((flag, b) => {
      if (flag === 1) set[b] = 1;
    });
    return -2;
  }
  if (e === 'N') p.fail('\\N is not supported in a class', at);
  if (e === 'B' || e === 'R' || e === 'X') p.fail('escape sequence is invalid in character class', at);
  if (e === 'b') {
    p.at++;
    addByte(set, 8, false);
    return 8;
  }
  const c = charEscape(p, at, true);
  addByte(set, c, flags.caseless);
  return c;
}

function addPosix(p: PatternReader, set: ByteSet, flags: Flags, m: RegExpExecArray, at: number): void {
  if (m[1] !== ':') p.fail('POSIX collating elements are not supported', at, at + 2);
  const cased = m[3] === 'upper' || m[3] === 'lower';
  const test = POSIX_CLASSES[flags.caseless && cased ? 'alpha' : (m[3] as string)];
  if (test === undefined) p.fail('unknown POSIX class name', at, at + 2);
  const negate = m[2] === '^';
  for (let b = 0; b < 256; b++) if (test(b) !== negate) set[b] = 1;
}

/** [[:<:]] and [[:>:]]: start and end of a word. */
function wordBoundary(start: boolean): Node {
  const set = setOf(CLASS_ESCAPES.w as (c: number) => boolean);
  const look: Node = { t: 'look', item: { t: 'set', set }, ahead: start, negative: false };
  return { t: 'cat', items: [{ t: 'assert', kind: 'word' }, look] };
}

/** The part after \p or \P. */
export function property(p: PatternReader, negative: boolean, at: number): ByteSet {
  const m = p.take(/\{(\^?)\s*([^}]*?)\s*\}|([A-Za-z])/y);
  if (m === null) p.fail('malformed \\P or \\p sequence', at);
  const name = (m[2] ?? m[3]) as string;
  const set = unicodeSet(name);
  if (set === null) p.fail('unknown property after \\P or \\p', at);
  return negative !== (m[1] === '^') ? invert(set) : set;
}

/** A single byte as a node. */
export function byteNode(c: number, flags: Flags): Node {
  return { t: 'set', set: byteSet(c, flags.caseless) };
}
