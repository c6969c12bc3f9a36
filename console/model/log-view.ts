// The log screen's state, pure: which entry is at the top, which is selected, what is unfolded, whether it
// follows. Positions are sequence numbers, so that entries falling out at the old end do not move the view.

import type { LogEntry, LogStore } from './log-store.ts';

export interface LogView {
  follow: boolean;
  /** Sequence number of the selected entry; 0 is none yet. */
  selected: number;
  /** First row of the selected entry that is on screen, when the entry is taller than the screen. */
  offset: number;
  /** Entries are one line each unless unfolded. */
  unfoldAll: boolean;
  /** Entries that differ from `unfoldAll`. */
  toggled: ReadonlySet<number>;
  /** Sequence number of the entry at the top of the screen. */
  top: number;
  topRow: number;
}

export const INITIAL_LOG_VIEW: LogView = {
  follow: true,
  selected: 0,
  offset: 0,
  unfoldAll: false,
  toggled: new Set(),
  top: 0,
  topRow: 0,
};

export type LogAction =
  | { type: 'move'; rows: number }
  | { type: 'home' }
  | { type: 'end' }
  | { type: 'follow' }
  | { type: 'pause' }
  | { type: 'toggle' }
  | { type: 'toggle-all' }
  | { type: 'next-error'; back: boolean };

export function isUnfolded(view: LogView, entry: LogEntry): boolean {
  return entry.gap === '' && view.unfoldAll !== view.toggled.has(entry.seq);
}

/** Screen rows of an entry: the summary line, and the records below it when unfolded. */
export function rowsOf(view: LogView, entry: LogEntry): number {
  return isUnfolded(view, entry) ? 1 + entry.rows : 1;
}

export interface VisibleRow {
  entry: LogEntry;
  /** 0 is the summary line, from 1 on the rows of the unfolded group. */
  row: number;
}

/** The rows on a screen of `height`: the last ones while following, else from the top position down. */
export function visibleRows(view: LogView, store: LogStore, height: number): VisibleRow[] {
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

/** Applies an action; `height` is that of the list on screen. */
export function reduceLog(view: LogView, action: LogAction, store: LogStore, height: number): LogView {
  switch (action.type) {
    case 'follow':
      return view.follow ? stop(view, store, height) : { ...view, follow: true, selected: 0, offset: 0 };
    case 'pause':
      return view.follow ? stop(view, store, height) : { ...view, follow: true, selected: 0, offset: 0 };
    case 'home': {
      const first = store.at(0);
      if (first === undefined) return view;
      return { ...view, follow: false, selected: first.seq, offset: 0, top: first.seq, topRow: 0 };
    }
    case 'end': {
      const last = store.at(store.size - 1);
      return last === undefined ? view : { ...view, follow: true, selected: 0, offset: 0 };
    }
    case 'move':
      return move(stop(view, store, height), action.rows, store, height);
    case 'toggle': {
      const stopped = stop(view, store, height);
      const toggled = new Set(stopped.toggled);
      if (toggled.has(stopped.selected)) toggled.delete(stopped.selected);
      else toggled.add(stopped.selected);
      // Entries that fell out need no memory of their fold.
      const oldest = store.at(0)?.seq ?? 0;
      for (const seq of toggled) if (seq < oldest) toggled.delete(seq);
      const next = { ...stopped, toggled, offset: 0 };
      const entry = store.at(store.indexOf(next.selected));
      if (entry === undefined) return next;
      // What was unfolded is to be seen: scroll until most of the screen shows it, its neighbours above.
      const last = Math.min(rowsOf(next, entry), Math.ceil(height * 0.7)) - 1;
      return { ...reveal({ ...reveal(next, store, height), offset: last }, store, height), offset: 0 };
    }
    case 'toggle-all':
      return reveal({ ...view, unfoldAll: !view.unfoldAll, toggled: new Set(), offset: 0 }, store, height);
    case 'next-error':
      return findError(stop(view, store, height), action.back, store, height);
  }
}

export function isError(entry: LogEntry): boolean {
  return entry.summary.status >= 500 || entry.summary.error !== '';
}

/** Ends following with the view where it is and the last entry selected. */
function stop(view: LogView, store: LogStore, height: number): LogView {
  if (!view.follow) return view;
  const rows = visibleRows(view, store, height);
  const top = rows[0];
  const last = store.at(store.size - 1);
  if (top === undefined || last === undefined) return { ...view, follow: false };
  return { ...view, follow: false, selected: last.seq, offset: 0, top: top.entry.seq, topRow: top.row };
}

/** Moves by rows: within a tall unfolded entry first, then from entry to entry. */
function move(view: LogView, rows: number, store: LogStore, height: number): LogView {
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
  return reveal({ ...view, selected: (store.at(index) as LogEntry).seq, offset }, store, height);
}

function findError(view: LogView, back: boolean, store: LogStore, height: number): LogView {
  const step = back ? -1 : 1;
  for (let i = store.indexOf(view.selected) + step; i >= 0 && i < store.size; i += step) {
    const entry = store.at(i) as LogEntry;
    if (isError(entry)) return reveal({ ...view, selected: entry.seq, offset: 0 }, store, height);
  }
  return view;
}

/** Scrolls as little as needed to show the selected row. */
function reveal(view: LogView, store: LogStore, height: number): LogView {
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
