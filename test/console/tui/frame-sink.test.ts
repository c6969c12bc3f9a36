import xterm from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import { clip, ellipsis, widthOf } from '../../../console/draw/cells.ts';
import { PaneContent } from '../../../console/draw/pane-table.ts';
import { bar, fitRow, paint, plain, rowWidth, span, spread } from '../../../console/draw/spans.ts';
import { makeTheme, themeFromEnv } from '../../../console/draw/theme.ts';
import { FrameSink } from '../../../console/tui/frame-sink.ts';

async function screenOf(chunks: string[], columns: number, rows: number): Promise<string[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  for (const chunk of chunks) terminal.write(chunk);
  await new Promise<void>((resolve) => terminal.write('', resolve));
  const out = Array.from(
    { length: rows },
    (_, y) => terminal.buffer.active.getLine(y)?.translateToString(true) ?? '',
  );
  terminal.dispose();
  return out;
}

describe('FrameSink', () => {
  it('paints only the rows that changed', () => {
    const written: string[] = [];
    const sink = new FrameSink({ write: (t) => written.push(t) }, 20, 3);
    sink.write('one\ntwo\nthree');
    sink.write('one\nTWO\nthree');
    sink.write('one\nTWO\nthree');
    expect(written.length).toBe(2);
    expect(written[1]).toContain('\x1b[2;1HTWO');
    expect(written[1]).not.toContain('three');
  });

  it('leaves nothing of a longer row, and keeps the last cell of a full one', async () => {
    const written: string[] = [];
    const sink = new FrameSink({ write: (t) => written.push(t) }, 10, 3);
    sink.write('0123456789\nabcdefghij\nx');
    sink.write('short\n0123456789');
    expect(await screenOf(written, 10, 3)).toEqual(['short', '0123456789', '']);
  });

  it('never scrolls the terminal, however tall the frame', async () => {
    const written: string[] = [];
    const sink = new FrameSink({ write: (t) => written.push(t) }, 10, 3);
    sink.write('a\nb\nc\nd\ne');
    expect(await screenOf(written, 10, 3)).toEqual(['a', 'b', 'c']);
  });

  it('puts panes where Ink has placed them, and paints them once all have a place', () => {
    const written: string[] = [];
    const sink = new FrameSink({ write: (t) => written.push(t) }, 8, 3);
    const theme = makeTheme('none', false);
    const placeholder = sink.panes.claim();
    let corner: { left: number; top: number } | null = null;
    const content = new PaneContent([[span('東abc')], [span('second')]], 6, theme);
    sink.panes.set(placeholder, { content, corner: () => corner });
    // Something lies over the first row, and over the first cells of the second.
    sink.write(`head\n\x1b[1m+---\x1b[22m${placeholder.repeat(4)}\n  ${placeholder.repeat(6)}`);
    expect(written).toEqual([]);
    corner = { left: 2, top: 1 };
    sink.paint();
    expect(written.join('')).toContain('+---\x1b[22mabc ');
    expect(written.join('')).toContain('\x1b[3;1H  second');
  });

  it('paints all again after a resize or a redraw, and nothing once closed', () => {
    const written: string[] = [];
    const sink = new FrameSink({ write: (t) => written.push(t) }, 10, 2);
    sink.write('a\nb');
    sink.redraw();
    expect(written.at(-1)).toContain('a');
    sink.resize(12, 2);
    sink.write('a\nb');
    expect(written.at(-1)).toContain('b');
    const before = written.length;
    sink.close();
    sink.write('c');
    sink.redraw();
    expect(written.length).toBe(before);
  });
});

describe('rows', () => {
  it('count cells, not characters', () => {
    expect([widthOf('abc'), widthOf('東京'), widthOf('é'), widthOf('e\u0301'), widthOf('😀')]).toEqual([
      3, 4, 1, 1, 2,
    ]);
    expect(clip('東京', 3)).toBe('東');
    expect(ellipsis('/products/42', 6)).toBe('/prod…');
  });

  it('come out exactly as wide as asked', () => {
    for (const width of [0, 1, 5, 9, 30]) {
      const row = [span('ab', 'good'), span('東京'), span('xyz')];
      expect(rowWidth(fitRow(row, width))).toBe(width);
      expect(rowWidth(spread(row, [span('right')], width))).toBe(width);
    }
  });

  it('carry no colour where there is none', () => {
    expect(paint([span('x', 'good')], 2, makeTheme('none', true))).toBe('x ');
    expect(paint([span('x', 'bad')], 1, makeTheme('16', true))).toBe('\x1b[1;31mx\x1b[0m');
    expect(paint([span('x', 'good')], 1, makeTheme('256', true))).toBe('\x1b[38;5;114mx\x1b[0m');
  });

  it('draw bars of every share within their width', () => {
    for (const ascii of [true, false]) {
      for (let share = -0.1; share <= 1.2; share += 0.013) {
        expect(rowWidth(bar(share, 7, makeTheme('none', ascii), 'hit'))).toBe(7);
      }
    }
    expect(plain(bar(0.5, 4, makeTheme('none', true), 'hit'))).toBe('##..');
  });

  it('obey the environment', () => {
    const depth = (env: NodeJS.ProcessEnv): string => themeFromEnv({ LANG: 'C.UTF-8', ...env }).depth;
    expect(depth({ TERM: 'xterm-256color' })).toBe('256');
    expect(depth({ TERM: 'xterm' })).toBe('16');
    expect(depth({ TERM: 'xterm-256color', NO_COLOR: '1', FORCE_COLOR: '3' })).toBe('none');
    expect(depth({ TERM: 'dumb' })).toBe('none');
    expect(depth({ TERM: 'dumb', FORCE_COLOR: '3' })).toBe('256');
    expect(themeFromEnv({ TERM: 'xterm', LANG: 'C' }).glyphs.vertical).toBe('|');
    expect(themeFromEnv({ TERM: 'xterm', LANG: 'en_US.UTF-8' }).glyphs.vertical).toBe('│');
  });
});
