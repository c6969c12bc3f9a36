// Layout of the screen, from its size alone: the rows above and below the view, and panels over it. Screens draw by it
// and keys page by it, so that both agree.

export interface Size {
  columns: number;
  rows: number;
}

/** A cell, counted from the upper left corner. */
export interface Place {
  x: number;
  y: number;
}

/** A step in a list or a panel. */
export type Step = 'up' | 'down' | 'pageup' | 'pagedown' | 'home' | 'end';

/** Smaller terminals get a notice instead of a screen. */
export const MIN_SIZE: Size = { columns: 60, rows: 20 };

export function fits(size: Size): boolean {
  return size.columns >= MIN_SIZE.columns && size.rows >= MIN_SIZE.rows;
}

/** The header: titles, and the health of the daemon. */
export const HEADER_ROWS = 2;

/** The footer has one row. */
export function bodyRows(size: Size): number {
  return Math.max(1, size.rows - HEADER_ROWS - 1);
}

/** A panel over the view: its text rows, inside its frame. */
export function panelTextRows(size: Size, lines: number): number {
  return Math.max(1, Math.min(lines, bodyRows(size) - 4));
}

/** Cells that border and padding take of a panel's width, and rows of its height. */
export const PANEL_EDGES = 4;
export const PANEL_RULES = 2;

/** Cells of a panel's lines: the panel keeps a margin to the edges of the screen. */
export function panelTextCells(size: Size): number {
  return size.columns - 4 - PANEL_EDGES;
}

/** The help panel: its width, and those of its columns. */
export function helpColumns(size: Size): { panel: number; keys: number; help: number } {
  const panel = Math.min(size.columns - 4, 76);
  const keys = 18;
  return { panel, keys, help: panel - PANEL_EDGES - keys };
}

/** The action of a step in a list with `height` rows on screen. */
export function stepAction(
  step: Step,
  height: number,
): { type: 'move'; rows: number } | { type: 'home' } | { type: 'end' } {
  switch (step) {
    case 'up':
      return { type: 'move', rows: -1 };
    case 'down':
      return { type: 'move', rows: 1 };
    case 'pageup':
      return { type: 'move', rows: -height };
    case 'pagedown':
      return { type: 'move', rows: height };
    case 'home':
    case 'end':
      return { type: step };
  }
}
