// Three things that the library does not look at: the size that a pattern will have, which must be known before it is compiled; the
// syntax of egrep, which is a part of its own; and its words for what is wrong, which programs and people know from
// Varnish's module.

/** A pattern that cannot be used, in the words of RE2. */
export class PatternError extends Error {}

/** A repetition such as {2,5} at an index. Without a second number it is the first one again. */
const COUNTED = /\{(\d+)(?:(,)(\d*))?\}/y;
/** A class with its brackets. */
const CLASS = /\[\^?\]?(?:\[:\^?\w*:\]|\\.|[^\]\\])*\]?/sy;

/**
 * An upper bound of the instructions of a pattern, without parsing it: each letter counts, and what is repeated counts
 * that often. In linear time; what is not valid gets some number.
 */
export function sizeOf(pattern: string): number {
  /** Of the groups that are open: what is in them so far. */
  const outer: number[] = [];
  let size = 0;
  /** Of the last atom, which a repetition multiplies. */
  let last = 0;
  for (let at = 0; at < pattern.length; ) {
    const c = pattern[at];
    COUNTED.lastIndex = at;
    CLASS.lastIndex = at;
    const counted = c === '{' ? COUNTED.exec(pattern) : null;
    if (counted !== null) {
      const most = Number(counted[3] || counted[1]);
      size += last * Math.min(most, 1000);
      last *= Math.min(most, 1000) + 1;
      at = COUNTED.lastIndex;
      continue;
    }
    if (c === '(') {
      outer.push(size);
      size = 2;
    } else if (c === ')') {
      last = size;
      size += outer.pop() ?? 0;
    } else {
      // A repetition or an anchor is as an atom here: one more does not matter.
      last = '*+?'.includes(c as string) ? last + 1 : 1;
      size++;
    }
    at += c === '\\' ? 2 : c === '[' && CLASS.test(pattern) ? CLASS.lastIndex - at : 1;
  }
  return outer.reduce((sum, each) => sum + each, size) + 3;
}

/** Escapes of egrep's syntax as RE2 reads it: punctuation, numbers of characters, and control characters. */
const PLAIN_ESCAPE = /[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e0-7xnrtafv]/;
const PERL_CLASS = /[dswDSW]/;
const WORD_BOUNDARY = /[bB]/;

/** @throws PatternError for what is no syntax of egrep, as far as the options do not permit it */
export function checkPosix(pattern: string, perlClasses: boolean, wordBoundary: boolean): void {
  for (let at = 0; at < pattern.length; at++) {
    const c = pattern[at];
    const next = pattern[at + 1] ?? '';
    if (c === '(' && next === '?') throw new PatternError('no argument for repetition operator: ?');
    if (c !== '\\') continue;
    at++;
    const permitted =
      next === '' ||
      PLAIN_ESCAPE.test(next) ||
      (perlClasses && PERL_CLASS.test(next)) ||
      (wordBoundary && WORD_BOUNDARY.test(next));
    if (!permitted) throw new PatternError(`invalid escape sequence: \\${next}`);
  }
}

/** The library's words, and those of RE2. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^missing closing \): `(.*)`$/s, 'missing ): $1'],
  [/^missing closing \]: `(.*)`$/s, 'missing ]: $1'],
  [/^unexpected \): `(.*)`$/s, 'unexpected ): $1'],
  [/^trailing backslash.*$/s, 'trailing \\'],
  [/^missing argument to repetition operator: `(.*)`$/s, 'no argument for repetition operator: $1'],
  [/^invalid nested repetition operator: `(.*)`$/s, 'bad repetition operator: $1'],
  [/^invalid repeat count: `(.*)`$/s, 'invalid repetition size: $1'],
  [/^invalid or unsupported Perl syntax: `(.*)`$/s, 'invalid perl operator: $1'],
  [/^invalid named capture: `(.*)`$/s, 'invalid named capture group: $1'],
  [/^duplicate capture group name: `(.*)`$/s, 'invalid named capture group: $1'],
  [/^expression (?:too large|nests too deeply).*$/s, 'pattern too large - compile failed'],
];

/** The message of the library in the words of RE2. */
export function inWordsOfRe2(message: string): string {
  const text = message.replace(/^error parsing regexp: /, '');
  for (const [theirs, ours] of WORDS) if (theirs.test(text)) return text.replace(theirs, ours);
  return text.replace(/`/g, '');
}

/** A text as a pattern that matches it alone: all but letters, digits, _ and bytes above 127 gets a backslash. */
export function quoted(text: string): string {
  return text.replace(/[^\w\x80-\xff]/g, (c) => (c === '\0' ? '\\x00' : `\\${c}`));
}
