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

/** Does the dashboard show storage apart, and the sample's panels? */
export function dashboardRoom(width: number, height: number): { storage: boolean; sample: boolean } {
  return { storage: width >= 110, sample: height >= 30 && width >= 100 };
}

/** From this width on the detail pane of the log stands beside the list, not below it. */
const BESIDE = 150;

export interface LogBody {
  /** Rows of the list. */
  list: number;
  /** The detail pane; 0 rows when closed. `beside` is its width, 0 when it lies below. */
  detail: number;
  beside: number;
}

/** The log view: query bar 2 rows (text, verdict), heading, list, and the detail pane when it is open. */
export function logBody(size: Size, banner: boolean, detail: boolean): LogBody {
  const room = Math.max(1, bodyRows(size, banner) - 3);
  if (!detail) return { list: room, detail: 0, beside: 0 };
  if (size.columns >= BESIDE)
    return { list: room, detail: room + 1, beside: Math.floor(size.columns * 0.45) };
  const pane = Math.max(6, Math.floor(room * 0.6));
  return { list: Math.max(1, room - pane), detail: pane, beside: 0 };
}

/** A list view: a title row, a heading, the list, and the detail pane when it is open. */
export function listBody(size: Size, banner: boolean, detail: boolean): { list: number; detail: number } {
  const room = Math.max(1, bodyRows(size, banner) - 2);
  if (!detail || room < 12) return { list: room, detail: 0 };
  const pane = Math.max(6, Math.floor(room * 0.38));
  return { list: room - pane, detail: pane };
}

/** The statistics view: 2 rows of uptimes, a heading, the list, a status row, 2 rows of description. */
export function statListRows(size: Size, banner: boolean): number {
  return Math.max(1, bodyRows(size, banner) - 6);
}

/** A panel over the view: its text rows, inside its frame. */
export function panelTextRows(size: Size, banner: boolean, lines: number): number {
  return Math.max(1, Math.min(lines, bodyRows(size, banner) - 4));
}
