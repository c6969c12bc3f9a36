// The width of a text is what a terminal makes of it: xterm.js with the widths of Unicode 11 is asked.
import { Unicode11Addon } from '@xterm/addon-unicode11';
import xterm from '@xterm/headless';
import { afterAll, describe, expect, it } from 'vitest';
import { clausesFit, clip, widthOf, wordsFit } from '../../../console/draw/cells.ts';

const terminal = new xterm.Terminal({ cols: 80, rows: 1, allowProposedApi: true });
terminal.loadAddon(new Unicode11Addon());
terminal.unicode.activeVersion = '11';
afterAll(() => terminal.dispose());

async function shown(text: string): Promise<number> {
  terminal.reset();
  terminal.unicode.activeVersion = '11';
  await new Promise<void>((done) => terminal.write(text, done));
  return terminal.buffer.active.cursorX;
}

describe('cells', () => {
  it.each([
    ['East Asian', '日本語 한국어 ａｂ ｱ 𠀋'],
    ['a mark that combines', 'e\u0301 क्षि ไทย שָׁ'],
    ['emoji', '👍 ⌚ ⚡ ⏩ ⭐ 🀄 〰'],
    ['emoji of several characters', '👍🏽 👨‍👩‍👧 🇩🇪 ☀️ ❤️'],
    ['what East Asian terminals may show wide', '① ● → … ± ß Ω ─ █'],
    ['signs of this console', '●◐○▲▼✓✗▏▎▍▌▋▊▉█⠁⣿'],
  ])('%s', async (_what, text) => {
    expect(widthOf(text)).toBe(await shown(text));
  });

  it.each([
    [0x20, 0x7e],
    [0xb5, 0xb7],
    [0x2013, 0x2026],
    [0x2190, 0x2193],
    [0x2500, 0x25cf],
    [0x2800, 0x28ff],
    [0xe000, 0xe0ff],
  ])('characters of the screens from %i to %i', async (from, to) => {
    for (let code = from; code <= to; code += 70) {
      const codes = Array.from({ length: Math.min(70, to - code + 1) }, (_, i) => code + i);
      const text = String.fromCodePoint(...codes);
      expect(widthOf(text)).toBe(await shown(text));
    }
  });

  it('cuts no character in two', () => {
    expect(clip('a⚡b', 2)).toBe('a');
    expect(clip('a⚡b', 3)).toBe('a⚡');
    expect(clip('e\u0301x', 1)).toBe('e\u0301');
  });
});

it('keeps words whole where something has to go, but not one that would leave much empty', () => {
  expect(wordsFit('one two three', 13)).toBe('one two three');
  expect(wordsFit('one two, three', 10)).toBe('one two…');
  expect(wordsFit('one two three', 8)).toBe('one two…');
  expect(wordsFit('at /a/long/path/of/a/file', 12)).toBe('at /a/long/…');
  expect(wordsFit('unbroken', 4)).toBe('unb…');
});

it('keeps whole clauses of a remark, and at least words of the first', () => {
  const remark = 'by URL, 1,619 requests since 20:06:04; 9% sampled';
  expect(clausesFit(remark, 60)).toBe(remark);
  expect(clausesFit(remark, 48)).toBe('by URL, 1,619 requests since 20:06:04…');
  expect(clausesFit(remark, 30)).toBe('by URL…');
  expect(clausesFit('in the last minute', 14)).toBe('in the last…');
});
