// State of the log screen, pure: top entry, selection, unfolded entries, following. Positions are sequence numbers,
// so that entries dropped at the old end do not move the view.

import type { LogEntry } from '../../model/log/log-entry.ts';
import type { LogReader } from '../../model/log/log-store.ts';
import { bodyRows, type Size } from '../../model/ui/layout.ts';
import type { StateSlot } from '../../model/ui/ui-state.ts';
import type { View } from '../../model/ui/view.ts';
import type { LogColumn } from './log-columns.ts';
import { findMatch, nextError } from './log-search.ts';
import {
  type Folds,
  isOpen,
  isUnfolded,
  placeOf,
  pruned,
  type RowPlace,
  rowOf,
  rowsOf,
  withOpen,
  withUnfolded,
} from './log-tree.ts';

export interface LogState extends Folds {
  follow: boolean;
  /** Sequence number of the selected entry, or NONE. */
  selected: number;
  /** Selected row of that entry: 0 is its summary. */
  offset: number;
  /** Sequence number of the first entry on screen. */
  top: number;
  topRow: number;
  /** Is the detail pane open, and its scroll offset. */
  detail: boolean;
  scroll: number;
  /** Horizontal scroll offset of long texts, in cells. */
  shift: number;
  /** Optional columns shown. */
  columns: ReadonlySet<LogColumn>;
  /** Sequence numbers of groups, in the order in which they were marked. */
  bookmarks: readonly number[];
  /** Text searched by n and N. */
  search: string;
  /** Origins of jumps along links, last one at the end. */
  jumps: readonly { seq: number; offset: number }[];
  /** Queries with a warning already shown. */
  noted: ReadonlySet<string>;
  /** Steps back for Escape, next one at the end. */
  origins: readonly Origin[];
}

/** A view, and the log's query at that time; a null view is the log itself. `counted`: see LogReach. */
export interface Origin {
  view: View | null;
  query: string;
  counted: number;
}

/** No entry has this number. */
const NONE = Number.NEGATIVE_INFINITY;

const INITIAL_LOG: LogState = {
  follow: true,
  selected: NONE,
  offset: 0,
  unfoldAll: false,
  toggled: new Set(),
  opened: new Set(),
  top: 0,
  topRow: 0,
  detail: false,
  scroll: 0,
  shift: 0,
  columns: new Set(),
  bookmarks: [],
  search: '',
  jumps: [],
  noted: new Set(),
  origins: [],
};

export const LOG_STATE: StateSlot<LogState> = {
  initial: INITIAL_LOG,
  carry: ({ noted, columns }) => ({ ...INITIAL_LOG, noted, columns }),
};

export type LogAction =
  | { type: 'move'; rows: number }
  | { type: 'home' }
  | { type: 'end' }
  | { type: 'pause' }
  | { type: 'detail' }
  | { type: 'scroll'; rows: number; lines: number }
  | { type: 'shift'; cells: number }
  | { type: 'unfold' }
  | { type: 'fold' }
  | { type: 'toggle-all' }
  | { type: 'next-error'; back: boolean }
  | { type: 'search'; text: string }
  | { type: 'next-match'; back: boolean }
  /** Goes to a place in an entry, unfolding it as needed. */
  | { type: 'go'; seq: number; place: RowPlace }
  | { type: 'jump'; seq: number; place: RowPlace }
  | { type: 'jump-back' };

/** A header may be 8 KiB long (http_req_hdr_len). */
const MOST_SHIFT = 8192;

/** From this width on the detail pane is next to the list instead of below it. */
const BESIDE = 150;

export interface LogBody {
  /** Rows of the list. */
  list: number;
  /** The detail pane; 0 rows when closed. `beside` is its width, 0 if it is below the list. */
  detail: number;
  beside: number;
}

/** The query bar's 2 rows (text, status), heading, list, and the detail pane if open. */
export function logBody(size: Size, detail: boolean): LogBody {
  const room = Math.max(1, bodyRows(size) - 3);
  if (!detail) return { list: room, detail: 0, beside: 0 };
  if (size.columns >= BESIDE)
    return { list: room, detail: room + 1, beside: Math.floor(size.columns * 0.45) };
  const pane = Math.max(6, Math.floor(room * 0.6));
  return { list: Math.max(1, room - pane), detail: pane, beside: 0 };
}

export interface VisibleRow {
  entry: LogEntry;
  /** 0 is the summary line, from 1 on the rows of the unfolded group. */
  row: number;
}

