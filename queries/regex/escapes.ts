// Escapes for one byte: \n, \x41, \x{41}, \101, \o{101}, \cA and quoted punctuation. Other escapes (classes,
// references, assertions) are handled elsewhere.

import type { PatternReader } from './pattern-reader.ts';

const SIMPLE: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, e: 27, a: 7 };

/** The byte of an escape; the cursor is after the backslash at `at`. In a class \1 is octal. */
export function charEscape(p: PatternReader, at: number, inClass: boolean): number {
  const c = p.peek();
  if (c === '') p.fail('\\ at end of pattern', at);
  p.at++;
  const simple = SIMPLE[c];
  if (simple !== undefined) return simple;
  if (c === 'x') return hexEscape(p, at);
  if (c === 'o') {
    const m = p.take(/\{([^}]*)\}?/y);
    if (m === null) p.fail('missing opening brace after \\o', at);
    if (!m[0].endsWith('}') || !/^[0-7]*$/.test(m[1] as string)) {
      p.fail('non-octal character in \\o{} (closing brace missing?)', at);
    }
    if (m[1] === '') p.fail('digits missing in \\x{} or \\o{} or \\N{U+}', at);
    return inByte(p, Number.parseInt(m[1] as string, 8), at);
  }
  if (c === 'c') {
    const code = p.text.charCodeAt(p.at++);
    if (Number.isNaN(code)) p.fail('\\c at end of pattern', at);
    if (code < 32 || code > 126) p.fail('\\c must be followed by a printable ASCII character', at);
    return (code >= 97 && code <= 122 ? code - 32 : code) ^ 64;
  }
  if (c === '0' || (inClass && c >= '1' && c <= '7')) {
    p.at--;
    return octalEscape(p, at);
  }
  if (/[LlUuN]/.test(c)) p.fail(`PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u: '\\${c}'`, at);
  if (/[A-Za-z0-9]/.test(c)) p.fail(`unrecognized character follows \\: '${c}'`, at);
  return c.charCodeAt(0);
}

/** Up to three octal digits at the cursor. */
export function octalEscape(p: PatternReader, at: number): number {
  const m = p.take(/[0-7]{1,3}/y);
  const value = Number.parseInt(m?.[0] ?? '0', 8);
  if (value > 255) p.fail('octal value is greater than \\377 in 8-bit non-UTF-8 mode', at);
  return value;
}

function hexEscape(p: PatternReader, at: number): number {
  if (p.peek() !== '{') {
    const m = p.take(/[0-9a-fA-F]{0,2}/y) as RegExpExecArray;
    return Number.parseInt(m[0] === '' ? '0' : m[0], 16);
  }
  const m = p.take(/\{([0-9a-fA-F]*)\}/y);
  if (m === null) p.fail('non-hex character in \\x{} (closing brace missing?)', at);
  if (m[1] === '') p.fail('digits missing in \\x{} or \\o{} or \\N{U+}', at);
  return inByte(p, Number.parseInt(m[1] as string, 16), at);
}

function inByte(p: PatternReader, value: number, at: number): number {
  if (value > 255) p.fail('character code point value in \\x{} or \\o{} is too large', at);
  return value;
}
