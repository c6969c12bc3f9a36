// Donuts by blessed-contrib, drawn off-screen: its widget is attached to no real screen, which would install signal
// handlers, and its frame is read back as cells. The widget draws one share of a ring; a ring of several segments is drawn
// as sums of shares, one over the other, the largest first. Without colour segments cannot be distinguished: then only the
// first is drawn, and the figures beside the ring have the rest.

/// <reference path="./chart-modules.d.ts" />
import Donut from 'blessed-contrib/lib/widget/donut.js';
import { widthOf } from './cells.ts';
import { type Row, type Span, span } from './spans.ts';
import type { StyleName, Theme } from './theme.ts';

export interface Segment {
  /** 0..1; all of a ring make at most 1. */
  share: number;
  style: StyleName;
}

/** Colour number in which arcs are drawn: their cells are found by it in the frame. */
const MARK = 100;
/** Dots of a cell. */
const ACROSS = 2;
const DOWN = 4;
/** Rings that are kept: they change once a second, the screen more often. */
const KEPT = 8;
/** Thickness of the ring as a share of its radius. */
const THICKNESS = 0.32;

/** A screen of blessed without a terminal: constructors of widgets ask it for effects, and it has none. */
const NO_SCREEN = { setEffects: () => undefined };

/** The widget of a ring that fills this many cells. */
class Ring extends Donut {
  private readonly dots: { width: number; height: number };

  constructor(width: number, height: number) {
    const dots = { width: width * ACROSS, height: height * DOWN };
    const radius = Math.floor(Math.min(dots.width, dots.height) / 2) - 1;
    super({ screen: NO_SCREEN, radius, arcWidth: Math.max(2, Math.round(radius * THICKNESS)) });
    // Not as an option: its constructor takes 0 for unset.
    this.options.yPadding = 0;
    this.dots = dots;
    this.emit('attach');
  }

  override calcSize(): void {
    this.canvasSize = this.dots;
  }

  /** The characters of the cells that an arc of this share covers, by row; '' elsewhere. */
  arc(share: number): string[][] {
    this.setData([{ percent: share, label: '', color: MARK }]);
    return this.ctx.canvas.frame().split('\n').map(markedCells);
  }
}

/** Braille characters drawn in the colour MARK; '' for all other cells of a line. */
function markedCells(line: string): string[] {
  const cells: string[] = [];
  let marked = false;
  for (const [, code, char] of line.matchAll(/\x1b\[([0-9;]*)m|([^\x1b])/g)) {
    if (char === undefined) marked = code === `38;5;${MARK}`;
    else cells.push(marked && /[\u2800-\u28ff]/.test(char) ? char : '');
  }
  return cells;
}

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
    const ring = new Ring(width, height);
    const lay = (share: number, style: StyleName): void => {
      for (const [y, line] of ring.arc(Math.min(1, share)).entries())
        for (const [x, char] of line.entries())
          if (char !== '' && grid[y]?.[x] !== undefined) grid[y][x] = span(char, style);
    };
    const colour = this.theme.depth !== 'none';
    const shown = colour ? segments : segments.slice(0, 1);
    // The rest of the ring, then the segments from the last to the first, each over the ones before.
    if (colour) lay(1, 'frame');
    let sum = shown.reduce((all, segment) => all + segment.share, 0);
    for (const { share, style } of shown.toReversed()) {
      if (share > 0) lay(sum, style);
      sum -= share;
    }
    const row = grid[Math.floor(height / 2)];
    const from = Math.floor((width - widthOf(middle.text)) / 2);
    if (row !== undefined && from >= 0) row.splice(from, widthOf(middle.text), middle);
    return grid;
  }
}
