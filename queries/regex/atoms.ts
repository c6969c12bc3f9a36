// Escapes outside classes: assertions (\b \A \z \G), classes (\d \h \N \R \X \p), references, \K and bytes.

import { ANY_BYTE, byteSet, CLASS_ESCAPES, NOT_NEWLINE, setOf } from './byte-sets.ts';
import { byteNode, property } from './char-class.ts';
import { charEscape, octalEscape } from './escapes.ts';
import type { Assertion, ByteSet, Node } from './pattern-ast.ts';
import type { Flags, PatternReader } from './pattern-reader.ts';
import { backref, letterReference } from './references.ts';

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  b: 'word',
  B: 'not-word',
  A: 'start',
  z: 'end',
  Z: 'end-newline',
  G: 'search-start',
};

/** A dot. */
export function dot(flags: Flags): Node {
  return { t: 'set', set: flags.dotAll ? ANY_BYTE : NOT_NEWLINE };
}

/** An escape; the cursor is after the backslash at `at`. */
export function escapeAtom(p: PatternReader, flags: Flags, at: number): Node {
  const c = p.peek();
  const kind = ASSERTIONS[c];
  if (kind !== undefined) {
    p.at++;
    return { t: 'assert', kind };
  }
  const test = CLASS_ESCAPES[c];
  if (test !== undefined) {
    p.at++;
    return { t: 'set', set: setOf(test) };
  }
  switch (c) {
    case 'N':
      p.at++;
      if (p.take(/\{(?!\d+,?\d*\})/y) !== null) p.fail('\\N{name} and \\N{U+…} are not supported', at);
      return { t: 'set', set: NOT_NEWLINE };
    case 'C':
      p.at++;
      return { t: 'set', set: ANY_BYTE };
    case 'K':
      p.at++;
      if (p.lookDepth > 0) {
        p.fail('\\K is not allowed in lookarounds (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)', at);
      }
      return { t: 'keep' };
    case 'R':
    case 'X':
      p.at++;
      return lineBreakOr(c === 'X' ? ANY_BYTE : p.narrowNewlines ? NARROW : VERTICAL);
    case 'p':
    case 'P':
      p.at++;
      return { t: 'set', set: property(p, c === 'P', at) };
    case 'k':
    case 'g':
      p.at++;
      return letterReference(p, c, flags, at);
  }
  if (c >= '1' && c <= '9') return digits(p, flags, at);
  return byteNode(charEscape(p, at, false), flags);
}

const VERTICAL = setOf(CLASS_ESCAPES.v as (c: number) => boolean);
const NARROW = setOf((c) => c === 10 || c === 13);

/** CR LF as a unit, or a byte. */
function lineBreakOr(set: ByteSet): Node {
  const crlf: Node[] = [13, 10].map((b) => ({ t: 'set', set: byteSet(b, false) }));
  const items: Node[] = [
    { t: 'cat', items: crlf },
    { t: 'set', set },
  ];
  return { t: 'atomic', item: { t: 'alt', items } };
}

/** A reference, or from \10 on an octal number unless there are that many groups. */
function digits(p: PatternReader, flags: Flags, at: number): Node {
  const start = p.at;
  const text = (p.take(/\d+/y) as RegExpExecArray)[0];
  const n = Number(text);
  if (n < 10 || text.charAt(0) >= '8' || n <= p.highestGroup) return backref(p, n, flags, at);
  p.at = start;
  return byteNode(octalEscape(p, at), flags);
}
