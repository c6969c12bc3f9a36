// Probes that are drawn: none that never ran, and no more than the window has where the figure beside is of the window.
import { expect, it } from 'vitest';
import { plain } from '../../../../console/draw/spans.ts';
import { makeTheme } from '../../../../console/draw/theme.ts';
import { probeBits } from '../../../../console/draw/tone-rows.ts';
import { type BackendRow, probesRun } from '../../../../console/model/session/backends.ts';

const row = (window: number, details: Record<string, unknown> = {}): BackendRow => ({
  name: 'boot.a',
  type: 'backend',
  admin: 'probe',
  probe: { good: 0, window },
  members: null,
  health: 'healthy',
  lastChange: 0,
  details,
});

it('are those since the oldest with a step on record, and at most the limit', () => {
  expect(probesRun(row(8), 0b111n, 8)).toBe(3);
  expect(probesRun(row(8, { bits_4: '31', bits_H: '3' }), 0b11n, 8)).toBe(5);
  expect(probesRun(row(4), 0xffn, 4)).toBe(4);
  expect(probesRun(row(8, { bits_4: 'none', other: 3 }), 1n, 48)).toBe(1);
});

it('are all of the window where none was ever answered', () => {
  expect(probesRun(row(8), 0n, 16)).toBe(8);
});

it('are neither good nor bad news once the daemon is gone', () => {
  const theme = makeTheme('none', true);
  expect(probeBits(0b101n, 3, theme).map((s) => s.style)).toEqual(['good', 'bad', 'good']);
  const old = probeBits(0b101n, 3, theme, true);
  expect([plain(old), old.map((s) => s.style)]).toEqual(['|.|', ['muted']]);
});
