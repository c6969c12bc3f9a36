// Rows of the statistics view: uptimes and hit rates, the columns NAME CURRENT CHANGE AVERAGE AVG_10 AVG_100
// AVG_1000, the selected counter's description. Narrow terminals drop averages from the right.

import { cell, cellRight, moreRows, type Row, span, sparkline, spread } from '../../draw/spans.ts';
import type { StyleName, Theme } from '../../draw/theme.ts';
import { adjusted, type Counter } from '../../model/counters/counter-history.ts';
import { WINDOWS } from '../../model/counters/hit-rate.ts';
import { hasNoWorker } from '../../model/session/daemon-health.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { scaledBytes, uptime } from '../../model/ui/numbers.ts';
import { cursorIndex, LEVELS, type StatState, statTop, visibleCounters } from './stat-state.ts';

const COLUMN = 14;
/** A sparkline of sixteen cells and the blanks before it. */
const SPARK = 18;
const TITLES = ['CURRENT', 'CHANGE', 'AVERAGE', 'AVG_10', 'AVG_100', 'AVG_1000'] as const;

/** Columns that fit, and the width of names. */
export interface StatColumns {
  name: number;
  titles: readonly string[];
  /** Is there room for sparklines? */
  sparks: boolean;
}

export function statColumns(width: number): StatColumns {
  const n = Math.max(1, Math.min(TITLES.length, Math.floor((width - 26) / COLUMN)));
  const sparks = width >= 26 + TITLES.length * COLUMN + SPARK;
  return { name: width - n * COLUMN - 1 - (sparks ? SPARK : 0), titles: TITLES.slice(0, n), sparks };
}

export function headingRow({ name, titles, sparks }: StatColumns): Row {
  return [
    cell(' NAME', name, 'strong'),
    ...titles.map((t) => cellRight(t, COLUMN, 'strong')),
    ...(sparks ? [cell('  RECENT', SPARK, 'strong')] : []),
  ];
}

/** The counters in the window of `height` rows; `cursor` is the selected row, -1 without counters. */
export interface ShownCounters {
  rows: Row[];
  cursor: number;
  current: Counter | undefined;
  /** Position, total, and number of counters outside of the window. */
  place: string;
  more: string;
}

export function shownCounters(
  session: DaemonSession,
  view: StatState,
  columns: StatColumns,
  height: number,
  theme: Theme,
): ShownCounters {
  const visible = visibleCounters(view, session.counters.all());
  const at = cursorIndex(view, visible);
  const top = statTop(view, at, height);
  const window = visible.slice(top, top + height);
  return {
    rows: window.map((counter) => [
      ...counterRow(counter, session, view, columns.name, columns.titles.length),
      ...(columns.sparks ? [span(`  ${sparkline(counter.recent, theme)}`, 'accent')] : []),
    ]),
    cursor: window.length === 0 ? -1 : at - top,
    current: visible[at],
    place: visible.length === 0 ? '0/0' : `${top + 1}-${top + window.length}/${visible.length}`,
    more: moreRows(top, visible.length - top - window.length),
  };
}

/** Display settings in words, and the level among all levels. */
export function statusRows(view: StatState): { remarks: string; levels: Row } {
  const remarks = [
    view.filters.map(({ kind, glob }) => `${kind === 'include' ? '-I' : '-X'} ${glob}`).join(' '),
    view.filter === '' ? '' : `/${view.filter}`,
    view.sort === 'table' && !view.reversed ? '' : `by ${view.sort}${view.reversed ? ', reversed' : ''}`,
    view.showUnseen ? 'unseen shown' : '',
    view.raw ? 'raw' : '',
    view.scale ? '' : 'unscaled',
    view.interval === 1 ? '' : `every ${view.interval.toFixed(1)} s`,
  ].filter((r) => r !== '');
  return {
    remarks: remarks.join(' · '),
    levels: LEVELS.map((l) =>
      l === view.level ? span(`[${l.toUpperCase()}]`, 'key') : span(` ${l.toUpperCase()} `, 'faint'),
    ),
  };
}

