// Text that the bundle treats as one cell per character is so for the library, too.
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { PLAIN } from '../../harness/build/plain-width.js';

const plain = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((char) =>
  PLAIN.test(char),
);

it('is one cell a character, whatever stands beside it', () => {
  expect(plain.length).toBeGreaterThan(500);
  expect(plain.filter((char) => stringWidth(char) !== 1)).toEqual([]);
  const beside = plain.filter((_, i) => i % 7 === 0);
  const wrong = plain.filter(
    (char) => stringWidth(beside.map((other) => char + other).join('')) !== 2 * beside.length,
  );
  expect(wrong).toEqual([]);
});

it.each(['日本', 'é', 'a\u0301', '\u26a0\ufe0f', '\x1b[1m', '\t', '👍', '\u25fd', '\u200d'])(
  'is not taken for that: %j',
  (text) => expect(PLAIN.test(text)).toBe(false),
);
