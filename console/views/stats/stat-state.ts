// State of the statistics screen, pure: level, unseen counters, scaling, raw gauges, filter, cursor, and the
// selection of rows and columns. Semantics and keys are those of varnishstat.

import type { CounterSubscription } from '../../../protocol/messages.ts';
import { matchesGlob } from '../../../queries/fnmatch.ts';
import type { Counter } from '../../model/counters/counter-history.ts';
import { bodyRows, type Size } from '../../model/ui/layout.ts';
import type { StateSlot } from '../../model/ui/ui-state.ts';

/** In table order, or greatest first. */
const STAT_SORTS = ['table', 'name', 'current', 'change'] as const;
export type StatSort = (typeof STAT_SORTS)[number];

export type Level = 'info' | 'diag' | 'debug';
export const LEVELS: readonly Level[] = ['info', 'diag', 'debug'];

export type CounterFilters = NonNullable<CounterSubscription['filters']>;

export interface StatState {
  /** From the command line, fixed for the process: the first one that matches a name wins. */
  filters: CounterFilters;
  level: Level;
  showUnseen: boolean;
  raw: boolean;
  scale: boolean;
  /** Lower-case text that names must contain. */
  filter: string;
  /** Name of the counter under the cursor; '' is the first. */
  selected: string;
  top: number;
  /** Seconds between samples. */
  interval: number;
  /** Names shown at the top, whatever the level and filter. */
  pinned: readonly string[];
  sort: StatSort;
  reversed: boolean;
}

const INITIAL_STAT: StatState = {
  filters: [],
  level: 'info',
  showUnseen: false,
  raw: false,
  scale: true,
  filter: '',
  selected: '',
  top: 0,
  interval: 1,
  pinned: [],
  sort: 'table',
  reversed: false,
};

export const STAT_STATE: StateSlot<StatState> = { initial: INITIAL_STAT, carry: (state) => state };

export type StatAction =
  | { type: 'move'; rows: number }
  | { type: 'home' }
  | { type: 'end' }
  | { type: 'level'; step: 1 | -1 }
  | { type: 'unseen' }
  | { type: 'raw' }
  | { type: 'scale' }
  | { type: 'pin' }
  | { type: 'sort' }
  | { type: 'reverse' }
  | { type: 'filter'; text: string }
  | { type: 'interval'; step: 1 | -1 };

export function visibleCounters(view: StatState, counters: readonly Counter[]): Counter[] {
  const max = LEVELS.indexOf(view.level);
  const pinned = counters.filter((c) => view.pinned.includes(c.info.name));
  const rest = counters.filter(
    (c) =>
      isChosen(view.filters, c.info.name) &&
      !view.pinned.includes(c.info.name) &&
      (view.showUnseen || c.seen) &&
      LEVELS.indexOf(c.info.level) <= max &&
      (view.filter === '' || c.info.name.toLowerCase().includes(view.filter)),
  );
  return [...pinned, ...sorted(rest, view)];
}

/** The same choice as the daemon makes for a subscription. */
function isChosen(filters: CounterFilters, name: string): boolean {
  const first = filters.find(({ glob }) => matchesGlob(glob, name));
  return first === undefined ? filters.every(({ kind }) => kind === 'exclude') : first.kind === 'include';
}

const ORDERS: Readonly<Record<Exclude<StatSort, 'table'>, (a: Counter, b: Counter) => number>> = {
  name: (a, b) => (a.info.name < b.info.name ? -1 : 1),
  current: (a, b) => (a.current > b.current ? -1 : a.current < b.current ? 1 : 0),
  change: (a, b) => b.change - a.change,
};

function sorted(counters: Counter[], { sort, reversed }: StatState): Counter[] {
  if (sort !== 'table') counters.sort(ORDERS[sort]);
  return reversed ? counters.reverse() : counters;
}

export function cursorIndex(view: StatState, rows: readonly Counter[]): number {
  return Math.max(
    0,
    rows.findIndex((c) => c.info.name === view.selected),
  );
}

/** Applies an action; `height` is the list's, `counters` are all of them. */
export function reduceStat(
  view: StatState,
  action: StatAction,
  counters: readonly Counter[],
  height: number,
): StatState {
  switch (action.type) {
    case 'move':
      return place(view, counters, height, (at) => at + action.rows);
    case 'home':
      return place(view, counters, height, () => 0);
    case 'end':
      return place(view, counters, height, (_at, last) => last);
    case 'level': {
      const at = LEVELS.indexOf(view.level) + action.step;
      return keep(
        { ...view, level: LEVELS[Math.max(0, Math.min(LEVELS.length - 1, at))] as Level },
        counters,
        height,
      );
    }
    case 'unseen':
      return keep({ ...view, showUnseen: !view.showUnseen }, counters, height);
    case 'raw':
      return { ...view, raw: !view.raw };
    case 'pin': {
      const name = visibleCounters(view, counters)[cursorIndex(view, visibleCounters(view, counters))]?.info
        .name;
      if (name === undefined) return view;
      const pinned = view.pinned.includes(name)
        ? view.pinned.filter((p) => p !== name)
        : [...view.pinned, name];
      return keep({ ...view, selected: name, pinned }, counters, height);
    }
    case 'sort': {
      const at = (STAT_SORTS.indexOf(view.sort) + 1) % STAT_SORTS.length;
      return { ...view, sort: STAT_SORTS[at] as StatSort, selected: '', top: 0 };
    }
    case 'reverse':
      return { ...view, reversed: !view.reversed, selected: '', top: 0 };
    case 'scale':
      return { ...view, scale: !view.scale };
    case 'filter':
      return keep({ ...view, filter: action.text.toLowerCase() }, counters, height);
    case 'interval': {
      // In tenths of a second, as in varnishstat.
      const next = Math.round((view.interval + action.step * 0.1) * 10) / 10;
      return { ...view, interval: Math.max(0.1, Math.min(1000, next)) };
    }
  }
}

function place(
  view: StatState,
  counters: readonly Counter[],
  height: number,
  to: (at: number, last: number) => number,
): StatState {
  const rows = visibleCounters(view, counters);
  const last = rows.length - 1;
  if (last < 0) return view;
  const at = Math.max(0, Math.min(last, to(cursorIndex(view, rows), last)));
  const selected = (rows[at] as Counter).info.name;
  return { ...view, selected, top: scrolled(view.top, at, last + 1, height) };
}

function keep(view: StatState, counters: readonly Counter[], height: number): StatState {
  return place(view, counters, height, (at) => at);
}

function scrolled(top: number, at: number, count: number, height: number): number {
  const least = Math.max(0, at - height + 1);
  return Math.max(0, Math.min(Math.max(least, Math.min(top, at)), Math.max(0, count - height)));
}

/** 2 rows of uptimes, a heading, the list, a status row, 2 rows of description. */
export function statListRows(size: Size): number {
  return Math.max(1, bodyRows(size) - 6);
}

/** First row on a screen of `height`, with the cursor at `at`. */
export function statTop(view: StatState, at: number, height: number): number {
  return Math.max(0, Math.min(Math.max(view.top, at - height + 1), at));
}
