// Text that the bundle treats as one cell per character is so for the library, too.
import { styledCharsFromTokens, styledCharsToString, tokenize } from '@alcalzone/ansi-tokenize';
import { build } from 'esbuild';
import fc from 'fast-check';
import sliceAnsi from 'slice-ansi';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { tokens } from '../../harness/build/plain-tokens.js';
import { PLAIN, STYLES } from '../../harness/build/plain-width.js';

const plain = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((char) =>
  PLAIN.test(char),
);

it('is one cell a character, whatever stands beside it', () => {
  expect(plain.length).toBeGreaterThan(500);
  expect(plain.filter((char) => stringWidth(char) !== 1)).toEqual([]);
  // Characters of the private use area are alike in all that widths depend on: one in 400 stands for them.
  const isPrivate = (char: string): boolean => /\p{Co}/u.test(char);
  const some = (step: number): string[] =>
    plain.filter((char, i) => i % (isPrivate(char) ? 400 : step) === 0);
  const beside = some(7);
  const wrong = some(1).filter(
    (char) => stringWidth(beside.map((other) => char + other).join('')) !== 2 * beside.length,
  );
  expect(wrong).toEqual([]);
});

it('has no width in its colours', () => {
  const text = '\x1b[1m\x1b[38;5;16m proxyd \x1b[39m\x1b[0m2 │';
  expect(stringWidth(text)).toBe(text.replace(STYLES, '').length);
  // A link is no colour.
  expect(PLAIN.test('\x1b]8;;http://x\x07x'.replace(STYLES, ''))).toBe(false);
});

it.each(['日本', 'é', 'a\u0301', '\u26a0\ufe0f', '\x1b[1m', '\t', '👍', '\u25fd', '\u200d'])(
  'is not taken for that: %j',
  (text) => expect(PLAIN.test(text)).toBe(false),
);

it('is cut as the library cuts it', () => {
  const text = 'GET /µ·–│█⠿\ue000 hit';
  for (let start = 0; start <= text.length; start++)
    for (let end = start; end <= text.length + 1; end++)
      expect(text.slice(start, end)).toBe(sliceAnsi(text, start, end));
  expect(sliceAnsi(text, 3)).toBe(text.slice(3));
  // Styles that end within the text are left as they are by the library, too.
  const styled = '\x1b[1m proxyd \x1b[22m\x1b[38;5;81m2\x1b[39m';
  expect(sliceAnsi(styled, 0, 9)).toBe(styled);
});

it('is split into cells, and put together again, as by the library', async () => {
  const names = 'styledCharsFromTokens, styledCharsToString, tokenize';
  const { outputFiles } = await build({
    stdin: {
      contents: `export { ${names} } from '@alcalzone/ansi-tokenize';`,
      resolveDir: import.meta.dirname,
    },
    plugins: [tokens],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  const source = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  const ours = (await import(/* @vite-ignore */ `data:text/javascript;base64,${source}`)) as {
    tokenize: typeof tokenize;
    styledCharsFromTokens: typeof styledCharsFromTokens;
    styledCharsToString: typeof styledCharsToString;
  };
  const styles = [
    '\x1b[1m',
    '\x1b[2m',
    '\x1b[22m',
    '\x1b[38;5;81m',
    '\x1b[39m',
    '\x1b[1;31m',
    '\x1b[0m',
    '\x1b[48;5;4m',
  ];
  const others = ['日本', 'é', 'a\u0301', '👍', '\x1b]8;;http://x\x07', '\x1b', '\u26a0\ufe0f'];
  const texts = (odd: string[]): fc.Arbitrary<string> =>
    fc
      .array(fc.constantFrom(...styles, ...odd, 'GET', ' ', '│', '⠿', '\ue000', ''), { maxLength: 12 })
      .map((p) => p.join(''));
  const same = (text: string, endChar?: number): void => {
    expect(ours.tokenize(text, endChar)).toEqual(tokenize(text, endChar));
  };
  fc.assert(
    fc.property(fc.oneof(texts([]), texts(others)), fc.option(fc.nat(6)), texts([]), (text, end, beside) => {
      same(text, end ?? undefined);
      // A line of a frame has cells of several texts.
      const cells = (lib: typeof ours) => [
        ...lib.styledCharsFromTokens(lib.tokenize(text)),
        ...lib.styledCharsFromTokens(lib.tokenize(beside)),
      ];
      expect(ours.styledCharsToString(cells(ours))).toBe(
        styledCharsToString(cells({ tokenize, styledCharsFromTokens, styledCharsToString })),
      );
    }),
  );
});
