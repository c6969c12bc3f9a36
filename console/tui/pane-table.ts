// Where the changing content of the screen lives. Ink lays out constant placeholders, each a rectangle of
// one letter; the letter names a pane, and the frame sink puts the pane's rows in its place. Ink so never
// sees a changing text, its measuring caches do not grow, and a frame of new data costs it nothing.

import { paint, type Row, sliceRow } from './spans.ts';
import type { FillName, Theme } from './theme.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

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
    const whole = this.rows[row] ?? [];
    const part = from === 0 ? whole : sliceRow(whole, from);
    return paint(part, to - from, this.theme, this.fillOf(row));
  }
}

/** What lies over the panes, at a place of its own. */
export interface Overlay {
  left: number;
  top: number;
  content: PaneContent;
}

export class PaneTable {
  private readonly panes = new Map<string, PaneContent | null>();
  private readonly over = new Map<string, Overlay>();

  /** A letter that no other pane has. */
  claim(): string {
    for (const letter of LETTERS) {
      if (this.panes.has(letter)) continue;
      this.panes.set(letter, null);
      return letter;
    }
    throw new Error('more panes than letters on one screen');
  }

  release(letter: string): void {
    this.panes.delete(letter);
    this.over.delete(letter);
  }

  set(letter: string, content: PaneContent): void {
    this.panes.set(letter, content);
  }

  get(letter: string): PaneContent | undefined {
    return this.panes.get(letter) ?? undefined;
  }

  setOverlay(letter: string, overlay: Overlay): void {
    this.over.set(letter, overlay);
  }

  overlays(): readonly Overlay[] {
    return [...this.over.values()];
  }
}
