// Truncated text ends in an ellipsis: rows, cells of columns, and rows partly covered by others.
import { expect, it } from 'vitest';
import { PaneContent } from '../../../console/draw/pane-table.ts';
import { cell, cellRight, markCut, plain, span, spread } from '../../../console/draw/spans.ts';
import { makeTheme } from '../../../console/draw/theme.ts';

const theme = makeTheme('none', false);

it('a row without room has a mark at its end, in the style of what is cut', () => {
  const row = [span('ReqURL '), span('/long/url', 'muted')];
  expect(markCut(row, 12).map((s) => [s.text, s.style])).toEqual([
    ['ReqURL ', undefined],
    ['/lon', 'muted'],
    ['…', 'muted'],
  ]);
  expect(plain(markCut(row, 16))).toBe('ReqURL /long/url');
  expect(plain(markCut([span('東京都')], 5))).toBe('東京…');
});

it('blanks that are cut are no loss', () => {
  expect(plain(markCut([span('short'), span('    ')], 6)).trimEnd()).toBe('short');
  expect(plain(spread([span('left'), span('     ')], [span(' right')], 11))).toBe('left  right');
});

it('a cell of a column marks what it has no room for, also a figure: a shorter one would be another', () => {
  expect(cell('VBE.boot.images', 8).text).toBe('VBE.boo…');
  expect(cellRight('1,234,567', 6).text).toBe('1,234…');
  expect(cell('GET', 4).text).toBe('GET ');
});

it('a pane marks rows at its own edge, and not where something lies over it', () => {
  const content = new PaneContent([[span('BereqHeader    X-Long: a value')], [span('End')]], 20, theme);
  expect(content.cells(0, 0, 20)).toBe('BereqHeader    X-Lo…');
  expect(content.cells(0, 0, 8)).toBe('BereqHea');
  expect(content.cells(0, 12, 20)).toBe('   X-Lo…');
  expect(content.cells(1, 0, 20).trimEnd()).toBe('End');
});
