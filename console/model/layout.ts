// Where things are on the screen, from its size alone: the rows above and below the view, and what the
// lists in it have left. Screens draw by it and the controller pages by it, so that both agree.

export interface Size {
  columns: number;
  rows: number;
}

/** Smaller terminals get a notice instead of a screen. */
export const MIN_SIZE: Size = { columns: 60, rows: 20 };

export function fits(size: Size): boolean {
  return size.columns >= MIN_SIZE.columns && size.rows >= MIN_SIZE.rows;
}

/** Header 1 row, footer 1 row; the stale banner takes one more while it shows. */
export function bodyRows(size: Size, banner: boolean): number {
  return Math.max(1, size.rows - 2 - (banner ? 1 : 0));
}

/** The log view: query bar 2 rows (text, verdict), then the list. */
export function logListRows(size: Size, banner: boolean): number {
  return Math.max(1, bodyRows(size, banner) - 3);
}

/** The statistics view: 2 rows of uptimes, a heading, the list, a status row, 2 rows of description. */
export function statListRows(size: Size, banner: boolean): number {
  return Math.max(1, bodyRows(size, banner) - 6);
}

/** A panel over the view: its text rows, inside its frame. */
export function panelTextRows(size: Size, banner: boolean, lines: number): number {
  return Math.max(1, Math.min(lines, bodyRows(size, banner) - 4));
}
