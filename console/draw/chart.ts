// Line charts by blessed-contrib, drawn off-screen: the widget gets a canvas of its own and never sees a
// screen or a program, which would install signal handlers. Only its dots are taken; labels and axes are
// drawn here, because the widget's cannot be aligned. Without braille, a column chart in plain characters.

import { drawnCells } from './braille-cells.ts';
import { padStart } from './cells.ts';
import { canvas, lineWidget } from './chart-widgets.ts';
import { DonutPainter, type Segment } from './donut.ts';
import { type Row, type Span, span } from './spans.ts';
import type { StyleName, Theme } from './theme.ts';

export interface ChartSeries {
  /** Values from the oldest to the newest; NaN is a hole. */
  values: readonly number[];
  style: StyleName;
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

/** Colour numbers that the widget carries through; they name series, not colours. */
const MARK = 100;

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
      ? this.braille(series, plotWidth, plotHeight, max)
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

  private braille(series: readonly ChartSeries[], width: number, height: number, max: number): Span[][] {
    const grid: Span[][] = Array.from({ length: height }, () =>
      Array.from({ length: width }, () => span(' ')),
    );
    // The first one is drawn last, over the others.
    for (const [index, one] of [...series.entries()].reverse()) {
      for (const run of runs(one.values)) this.drawRun(grid, run, one, index, max);
    }
    return grid;
  }

  /** One unbroken stretch: the widget cannot skip holes, so each stretch is a chart of its own. */
  private drawRun(grid: Span[][], run: Run, one: ChartSeries, index: number, max: number): void {
    const height = grid.length;
    const width = grid[0]?.length ?? 0;
    const widget = lineWidget();
    // The widget reserves 12 dots to its right and 3 rows below; two cells at its left carry the axis.
    Object.defineProperties(widget, { width: { value: width + 8 }, height: { value: height + 5 } });
    widget.options = {
      showNthLabel: 1e9,
      xLabelPadding: 2,
      xPadding: 2,
      numYLabels: 1,
      wholeNumbersOnly: true,
      legend: {},
      minY: 0,
      style: { line: MARK + index, text: 0, baseline: 0 },
    };
    widget.calcSize();
    const drawable = widget.canvasSize.height - 11;
    // Its highest value lands two dots above the canvas: stretch the scale so that `max` is on the top dot.
    widget.options.maxY = (9 * drawable) / (drawable - 2.5);
    const dots = canvas(widget.canvasSize.width, widget.canvasSize.height);
    widget._canvas = dots;
    widget.ctx = dots.getContext();
    const y = one.values.map((v, i) =>
      i < run.from ? at(one.values, run.from) : i >= run.to ? at(one.values, run.to - 1) : v,
    );
    const x = y.map(() => ' ');
    widget.setData([{ x, y: y.map((v) => (Math.min(v, max) / max) * 9), style: { line: MARK + index } }]);
    const first = (run.from / one.values.length) * width;
    const last = (run.to / one.values.length) * width;
    const lines = drawnCells(widget.ctx._canvas.frame());
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        if (column < Math.floor(first) || column > Math.ceil(last)) continue;
        const mark = lines[row]?.[column + 2];
        if (mark === undefined || mark.color !== MARK + index) continue;
        (grid[row] as Span[])[column] = span(mark.char, one.style);
      }
    }
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

interface Run {
  from: number;
  to: number;
}

function runs(values: readonly number[]): Run[] {
  const out: Run[] = [];
  let from = -1;
  for (let i = 0; i <= values.length; i++) {
    const hole = i === values.length || Number.isNaN(values[i]);
    if (!hole && from < 0) from = i;
    if (hole && from >= 0) {
      out.push({ from, to: i });
      from = -1;
    }
  }
  return out;
}

function at(values: readonly number[], i: number): number {
  return values[i] as number;
}

function columns(series: readonly ChartSeries[], width: number, height: number, max: number): Span[][] {
  const grid: Span[][] = Array.from({ length: height }, () => Array.from({ length: width }, () => span(' ')));
  for (const [index, one] of [...series.entries()].reverse()) {
    for (let column = 0; column < width; column++) {
      const value = one.values[Math.floor((column / width) * one.values.length)];
      if (value === undefined || Number.isNaN(value)) continue;
      const level = Math.round((Math.min(value, max) / max) * (height - 1));
      for (let row = 0; row < height; row++) {
        const here = height - 1 - row;
        if (here === level) (grid[row] as Span[])[column] = span(index === 0 ? '*' : 'o', one.style);
        else if (index === 0 && here < level && grid[row]?.[column]?.text === ' ')
          (grid[row] as Span[])[column] = span('.', 'faint');
      }
    }
  }
  return grid;
}
