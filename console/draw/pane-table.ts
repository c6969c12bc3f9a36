// Rows for which Ink only makes room. Ink lays out a constant placeholder, a rectangle of one character; the character
// names a pane, and the frame sink replaces it with the pane's rows. So Ink never reads or measures the rows, its
// unbounded caches of measured texts do not grow, and new rows cost it nothing.

import { markCut, paint, type Row, sliceRow } from './spans.ts';
import type { FillName, Theme } from './theme.ts';

/** Characters of the private use area, one cell wide, which no text of the console has. */
const FIRST = 0xe000;
const LAST = 0xe0ff;

/** Runs of one placeholder in a line of a frame. */
export const PLACEHOLDERS = /([\ue000-\ue0ff])\1*/g;

/** The rows of one pane, painted on demand. */
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
  /** Position of the pane in the frame; null before its first frame is complete. */
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
