import { describe, expect, it } from 'vitest';
import { type ChartOptions, ChartPainter } from '../../../console/draw/chart.ts';
import { plain, rowWidth } from '../../../console/draw/spans.ts';
import { makeTheme } from '../../../console/draw/theme.ts';

const OPTIONS: ChartOptions = {
  width: 30,
  height: 8,
  max: 1,
  formatY: (v) => `${Math.round(v * 100)}%`,
  left: '1 min ago',
  right: 'now',
};

function draw(values: number[], ascii = false, options = OPTIONS): string[] {
  return new ChartPainter(makeTheme('none', ascii)).draw([{ values, style: 'line1' }], options).map(plain);
}

describe('ChartPainter', () => {
  it('fills its size exactly, in both alphabets', () => {
    for (const ascii of [true, false]) {
      for (const [width, height] of [
        [20, 4],
        [31, 9],
        [60, 15],
      ] as const) {
        const rows = new ChartPainter(makeTheme('none', ascii)).draw(
          [{ values: [0, 1, 0.5], style: 'line1' }],
          { ...OPTIONS, width, height },
        );
        expect(rows.length).toBe(height);
        for (const row of rows) expect(rowWidth(row)).toBeLessThanOrEqual(width);
      }
    }
  });

  it('puts the top value on the top row and zero on the row above the axis', () => {
    const flat = (v: number): number[] => Array.from({ length: 24 }, () => v);
    const rows = draw(flat(1));
    expect(rows[0]).toMatch(/[\u2801-\u28ff]/);
    expect(rows.slice(1, 6).join('')).not.toMatch(/[\u2801-\u28ff]/);
    const zero = draw(flat(0));
    expect(zero[5]).toMatch(/[\u2801-\u28ff]/);
    expect(zero.slice(0, 5).join('')).not.toMatch(/[\u2801-\u28ff]/);
    expect(zero[6]).toMatch(/^ {2}0% ╰─+$/);
  });

  it('leaves a hole where there is no data', () => {
    const values = Array.from({ length: 24 }, (_, i) => (i >= 8 && i < 16 ? Number.NaN : 0.5));
    const row = draw(values).find((r) => /[\u2801-\u28ff]/.test(r)) ?? '';
    expect(row).toMatch(/[\u2801-\u28ff] {4,}[\u2801-\u28ff]/);
  });

  it('fills an area down to the axis, exactly under its values', () => {
    const values = Array.from({ length: 24 }, (_, i) => (i < 8 ? 1 : i < 16 ? Number.NaN : 11 / 23));
    const painter = new ChartPainter(makeTheme('none', false));
    // 24 cells of plot: a cell a value.
    const rows = painter.draw([{ values, style: 'line1', filled: true }], OPTIONS).map(plain);
    const plot = rows.slice(0, 6).map((row) => row.slice(6).padEnd(24));
    expect(plot.map((row) => row.slice(0, 8))).toEqual(Array(6).fill('⣿'.repeat(8)));
    expect(plot.map((row) => row.slice(8, 16).trim())).toEqual(Array(6).fill(''));
    expect(plot[2]?.slice(16).trim()).toBe('');
    expect(plot.slice(3).map((row) => row.slice(16))).toEqual(Array(3).fill('⣿'.repeat(8)));
  });

  it('keeps a line apart from the area below it, and the highest of values that share a column', () => {
    const peaks = Array.from({ length: 240 }, (_, i) => (i === 101 ? 1 : 0.5));
    const mean = peaks.map(() => 0.25);
    for (const ascii of [true, false]) {
      const rows = new ChartPainter(makeTheme('none', ascii)).draw(
        [
          { values: peaks, style: 'strong' },
          { values: mean, style: 'line1', filled: true },
        ],
        OPTIONS,
      );
      const top = plain(rows[0] as never).slice(6);
      expect(top.trim()).toHaveLength(1);
      expect(top.search(/\S/)).toBe(10);
      const styles = rows.slice(0, 6).flatMap((row) => row.slice(2).map((s) => [s.text.trim(), s.style]));
      expect(styles.filter(([text]) => text !== '').map(([, style]) => style)).toEqual(
        expect.arrayContaining(['strong', 'line1']),
      );
    }
  });

  it('installs no handler on the process', () => {
    const events = ['exit', 'SIGINT', 'SIGTERM', 'uncaughtException'];
    const before = events.map((e) => process.listenerCount(e));
    draw([1, 0]);
    expect(events.map((e) => process.listenerCount(e))).toEqual(before);
  });

  it('draws a donut of its size with a segment for each share, or distinguishes shares by glyphs alone', () => {
    const parts = [
      { share: 0.25, style: 'hit' },
      { share: 0.5, style: 'miss' },
    ] as const;
    const painter = new ChartPainter(makeTheme('256', false));
    const ring = painter.donut(parts, 14, 7, { text: '25%' }) ?? [];
    expect(ring.map(rowWidth)).toEqual(Array(7).fill(14));
    const styles = (row: number, from: number, to: number): (string | undefined)[] => [
      ...new Set(ring[row]?.slice(from, to).flatMap((s) => (s.text.trim() === '' ? [] : [s.style]))),
    ];
    // Clockwise from above: a quarter of the one, half of the other, the rest.
    expect([styles(1, 9, 14), styles(5, 9, 14), styles(5, 0, 5), styles(1, 0, 5)]).toEqual([
      ['hit'],
      ['miss'],
      ['miss'],
      ['frame'],
    ]);
    expect(plain(ring[3] as never)).toContain('25%');
    expect(painter.donut(parts, 14, 7, { text: '25%' })).toBe(ring);
    const bare = new ChartPainter(makeTheme('none', false)).donut(parts, 14, 7, { text: '25%' }) ?? [];
    expect(plain(bare[1] as never).slice(9)).toMatch(/[\u2801-\u28ff]/);
    expect(bare.slice(4).map(plain).join('')).not.toMatch(/[\u2801-\u28ff]/);
    expect(new ChartPainter(makeTheme('256', true)).donut(parts, 14, 7, { text: '' })).toBeNull();
  });

  it('draws in plain characters without braille', () => {
    expect(draw([0, 1, 0, 1], true).join('\n')).toMatch(/^[\x20-\x7e\n]+$/);
  });
});
