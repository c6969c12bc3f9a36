// The one list that all admin views are: columns, filter, sort, selection, paging and a detail pane, pure.
// A view is rows of cells and nothing more; it never knows where they are drawn. Positions are row keys, so
// that rows that come and go under the cursor do not move it to another.

import { bodyRows, type Size } from '../../model/layout.ts';
import type { ToneLine, ToneText } from '../../model/panel.ts';

export interface ListCell extends ToneText {
  /** Stands in its place where it has no room. */
  brief?: string;
  /** What sorts it; its text when absent. */
  by?: number | string;
  /** Share of a whole, 0..1: drawn as a bar with the text after it. */
  share?: number;
}

export interface ListRow {
  /** Names the row across refreshes. */
  key: string;
  /** Above its detail; its key when absent. */
  title?: string;
  cells: readonly ListCell[];
  /** Lines of the detail pane; made for the selected row only. */
  detail(): readonly ToneLine[];
  /** What actions and exports need to know of it. */
  facts: Readonly<Record<string, string>>;
}

export interface ListColumn {
  title: string;
  /** Cells it needs at the least. */
  min: number;
  /** Share of the room that is left; 0 or absent stays at `min`. */
  grow?: number;
  right?: boolean;
  /** Narrow terminals lose the columns with the highest number first; absent stays. */
  drop?: number;
}

export interface ListState {
  filter: string;
  /** Key of the selected row; '' is the first. */
  selected: string;
  /** Its place when last seen: where the cursor stays when the row goes. */
  at: number;
  top: number;
  /** Index of the column that sorts; -1 is the order in which rows come. */
  sort: number;
  descending: boolean;
  /** What it shows of its rows: only changed ones, a ranking; '' is all, or the first. */
  option: string;
  /** Is the detail pane open, and how far scrolled? */
  detail: boolean;
  scroll: number;
}

export const INITIAL_LIST: ListState = {
  filter: '',
  selected: '',
  at: 0,
  top: 0,
  sort: -1,
  descending: false,
  option: '',
  detail: true,
  scroll: 0,
};

/** Who asks for another order wants to see what comes first, and goes on seeing it while rows change places. */
const TOP: Pick<ListState, 'selected' | 'at' | 'top' | 'scroll'> = { selected: '', at: 0, top: 0, scroll: 0 };

export type ListAction =
  | { type: 'move'; rows: number }
  | { type: 'home' }
  | { type: 'end' }
  | { type: 'filter'; text: string }
  | { type: 'sort'; columns: number }
  /** By this column; a second time the other way round. */
  | { type: 'sort-by'; column: number; descending: boolean }
  | { type: 'reverse' }
  /** Opens at the top again. */
  | { type: 'option'; option: string }
  | { type: 'detail' }
  /** `last` is the line at which the detail pane shows its end. */
  | { type: 'scroll'; rows: number; last: number };

/** Rows that the filter lets through, sorted. All words must occur in a row, in any case; `!word` must not. */
export function shownRows(state: ListState, rows: readonly ListRow[]): ListRow[] {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = words.length === 0 ? [...rows] : rows.filter((row) => matches(row, words));
  if (state.sort < 0) return kept;
  const sign = state.descending ? -1 : 1;
  const by = (row: ListRow): number | string => {
    const cell = row.cells[state.sort];
    return cell?.by ?? cell?.text.toLowerCase() ?? '';
  };
  return kept.sort((a, b) => sign * compare(by(a), by(b)) || compare(a.key, b.key));
}