/** The rows on a screen of `height`: the last ones while following, otherwise from the top position. */
export function visibleRows(view: LogState, store: LogReader, height: number): VisibleRow[] {
  const out: VisibleRow[] = [];
  if (store.size === 0 || height <= 0) return out;
  if (view.follow) {
    for (let i = store.size - 1; i >= 0 && out.length < height; i--) {
      const entry = store.at(i) as LogEntry;
      for (let row = rowsOf(view, entry) - 1; row >= 0 && out.length < height; row--)
        out.push({ entry, row });
    }
    return out.reverse();
  }
  let i = store.indexOf(view.top);
  let row = store.at(i)?.seq === view.top ? view.topRow : 0;
  for (; i < store.size && out.length < height; i++) {
    const entry = store.at(i) as LogEntry;
    const rows = rowsOf(view, entry);
    for (; row < rows && out.length < height; row++) out.push({ entry, row });
    row = 0;
  }
  return out;
}

/** The selected entry, or the newest while following. */
export function selectedEntry(view: LogState, store: LogReader): LogEntry | undefined {
  return view.follow || view.selected === NONE
    ? store.at(store.size - 1)
    : store.at(store.indexOf(view.selected));
}

export function selectedPlace(view: LogState, store: LogReader): RowPlace {
  const entry = selectedEntry(view, store);
  return entry === undefined || view.follow ? { tx: -1, record: -1 } : placeOf(view, entry, view.offset);
}

/** Applies an action; `height` is the list's on screen. */
export function reduceLog(view: LogState, action: LogAction, store: LogReader, height: number): LogState {
  switch (action.type) {
    case 'pause':
      return view.follow ? stop(view, store, height) : following(view);
    case 'home': {
      const first = store.at(0);
      if (first === undefined) return view;
      return { ...view, follow: false, selected: first.seq, offset: 0, top: first.seq, topRow: 0, scroll: 0 };
    }
    case 'end':
      return following(view);
    case 'move':
      return move(stop(view, store, height), action.rows, store, height);
    case 'detail': {
      const stopped = stop(view, store, height);
      return reveal({ ...stopped, detail: !view.detail, scroll: 0 }, store, height);
    }
    case 'scroll':
      return { ...view, scroll: Math.max(0, Math.min(action.lines - 1, view.scroll + action.rows)) };
    case 'shift':
      return { ...view, shift: Math.max(0, Math.min(MOST_SHIFT, view.shift + action.cells)) };
    case 'unfold':
      return unfold(stop(view, store, height), store, height);
    case 'fold':
      return fold(stop(view, store, height), store, height);
    case 'toggle-all': {
      const next = {
        ...view,
        unfoldAll: !view.unfoldAll,
        toggled: new Set<number>(),
        opened: new Set<string>(),
      };
      return reveal({ ...next, offset: 0 }, store, height);
    }
    case 'next-error':
      return findError(stop(view, store, height), action.back, store, height);
    case 'search':
      return { ...view, search: action.text };
    case 'next-match': {
      if (view.search === '') return view;
      const stopped = stop(view, store, height);
      const at = selectedPlace(stopped, store);
      const found = findMatch(store, stopped.selected, at, view.search, action.back);
      return found === null ? stopped : go(stopped, found.seq, found.place, store, height);
    }
    case 'go':
      return go(stop(view, store, height), action.seq, action.place, store, height);
    case 'jump': {
      const stopped = stop(view, store, height);
      const jumps = [...stopped.jumps, { seq: stopped.selected, offset: stopped.offset }].slice(-50);
      return go({ ...stopped, jumps }, action.seq, action.place, store, height);
    }
    case 'jump-back': {
      const last = view.jumps.at(-1);
      if (last === undefined) return view;
      const next = {
        ...view,
        jumps: view.jumps.slice(0, -1),
        selected: last.seq,
        offset: last.offset,
        scroll: 0,
      };
      return reveal(next, store, height);
    }
  }
}

function following(view: LogState): LogState {
  return { ...view, follow: true, selected: NONE, offset: 0, scroll: 0 };
}

/** Stops following: keeps the view in place and selects the last entry. */
function stop(view: LogState, store: LogReader, height: number): LogState {
  if (!view.follow) return pruned(view, store.at(0)?.seq ?? 0);
  const rows = visibleRows(view, store, height);
  const top = rows[0];
  const last = store.at(store.size - 1);
  if (top === undefined || last === undefined) return { ...view, follow: false };
  return { ...view, follow: false, selected: last.seq, offset: 0, top: top.entry.seq, topRow: top.row };
}

