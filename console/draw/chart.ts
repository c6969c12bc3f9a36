// Charts over time: lines and filled areas in braille dots, or in plain characters without braille. Each value is
// exactly over its time, nothing is drawn without a value, and of several values in one column the highest is drawn.
// Donuts come from a library.

import { padStart } from './cells.ts';
import { DonutPainter, type Segment } from './donut.ts';
import { type Row, type Span, span } from './spans.ts';
import type { StyleName, Theme } from './theme.ts';

export interface ChartSeries {
  /** Values from the oldest to the newest; NaN is a gap. */
  values: readonly number[];
  style: StyleName;
  /** An area down to the axis instead of a line. Listed after the lines, which are drawn over it. */
  filled?: boolean;
}

export interface ChartOptions {
  /** Cells, labels included. */
  width: number;
  height: number;
  /** Value at the top; 0 is at the bottom. */
  max: number;
  formatY(value: number): string;
  /** Texts under the left and the right end. */
  left: string;
  right: string;
  /** On the axis. */
  marks?: readonly ChartMark[];
}

export interface ChartMark {
  /** Its place from the left end, 0, to the right one, 1. */
  at: number;
  /** One cell. */
  text: string;
  style: StyleName;
}

export class ChartPainter {
  private readonly theme: Theme;
  private readonly donuts: DonutPainter;

  constructor(theme: Theme) {
    this.theme = theme;
    this.donuts = new DonutPainter(theme);
  }

  /** `height` rows: the plot, an axis row, a row of labels. */
  draw(series: readonly ChartSeries[], options: ChartOptions): Row[] {
    const labelWidth = Math.max(
      options.formatY(options.max).length,
      options.formatY(options.max / 2).length,
      3,
    );
    const plotWidth = Math.max(4, options.width - labelWidth - 2);
    const plotHeight = Math.max(2, options.height - 2);
    const max = options.max > 0 ? options.max : 1;
    const grid = this.theme.glyphs.braille
      ? braille(series, plotWidth, plotHeight, max)
      : columns(series, plotWidth, plotHeight, max);
    const { vertical, horizontal, corners } = this.theme.glyphs;
    const rows: Row[] = grid.map((cells, i) => {
      const label =
        i === 0
          ? options.formatY(max)
          : i === Math.floor(plotHeight / 2) && plotHeight >= 4
            ? options.formatY(max / 2)
            : '';
      return [span(`${padStart(label, labelWidth)} `, 'faint'), span(vertical, 'frame'), ...cells];
    });
    const corner = this.theme.glyphs.braille ? '╰' : corners[2];
    rows.push([
      span(`${padStart(options.formatY(0), labelWidth)} `, 'faint'),
      span(corner, 'frame'),
      ...axis(horizontal, plotWidth, options.marks ?? []),
    ]);
    const gap = Math.max(1, plotWidth + 1 - options.left.length - options.right.length);
    rows.push([
      span(' '.repeat(labelWidth + 1)),
      span(options.left + ' '.repeat(gap) + options.right, 'faint'),
    ]);
    return rows;
  }

  /** A ring of segments with a text in its middle; null where it cannot be drawn. */
  donut(segments: readonly Segment[], width: number, height: number, middle: Span): Row[] | null {
    return this.theme.glyphs.braille ? this.donuts.draw(segments, width, height, middle) : null;
  }
}

/** Marks that share a cell are a plus, unless they are the same. */
function axis(line: string, width: number, marks: readonly ChartMark[]): Span[] {
  const places = new Map<number, ChartMark>();
  for (const mark of marks) {
    const at = Math.min(width - 1, Math.max(0, Math.floor(mark.at * width)));
    const there = places.get(at);
    places.set(at, there === undefined || there.text === mark.text ? mark : { ...mark, text: '+' });
  }
  const out: Span[] = [];
  let from = 0;
  for (const [at, { text, style }] of [...places].sort((a, b) => a[0] - b[0])) {
    if (at > from) out.push(span(line.repeat(at - from), 'frame'));
    out.push(span(text, style));
    from = at + 1;
  }
  if (from < width) out.push(span(line.repeat(width - from), 'frame'));
  return out;
}

/** The highest value of each of `count` columns; NaN where there is none. */
function columnsOf(values: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, column) => {
    const from = Math.floor((column / count) * values.length);
    const to = Math.max(from + 1, Math.floor(((column + 1) / count) * values.length));
    const there = values.slice(from, to).filter((v) => !Number.isNaN(v));
    return there.length === 0 ? Number.NaN : Math.max(...there);
  });
}

/** Bits of the dots of a braille cell: of its left and right column, from below. */
const DOTS = [
  [0x40, 0x04, 0x02, 0x01],
  [0x80, 0x20, 0x10, 0x08],
] as const;

function braille(series: readonly ChartSeries[], width: number, height: number, max: number): Span[][] {
  const bits = Array.from({ length: height }, () => new Uint8Array(width));
  const styles = Array.from({ length: height }, () => new Array<StyleName | undefined>(width));
  // The first one is drawn last, over the others.
  for (const { values, style, filled } of [...series].reverse()) {
    let before = -1;
    for (const [x, value] of columnsOf(values, width * 2).entries()) {
      if (Number.isNaN(value)) {
        before = -1;
        continue;
      }
      const level = Math.round((Math.min(value, max) / max) * (height * 4 - 1));
      // A line connects to its last value.
      const [from, to] =
        filled === true
          ? [0, level]
          : before < 0 || before === level
            ? [level, level]
            : before < level
              ? [before + 1, level]
              : [level, before - 1];
      for (let y = from; y <= to; y++) {
        const row = height - 1 - (y >> 2);
        const cell = x >> 1;
        const there = bits[row] as Uint8Array;
        there[cell] = (there[cell] as number) | (DOTS[(x & 1) as 0 | 1][y & 3] as number);
        (styles[row] as (StyleName | undefined)[])[cell] = style;
      }
      before = level;
    }
  }
  return bits.map((row, y) =>
    runsOf(
      Array.from(row, (b) => (b === 0 ? ' ' : String.fromCharCode(0x2800 + b))),
      styles[y] as StyleName[],
    ),
  );
}

function columns(series: readonly ChartSeries[], width: number, height: number, max: number): Span[][] {
  const chars = Array.from({ length: height }, () => new Array<string>(width).fill(' '));
  const styles = Array.from({ length: height }, () => new Array<StyleName | undefined>(width));
  for (const [index, { values, style, filled }] of [...series.entries()].reverse()) {
    for (const [column, value] of columnsOf(values, width).entries()) {
      if (Number.isNaN(value)) continue;
      const level = Math.round((Math.min(value, max) / max) * (height - 1));
      for (let y = filled === true ? 0 : level; y <= level; y++) {
        const row = height - 1 - y;
        (chars[row] as string[])[column] = y < level ? '.' : index === 0 ? '*' : 'o';
        (styles[row] as (StyleName | undefined)[])[column] = y < level ? 'faint' : style;
      }
    }
  }
  return chars.map((row, y) => runsOf(row, styles[y] as StyleName[]));
}

/** A span for each run of cells of one style. */
function runsOf(chars: readonly string[], styles: readonly (StyleName | undefined)[]): Span[] {
  const out: Span[] = [];
  for (const [i, char] of chars.entries()) {
    const last = out.at(-1);
    if (last !== undefined && last.style === styles[i]) last.text += char;
    else out.push(span(char, styles[i]));
  }
  return out;
}