function matches(row: ListRow, words: readonly string[]): boolean {
  const text = row.cells.map((c) => c.text.toLowerCase()).join(' ');
  return words.every((w) =>
    w.length > 1 && w.startsWith('!') ? !text.includes(w.slice(1)) : text.includes(w),
  );
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Place of the selected row among those shown; its neighbour's when it is gone; -1 without rows. */
export function selectedIndex(state: ListState, shown: readonly ListRow[]): number {
  if (shown.length === 0) return -1;
  const at = shown.findIndex((row) => row.key === state.selected);
  return at >= 0 ? at : Math.min(state.selected === '' ? 0 : state.at, shown.length - 1);
}

export function selectedRow(state: ListState, rows: readonly ListRow[]): ListRow | undefined {
  const shown = shownRows(state, rows);
  return shown[selectedIndex(state, shown)];
}

/** First row on a screen of `height`. */
export function listTop(state: ListState, at: number, count: number, height: number): number {
  const least = Math.max(0, at - height + 1);
  return Math.max(0, Math.min(Math.max(least, Math.min(state.top, at)), Math.max(0, count - height)));
}

/** Applies an action; `rows` are those after it, `height` is the number of rows that the list has on screen. */
export function reduceList(
  state: ListState,
  action: ListAction,
  rows: readonly ListRow[],
  height: number,
): ListState {
  switch (action.type) {
    case 'move':
      return place(state, rows, height, (at) => at + action.rows);
    case 'home':
      return place(state, rows, height, () => 0);
    case 'end':
      return place(state, rows, height, (_at, last) => last);
    case 'filter':
      return place({ ...state, filter: action.text }, rows, height, (at) => at);
    case 'sort': {
      const sort = state.sort + 1 >= action.columns ? -1 : state.sort + 1;
      return { ...state, ...TOP, sort };
    }
    case 'sort-by': {
      const { column } = action;
      const descending = state.sort === column ? !state.descending : action.descending;
      return { ...state, ...TOP, sort: column, descending };
    }
    case 'reverse':
      return { ...state, ...TOP, descending: !state.descending };
    case 'option':
      return place({ ...state, option: action.option }, rows, height, () => 0);
    case 'detail':
      return { ...state, detail: !state.detail, scroll: 0 };
    case 'scroll':
      return { ...state, scroll: Math.max(0, Math.min(action.last, state.scroll + action.rows)) };
  }
}

function place(
  state: ListState,
  rows: readonly ListRow[],
  height: number,
  to: (at: number, last: number) => number,
): ListState {
  const shown = shownRows(state, rows);
  const last = shown.length - 1;
  if (last < 0) return state;
  const at = Math.max(0, Math.min(last, to(selectedIndex(state, shown), last)));
  const selected = (shown[at] as ListRow).key;
  const scroll = selected === state.selected ? state.scroll : 0;
  return { ...state, selected, at, scroll, top: listTop(state, at, last + 1, height) };
}

/** Width of each column in `width` cells with a blank between; 0 for those that had to go. */
export function columnWidths(columns: readonly ListColumn[], width: number): number[] {
  const shown = columns.map(() => true);
  const needed = (): number => columns.reduce((sum, c, i) => (shown[i] === true ? sum + c.min + 1 : sum), -1);
  while (needed() > width) {
    let worst = -1;
    for (const [i, c] of columns.entries()) {
      if (shown[i] === true && c.drop !== undefined && c.drop >= (columns[worst]?.drop ?? 0)) worst = i;
    }
    if (worst < 0) break;
    shown[worst] = false;
  }
  const room = Math.max(0, width - needed());
  const weights = columns.map((c, i) => (shown[i] === true ? (c.grow ?? 0) : 0));
  const total = weights.reduce((a, b) => a + b, 0);
  const widths = columns.map((c, i) =>
    shown[i] === true ? c.min + (total === 0 ? 0 : Math.floor((room * (weights[i] as number)) / total)) : 0,
  );
  return widths;
}

/** A list view: a title row, a heading, the list, and the detail pane when it is open. */
export function listBody(size: Size, detail: boolean): { list: number; detail: number } {
  const room = Math.max(1, bodyRows(size) - 2);
  if (!detail || room < 12) return { list: room, detail: 0 };
  const pane = Math.max(6, Math.floor(room * 0.38));
  return { list: room - pane, detail: pane };
}