function unfold(view: LogState, store: LogReader, height: number): LogState {
  const entry = selectedEntry(view, store);
  if (entry === undefined || entry.gap !== '') return view;
  const place = placeOf(view, entry, view.offset);
  if (!isUnfolded(view, entry)) return spread(withUnfolded(view, entry, true), entry, store, height);
  if (place.tx < 0) return move(view, 1, store, height);
  if (place.record >= 0) return view;
  if (isOpen(view, entry, place.tx)) return move(view, 1, store, height);
  return spread(withOpen(view, entry, place.tx, true), entry, store, height);
}

/** Scrolls so that most of the screen shows the unfolded entry, with its predecessors above it. */
function spread(view: LogState, entry: LogEntry, store: LogReader, height: number): LogState {
  const rows = rowsOf(view, entry);
  const last = Math.min(rows - 1, view.offset + Math.ceil(height * 0.7) - 1);
  const shown = reveal({ ...reveal(view, store, height), offset: last }, store, height);
  return { ...shown, offset: view.offset };
}

function fold(view: LogState, store: LogReader, height: number): LogState {
  const entry = selectedEntry(view, store);
  if (entry === undefined) return view;
  const place = placeOf(view, entry, view.offset);
  const at = (next: LogState, to: RowPlace): LogState =>
    reveal({ ...next, offset: rowOf(next, entry, to), scroll: 0 }, store, height);
  if (place.tx < 0) return isUnfolded(view, entry) ? at(withUnfolded(view, entry, false), place) : view;
  if (place.record >= 0) return at(view, { tx: place.tx, record: -1 });
  if (isOpen(view, entry, place.tx) && entry.transactions.length > 1)
    return at(withOpen(view, entry, place.tx, false), place);
  return at(view, { tx: -1, record: -1 });
}

function go(view: LogState, seq: number, place: RowPlace, store: LogReader, height: number): LogState {
  const entry = store.at(store.indexOf(seq));
  if (entry === undefined) return view;
  let next: LogState = { ...view, selected: entry.seq, scroll: 0 };
  if (place.tx >= 0) next = withUnfolded(next, entry, true);
  if (place.record >= 0) next = withOpen(next, entry, place.tx, true);
  return reveal({ ...next, offset: rowOf(next, entry, place) }, store, height);
}

/** Moves by rows, first within a tall unfolded entry, then between entries. */
function move(view: LogState, rows: number, store: LogReader, height: number): LogState {
  let index = store.indexOf(view.selected);
  if (index < 0) return view;
  let offset = view.offset;
  const step = Math.sign(rows);
  for (let left = Math.abs(rows); left > 0; left--) {
    const entry = store.at(index) as LogEntry;
    offset += step;
    if (offset >= rowsOf(view, entry)) {
      if (index === store.size - 1) {
        offset = rowsOf(view, entry) - 1;
        break;
      }
      index++;
      offset = 0;
    } else if (offset < 0) {
      if (index === 0) {
        offset = 0;
        break;
      }
      index--;
      offset = rowsOf(view, store.at(index) as LogEntry) - 1;
    }
  }
  const selected = (store.at(index) as LogEntry).seq;
  return reveal({ ...view, selected, offset, scroll: 0 }, store, height);
}

function findError(view: LogState, back: boolean, store: LogReader, height: number): LogState {
  const at = nextError(store, store.indexOf(view.selected), back);
  const entry = store.at(at);
  if (entry === undefined) return view;
  return reveal({ ...view, selected: entry.seq, offset: 0, scroll: 0 }, store, height);
}

/** Scrolls as little as needed to show the selected row. */
function reveal(view: LogState, store: LogReader, height: number): LogState {
  if (view.follow || height <= 0) return view;
  const rows = visibleRows(view, store, height);
  const first = rows[0];
  if (first === undefined) return view;
  const shown = rows.some((r) => r.entry.seq === view.selected && r.row === view.offset);
  if (shown) return view;
  const above =
    view.selected < first.entry.seq || (view.selected === first.entry.seq && view.offset < first.row);
  if (above) return { ...view, top: view.selected, topRow: view.offset };
  // Walk back from the selected row until the screen is full.
  let index = store.indexOf(view.selected);
  let row = view.offset;
  for (let left = height - 1; left > 0; left--) {
    if (row > 0) row--;
    else if (index > 0) row = rowsOf(view, store.at(--index) as LogEntry) - 1;
    else break;
  }
  return { ...view, top: (store.at(index) as LogEntry).seq, topRow: row };
}
