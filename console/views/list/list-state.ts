// State and reducer of list views, pure: columns, filter, sort, selection, paging and a detail pane, independent of
// drawing. The cursor is a row key, so that rows that appear or vanish do not move it to another row.

import { bodyRows, type Size } from '../../model/ui/layout.ts';
import type { ToneLine, ToneText } from '../../model/ui/panel.ts';

export interface ListCell extends ToneText {
  /** Shown instead if the text does not fit. */
  brief?: string;
  /** Sort key; the text if absent. */
  by?: number | string;
  /** Share of a whole, 0..1: drawn as a bar followed by the text. */
  share?: number;
}

export interface ListRow {
  /** Identifies the row across refreshes. */
  key: string;
  /** Identifies the thing that the row shows, if other rows may show it, too, or its key may change; the key if absent. */
  item?: string;
  /** Heading of the detail pane; the key if absent. */
  title?: string;
  cells: readonly ListCell[];
  /** Lines of the detail pane; called for the selected row only. */
  detail(): readonly ToneLine[];
  /** Data for actions and exports. */
  facts: Readonly<Record<string, string>>;
}

export interface ListColumn {
  title: string;
  /** Minimum width in cells. */
  min: number;
  /** Share of the remaining room; 0 or absent stays at `min`. */
  grow?: number;
  right?: boolean;
  /** Narrow terminals drop columns with the highest number first; absent is never dropped. */
  drop?: number;
}

export interface ListState {
  filter: string;
  /** Key of the selected row; '' is the first. */
  selected: string;
  /** Its item: the cursor follows it to a row with another key. */
  item: string;
  /** Its last known index: the cursor stays there if the row vanishes. */
  at: number;
  top: number;
  /** Index of the sort column; -1 for the natural order. */
  sort: number;
  descending: boolean;
  /** Choice of rows, such as only changed ones or a ranking; '' is all, or the first. */
  option: string;
  /** Is the detail pane open, and its scroll offset. */
  detail: boolean;
  scroll: number;
  /** Keys of the rows marked for one action. */
  marked: ReadonlySet<string>;
}

const NO_MARKS: ReadonlySet<string> = new Set();

export const INITIAL_LIST: ListState = {
  filter: '',
  selected: '',
  item: '',
  at: 0,
  top: 0,
  sort: -1,
  descending: false,
  option: '',
  detail: true,
  scroll: 0,
  marked: NO_MARKS,
};

/** Sorting moves the cursor to the top, where it stays while rows change places. */
const TOP: Pick<ListState, 'selected' | 'item' | 'at' | 'top' | 'scroll'> = {
  selected: '',
  item: '',
  at: 0,
  top: 0,
  scroll: 0,
};

export type ListAction =
  | { type: 'move'; rows: number }
  | { type: 'home' }
  | { type: 'end' }
  | { type: 'filter'; text: string }
  | { type: 'sort'; columns: number }
  /** Sorts by this column; a second time in reverse. */
  | { type: 'sort-by'; column: number; descending: boolean }
  | { type: 'reverse' }
  /** Returns to the top. */
  | { type: 'option'; option: string }
  /** Puts the cursor on the row with this key; a filter that hides it is cleared. */
  | { type: 'select'; key: string }
  /** Marks the selected row, or unmarks it, and goes to the next one. */
  | { type: 'mark' }
  /** Marks all rows that the filter shows; if all of them are marked, none. */
  | { type: 'mark-all' }
  | { type: 'unmark' }
  | { type: 'detail' }
  /** `last` is the offset at which the detail pane shows its end. */
  | { type: 'scroll'; rows: number; last: number };

/** Rows that match the filter, sorted. A row must contain all words, ignoring case, and no `!word`. */
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

/** Index of the selected row in `shown`, or of another row of its item; its neighbour's if both are gone; -1 without rows. */
export function selectedIndex(state: ListState, shown: readonly ListRow[]): number {
  if (shown.length === 0) return -1;
  const at = shown.findIndex((row) => row.key === state.selected);
  if (at >= 0) return at;
  const same = state.item === '' ? -1 : shown.findIndex((row) => itemOf(row) === state.item);
  return same >= 0 ? same : Math.min(state.selected === '' ? 0 : state.at, shown.length - 1);
}

function itemOf({ item, key }: ListRow): string {
  return item ?? key;
}

export function selectedRow(state: ListState, rows: readonly ListRow[]): ListRow | undefined {
  const shown = shownRows(state, rows);
  return shown[selectedIndex(state, shown)];
}

/** The marked rows that the filter shows: an action never reaches a row that is not on the list. */
export function markedRows(state: ListState, rows: readonly ListRow[]): ListRow[] {
  return state.marked.size === 0 ? [] : shownRows(state, rows).filter((row) => state.marked.has(row.key));
}

/** First row on a screen of `height`. */
export function listTop(state: ListState, at: number, count: number, height: number): number {
  const least = Math.max(0, at - height + 1);
  return Math.max(0, Math.min(Math.max(least, Math.min(state.top, at)), Math.max(0, count - height)));
}

/** Applies an action; `rows` are those after it, `height` is the list's on screen. */
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
      return place({ ...state, option: action.option, marked: NO_MARKS }, rows, height, () => 0);
    case 'select': {
      const hidden = !shownRows(state, rows).some((row) => row.key === action.key);
      const shown = hidden ? { ...state, filter: '' } : state;
      return place({ ...shown, selected: action.key, item: action.key, scroll: 0 }, rows, height, (at) => at);
    }
    case 'mark': {
      const row = selectedRow(state, rows);
      if (row === undefined) return state;
      const marked = new Set(state.marked);
      if (!marked.delete(row.key)) marked.add(row.key);
      return place({ ...state, marked }, rows, height, (at) => at + 1);
    }
    case 'mark-all': {
      const shown = shownRows(state, rows);
      const all = shown.every((row) => state.marked.has(row.key));
      return { ...state, marked: all ? NO_MARKS : new Set(shown.map((row) => row.key)) };
    }
    case 'unmark':
      return { ...state, marked: NO_MARKS };
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
  const row = shown[at] as ListRow;
  const scroll = row.key === state.selected ? state.scroll : 0;
  return {
    ...state,
    selected: row.key,
    item: itemOf(row),
    at,
    scroll,
    top: listTop(state, at, last + 1, height),
  };
}

/** Width of each column in `width` cells with a blank between them; 0 for dropped ones. */
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

/** From this width on the detail pane is beside the list (chosen): both have room for their lines. */
const WIDE = 170;
/** Share of the width that it takes there. */
const BESIDE = 0.38;

/** Heights in a list view: a title row, a heading, the list, and the detail pane if open; `beside` is the pane's width
 * where it is at the right of heading and list, 0 below them. */
export function listBody(size: Size, detail: boolean): { list: number; detail: number; beside: number } {
  const room = Math.max(1, bodyRows(size) - 2);
  if (!detail || room < 12) return { list: room, detail: 0, beside: 0 };
  if (size.columns >= WIDE)
    return { list: room, detail: room + 1, beside: Math.floor(size.columns * BESIDE) };
  const pane = Math.max(6, Math.floor(room * 0.38));
  return { list: room - pane, detail: pane, beside: 0 };
}
