// Lines folded to a width: no word is cut that has room, and nothing is lost.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  folded,
  helpLines,
  inParts,
  mostLeft,
  panelLines,
} from '../../../../console/model/ui/folded-lines.ts';
import type { TextPanel, ToneLine } from '../../../../console/model/ui/panel.ts';

const text = (lines: readonly ToneLine[]): string[] =>
  lines.map((line) => line.map((piece) => piece.text).join(''));

it('folds at blanks, below where the line begins, and keeps the tones', () => {
  const line: ToneLine = [{ text: '  Minimum ', tone: 'muted' }, { text: 'is one second or more' }];
  expect(folded([line], 16)).toEqual([
    [
      { text: '  ', tone: 'muted' },
      { text: 'Minimum', tone: 'muted' },
      { text: ' ', tone: 'muted' },
      { text: 'is' },
      { text: ' ' },
      { text: 'one' },
    ],
    [{ text: '  ' }, { text: 'second' }, { text: ' ' }, { text: 'or' }, { text: ' ' }, { text: 'more' }],
  ]);
});

it('moves a text sideways under its line numbers, and its marks with it', () => {
  const panel: TextPanel = {
    kind: 'text',
    scroll: 0,
    title: '',
    lines: [
      [
        { text: '   1 ', fixed: true },
        { text: 'set req.url = 5;', tone: 'muted' },
      ],
      [{ text: `${' '.repeat(5 + 14)}^ a text` }],
    ],
  };
  expect(mostLeft(panel, 20)).toBe(7);
  expect(text(panelLines({ ...panel, left: 7 }, 20))).toEqual([
    '   1 .url = 5;',
    `${' '.repeat(12)}^ a text`,
  ]);
  expect(text(panelLines({ ...panel, left: 18 }, 20))).toEqual(['   1 ', ' ^ a text']);
  // A tab is as wide as it is drawn.
  const tabs: TextPanel = { ...panel, lines: [[{ text: '\t\tset x' }]] };
  expect(mostLeft(tabs, 10)).toBe(1);
  expect(text(panelLines({ ...tabs, left: 4 }, 10))).toEqual(['  set x']);
  expect(text(panelLines(panel, 40))).toEqual(text(panel.lines));
});

it('continues further to the left below a mark that is far to the right', () => {
  expect(text(folded([[{ text: `${' '.repeat(20)}^ Expected a value here` }]], 30))).toEqual([
    `${' '.repeat(20)}^ Expected`,
    `${' '.repeat(10)}a value here`,
  ]);
});

it('leaves lines with columns alone', () => {
  const lines: ToneLine[] = [
    [{ text: '    1 ', fixed: true }, { text: 'set req.http.x = "y";' }],
    [{ text: 'Newest ' }, { text: '', bits: { value: 1n, count: 48 } }],
    [],
  ];
  expect(folded(lines, 6)).toEqual(lines);
});

it('loses no word, and is as wide as it may be at the most', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 12 });
  const words = fc.array(word, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(words, fc.nat(30), fc.integer({ min: 12, max: 40 }), (list, indent, width) => {
      const out = text(folded([[{ text: ' '.repeat(indent) + list.join(' ') }]], width));
      if (indent + Math.max(...list.map((w) => w.length)) <= width)
        expect(out.join(' ').trim().split(/\s+/)).toEqual(list);
      expect(out.join('').replace(/[\s…]/g, '')).toBe(list.join(''));
      for (const line of out) expect(line.length).toBeLessThanOrEqual(width);
    }),
  );
});

it('marks where a word continues below, and halves no character', () => {
  expect(text(folded([[{ text: 'purge /a/long/url of all' }]], 9))).toEqual([
    'purge',
    '/a/long/…',
    'url of',
    'all',
  ]);
  expect(inParts('ab😀cd', 4)).toEqual(['ab…', '😀cd']);
  expect(inParts('a😀😀😀', 4)).toEqual(['a😀…', '😀😀']);
  expect(inParts('four', 4)).toEqual(['four']);
  expect(inParts('narrow', 1).join('')).toBe('narrow');
});

it('makes lines of the help, texts that are too long below their beginning', () => {
  const sections = [
    { title: 'One', rows: [{ keys: 'a', help: 'Do this and that' }] },
    { title: 'Two', rows: [{ keys: 'b', help: 'Do it' }] },
  ];
  expect(helpLines(sections, 8)).toEqual([
    { title: 'One' },
    { keys: 'a', help: 'Do this' },
    { keys: '', help: 'and that' },
    { title: ' ' },
    { title: 'Two' },
    { keys: 'b', help: 'Do it' },
  ]);
  expect(helpLines([], 8)).toEqual([{ title: 'No key matches.' }]);
});
