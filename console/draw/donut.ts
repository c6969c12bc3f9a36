// Donuts by blessed-contrib, drawn off-screen: the widget gets a canvas of its own and never sees
// a screen or a program, which would install signal handlers. The library draws one share a ring; a ring of
// several segments is drawn as sums of shares, one over the other, the largest first. Without colour segments cannot be
// told apart: then only the first is drawn, and the figures beside it say the rest.

import { drawnCells } from './braille-cells.ts';
import { widthOf } from './cells.ts';
import { canvas, donutWidget } from './chart-widgets.ts';
import { type Row, type Span, span } from './spans.ts';
import type { StyleName, Theme } from './theme.ts';

export interface Segment {
  /** 0..1; all of a ring make at most 1. */
  share: number;
  style: StyleName;
}

/** Colour numbers that the widget carries through; they name segments. */
const MARK = 100;
const REST = 99;
/** Dots of a cell. */
const ACROSS = 2;
const DOWN = 4;
/** Rings kept: what they show changes once a second, the screen more often. */
const KEPT = 8;
/** The share of the radius that the ring is thick. */
const THICKNESS = 0.32;

export class DonutPainter {
  private readonly theme: Theme;
  private readonly kept = new Map<string, Row[]>();

  constructor(theme: Theme) {
    this.theme = theme;
  }

  /** `height` rows of `width` cells, the ring as large as fits, `middle` in its centre. */
  draw(segments: readonly Segment[], width: number, height: number, middle: Span): Row[] {
    const shares = segments.map((s) => `${s.style} ${s.share.toFixed(3)}`);
    const key = [width, height, middle.text, middle.style, ...shares].join('/');
    let rows = this.kept.get(key);
    if (rows === undefined) {
      if (this.kept.size >= KEPT) this.kept.clear();
      rows = this.paint(segments, width, height, middle);
      this.kept.set(key, rows);
    }
    return rows;
  }

  private paint(segments: readonly Segment[], width: number, height: number, middle: Span): Row[] {
    const grid: Span[][] = Array.from({ length: height }, () =>
      Array.from({ length: width }, () => span(' ')),
    );
    const shown = this.theme.depth === 'none' ? segments.slice(0, 1) : segments;
    const sums = shown.map((_, i) => shown.slice(0, i + 1).reduce((sum, s) => sum + s.share, 0));
    // The rest of the ring, then the segments from the last to the first, each over the ones before.
    if (this.theme.depth !== 'none') this.ring(grid, 1, REST, 'frame');
    for (let i = shown.length - 1; i >= 0; i--) {
      const sum = Math.min(1, sums[i] as number);
      if ((shown[i] as Segment).share > 0) this.ring(grid, sum, MARK + i, (shown[i] as Segment).style);
    }
    const row = grid[Math.floor(height / 2)];
    const from = Math.floor((width - widthOf(middle.text)) / 2);
    if (row !== undefined && from >= 0) row.splice(from, widthOf(middle.text), middle);
    return grid;
  }

  private ring(grid: Span[][], share: number, mark: number, style: StyleName): void {
    const height = grid.length;
    const width = grid[0]?.length ?? 0;
    const widget = donutWidget();
    const radius = Math.floor(Math.min(width * ACROSS, height * DOWN) / 2) - 1;
    widget.options = {
      radius,
      arcWidth: Math.max(2, Math.round(radius * THICKNESS)),
      yPadding: 0,
      remainColor: 0,
      stroke: 'black',
      fill: 'black',
    };
    widget.canvasSize = { width: width * ACROSS, height: height * DOWN };
    widget.ctx = canvas(widget.canvasSize.width, widget.canvasSize.height).getContext();
    widget.setData([{ percent: share, label: '', color: mark }]);
    for (const [y, line] of drawnCells(widget.ctx._canvas.frame()).entries()) {
      for (const [x, cell] of line.entries()) {
        const at = grid[y];
        if (cell.color === mark && at?.[x] !== undefined) at[x] = span(cell.char, style);
      }
    }
  }
}