/** Two rows: uptimes on the left, samples and hit rates of three windows on the right. */
export function headRows(session: DaemonSession, width: number): Row[] {
  const windows = WINDOWS.map((w) => session.hitRate.window(w));
  const wide = width >= 64;
  const right = (label: string, texts: string[], style: StyleName): Row =>
    wide ? [span(label, 'muted'), ...texts.map((t) => cellRight(t, 9, style)), span(' ')] : [];
  return [
    spread(
      [span(' Uptime mgt:   ', 'muted'), span(managerUptime(session))],
      right(
        'Hitrate n:',
        windows.map((w) => String(w.n)),
        'text',
      ),
      width,
    ),
    spread(
      [
        span(' Uptime child: ', 'muted'),
        span(hasNoWorker(session) ? 'none' : uptime(session.counters.uptime())),
      ],
      right(
        '   avg(n):',
        windows.map((w) => (w.rate === null ? '–' : w.rate.toFixed(4))),
        'good',
      ),
      width,
    ),
  ];
}

/** Recorded logs do not have it. */
function managerUptime({ counters }: DaemonSession): string {
  const counter = counters.get('MGT.uptime');
  return counter === undefined ? 'not known' : uptime(Number(counter.current));
}

function counterRow(
  counter: Counter,
  session: DaemonSession,
  view: StatState,
  nameWidth: number,
  n: number,
): Row {
  const seconds = Math.max(1, session.counters.uptime());
  const gauge = counter.info.flag !== 'c';
  const bitmap = counter.info.flag === 'b';
  const number = (value: number): string =>
    view.scale && counter.info.format === 'B' ? scaled(value) : value.toFixed(2);
  const life = counter.info.format === 'd';
  const cells = bitmap
    ? [hex(counter.current), '', '', '', '', '']
    : [
        currentText(counter, view),
        life ? '' : number(counter.change),
        life ? '' : gauge ? '.' : number(Number(counter.current) / seconds),
        ...[counter.avg10, counter.avg100, counter.avg1000].map((a) => (life ? '' : number(a.value))),
      ];
  return [
    cell(`${view.pinned.includes(counter.info.name) ? '*' : ' '}${counter.info.name}`, nameWidth),
    ...cells
      .slice(0, n)
      .map((t, i) =>
        cellRight(t, COLUMN, i === 0 ? 'strong' : i === 1 && counter.change > 0 ? 'accent' : 'muted'),
      ),
  ];
}

function currentText(counter: Counter, view: StatState): string {
  const value = counter.info.flag === 'g' && !view.raw ? adjusted(counter.current) : counter.current;
  if (view.scale && counter.info.format === 'd') return uptime(Number(value));
  if (view.scale && counter.info.format === 'B') return scaledBytes(Number(value));
  return value.toString();
}

function scaled(value: number): string {
  return Math.abs(value) < 1024 ? value.toFixed(2) : scaledBytes(value);
}

/** A bitmap's newest 40 bits, in Varnish's format. */
function hex(value: bigint): string {
  return (value & 0xffffffffffn).toString(16).padStart(10, '0');
}

/** Two rows of the counter's description. */
export function description(counter: Counter | undefined, width: number, theme: Theme): Row[] {
  if (counter === undefined) return [[], []];
  const words = counter.info.description.split(/\s+/);
  const lines = [' '];
  for (const word of words) {
    const line = lines.at(-1) as string;
    if (line.length + word.length + 1 > width - 1 && lines.length < 2) lines.push(' ');
    lines[lines.length - 1] = `${lines.at(-1)} ${word}`.replace(/^ {2}/, ' ');
  }
  return [0, 1].map((i) => {
    const text = lines[i] ?? '';
    return [
      span(text.length > width - 1 ? `${text.slice(0, width - 2)}${theme.glyphs.ellipsis}` : text, 'muted'),
    ];
  });
}

/** Name, value and change per second, as columns or as NDJSON; values keep all their digits. */
export function countersText(counters: readonly Counter[], json: boolean): string {
  return counters
    .map(({ info, current, change }) =>
      json
        ? `{"name":${JSON.stringify(info.name)},"value":${current},"change":${change}}\n`
        : `${info.name}\t${current}\t${change.toFixed(2)}\n`,
    )
    .join('');
}
