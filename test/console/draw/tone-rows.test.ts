// Lines of the model in a narrow room.
import { expect, it } from 'vitest';
import { plain } from '../../../console/draw/spans.ts';
import { makeTheme } from '../../../console/draw/theme.ts';
import { toneRow } from '../../../console/draw/tone-rows.ts';

it('fits a sparkline by its newest values', () => {
  const line = [{ text: 'load ' }, { text: '', spark: [8, 0, 0, 0, 4, 8] }];
  const row = (width?: number): string => plain(toneRow(line, makeTheme('none', false), width));
  expect(row()).toBe('load █▁▁▁▅█');
  expect(row(11)).toBe('load █▁▁▁▅█');
  expect(row(8)).toBe('load ▁▅█');
  expect(row(5)).toBe('load ');
  expect(row(3)).toBe('load ');
});
