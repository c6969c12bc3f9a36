// Rows that Ink only makes room for. Ink lays out a constant placeholder, a rectangle of one character; the character
// names a pane, and the frame sink puts the pane's rows in its place. So Ink never reads or measures the rows, the
// caches of its measuring do not grow, and a frame of new rows costs it nothing.

import { markCut, paint, type Row, sliceRow } from './spans.ts';
import type { FillName, Theme } from './theme.ts';

/** Characters of the private use area, one cell wide: no text of the console has them. */
const FIRST = 0xe000;
const LAST = 0xe0ff;

/** Runs of one placeholder in a line of a frame. */
export const PLACEHOLDERS = /([\ue000-\ue0ff])\1*/g;

/** The rows of one pane, painted when they are asked for. */
export class PaneContent {
  readonly rows: readonly Row[];
  readonly width: number;
  private readonly theme: Theme;
  private readonly fillOf: (row: number) => FillName | undefined;

  constructor(
    rows: readonly Row[],
    width: number,
    theme: Theme,
    fillOf: (row: number) => FillName | undefined = () => undefined,
  ) {
    this.rows = rows;
    this.width = width;
    this.theme = theme;
    this.fillOf = fillOf;
  }

  /** Cells [from, to) of a row, as text with escape sequences. */
  cells(row: number, from: number, to: number): string {
    const whole = markCut(this.rows[row] ?? [], this.width);
    const part = from === 0 ? whole : sliceRow(whole, from);
    return paint(part, to - from, this.theme, this.fillOf(row));
  }
}

/** Cells from the upper left corner of the frame. */
export interface Corner {
  left: number;
  top: number;
}

export interface Pane {
  content: PaneContent;
  /** Where the pane is in the frame; null before its first one is whole. */
  corner(): Corner | null;
}

export class PaneTable {
  private readonly panes = new Map<string, Pane | null>();

  /** A placeholder that no other pane has. */
  claim(): string {
    for (let code = FIRST; code <= LAST; code++) {
      const placeholder = String.fromCharCode(code);
      if (this.panes.has(placeholder)) continue;
      this.panes.set(placeholder, null);
      return placeholder;
    }
    throw new Error('more panes than placeholders on one screen');
  }

  release(placeholder: string): void {
    this.panes.delete(placeholder);
  }

  set(placeholder: string, pane: Pane): void {
    this.panes.set(placeholder, pane);
  }

  get(placeholder: string): Pane | undefined {
    return this.panes.get(placeholder) ?? undefined;
  }
}
