// Classes of bytes: \d, \h, [:alpha:] and \p{…} in the C locale, one flag per byte. Letters are ASCII letters only;
// bytes above 127 belong to no class but the negated ones, \h (0xa0), \v (0x85) and \p.

import type { ByteSet } from './pattern-ast.ts';

type Test = (c: number) => boolean;

export function setOf(test: Test): ByteSet {
  const s = new Uint8Array(256);
  for (let c = 0; c < 256; c++) if (test(c)) s[c] = 1;
  return s;
}

const isDigit: Test = (c) => c >= 48 && c <= 57;
const isUpper: Test = (c) => c >= 65 && c <= 90;
const isLower: Test = (c) => c >= 97 && c <= 122;
const isLetter: Test = (c) => isUpper(c) || isLower(c);
const isAlnum: Test = (c) => isDigit(c) || isLetter(c);
const isWord: Test = (c) => isAlnum(c) || c === 95;
const isSpace: Test = (c) => c === 32 || (c >= 9 && c <= 13);
const isBlank: Test = (c) => c === 32 || c === 9;
const isHorizontal: Test = (c) => isBlank(c) || c === 0xa0;
const isVertical: Test = (c) => (c >= 10 && c <= 13) || c === 0x85;

/** [:name:] */
export const POSIX_CLASSES: Readonly<Record<string, Test>> = {
  alpha: isLetter,
  digit: isDigit,
  alnum: isAlnum,
  upper: isUpper,
  lower: isLower,
  space: isSpace,
  blank: isBlank,
  punct: (c) => c > 32 && c < 127 && !isAlnum(c),
  xdigit: (c) => isDigit(c) || (c >= 97 && c <= 102) || (c >= 65 && c <= 70),
  cntrl: (c) => c < 32 || c === 127,
  print: (c) => c >= 32 && c < 127,
  graph: (c) => c > 32 && c < 127,
  word: isWord,
  ascii: (c) => c < 128,
};

/** \d and similar ones, by letter. */
export const CLASS_ESCAPES: Readonly<Record<string, Test>> = {
  d: isDigit,
  D: (c) => !isDigit(c),
  w: isWord,
  W: (c) => !isWord(c),
  s: isSpace,
  S: (c) => !isSpace(c),
  h: isHorizontal,
  H: (c) => !isHorizontal(c),
  v: isVertical,
  V: (c) => !isVertical(c),
};

/** Adds a byte, and its other case if requested. */
export function addByte(set: ByteSet, c: number, caseless: boolean): void {
  set[c] = 1;
  if (caseless && isLetter(c)) set[c ^ 32] = 1;
}

/** The sets of single bytes in one allocation: an array for every character of a pattern would dominate the cost of
 * parsing. Never written to. */
function singles(caseless: boolean): readonly ByteSet[] {
  const all = new Uint8Array(256 * 256);
  return Array.from({ length: 256 }, (_, c) => {
    const set = all.subarray(c * 256, c * 256 + 256);
    addByte(set, c, caseless);
    return set;
  });
}

const SINGLE = singles(false);
const CASELESS = singles(true);

/** A byte, with its other case if requested. Shared: do not modify. */
export function byteSet(c: number, caseless: boolean): ByteSet {
  return (caseless ? CASELESS : SINGLE)[c] as ByteSet;
}

export const ANY_BYTE: ByteSet = setOf(() => true);
export const NOT_NEWLINE: ByteSet = setOf((c) => c !== 10);

export function invert(set: ByteSet): ByteSet {
  return set.map((flag) => 1 - flag);
}

/** \p{name} over the first 256 code points, which is what a byte is outside UTF mode; null for an unknown
 * name. Names are compared without regard to case, blanks, hyphens and underscores. */
export function unicodeSet(name: string): ByteSet | null {
  const plain = name.replace(/[\s_-]/g, '').toLowerCase();
  const own: Readonly<Record<string, string>> = {
    any: '[^]',
    'l&': '[\\p{Lu}\\p{Ll}\\p{Lt}]',
    lc: '[\\p{Lu}\\p{Ll}\\p{Lt}]',
    xan: '[\\p{L}\\p{N}]',
    xsp: '[\\p{Z}\\t-\\r\\x85]',
    xps: '[\\p{Z}\\t-\\r\\x85]',
    xwd: '[\\p{L}\\p{N}_]',
    xuc: '[$@`\\xa0-\\xff]',
  };
  const title = plain.charAt(0).toUpperCase() + plain.slice(1);
  const candidates = [own[plain], `\\p{${title}}`, `\\p{scx=${title}}`, `\\p{scx=${name}}`, `\\p{${name}}`];
  for (const source of candidates) {
    if (source === undefined) continue;
    try {
      const re = new RegExp(source, 'u');
      return setOf((c) => re.test(String.fromCharCode(c)));
    } catch {
      // Unknown name.
    }
  }
  return null;
}
