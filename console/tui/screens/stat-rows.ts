// Rows of the statistics view: uptimes and hit rates, the columns NAME CURRENT CHANGE AVERAGE AVG_10
// AVG_100 AVG_1000, the selected counter's description. A narrow terminal drops averages from the right.

import { adjusted, type Counter } from '../../model/counter-history.ts';
import { WINDOWS } from '../../model/hit-rate.ts';
import { scaledBytes, uptime } from '../../model/numbers.ts';
import type { Session } from '../../model/session.ts';
import { cursorIndex, LEVELS, type StatView, visibleCounters } from '../../model/stat-view.ts';
import { cell, cellRight, type Row, type Span, span, spread } from '../spans.ts';
import type { FillName, StyleName, Theme } from '../theme.ts';

const COLUMN = 14;
/** A sparkline of sixteen cells with the blanks before it. */
const SPARK = 18;
const TITLES = ['CURRENT', 'CHANGE', 'AVERAGE', 'AVG_10', 'AVG_100', 'AVG_1000'] as const;

export function statRows(
  session: Session,
  view: StatView,
  width: number,
  height: number,
  theme: Theme,
): { rows: Row[]; fills: Map<number, FillName> } {
  const { counters } = session;
  const visible = visibleCounters(view, counters.all());
  const listHeight = Math.max(1, height - 6);
  const at = cursorIndex(view, visible);
  const top = Math.max(0, Math.min(Math.max(view.top, at - listHeight + 1), at));
  const n = Math.max(1, Math.min(TITLES.length, Math.floor((width - 26) / COLUMN)));
  const lines = width >= 26 + TITLES.length * COLUMN + SPARK;
  const nameWidth = width - n * COLUMN - 1 - (lines ? SPARK : 0);
  const rows: Row[] = headRows(session, width);
  const fills = new Map<number, FillName>();
  fills.set(rows.length, 'bar');
  rows.push([
    cell(' NAME', nameWidth, 'strong'),
    ...TITLES.slice(0, n).map((t) => cellRight(t, COLUMN, 'strong')),
    ...(lines ? [cell('  RECENT', SPARK, 'strong')] : []),
  ]);
  for (let i = top; i < top + listHeight; i++) {
    const counter = visible[i];
    if (counter !== undefined && i === at) fills.set(rows.length, 'selected');
    rows.push(
      counter === undefined
        ? []
        : [
            ...counterRow(counter, session, view, nameWidth, n),
            ...(lines ? [span(`  ${sparkline(counter.recent, theme)}`, 'accent')] : []),
          ],
    );
  }
  const current = visible[at];
  const last = Math.min(visible.length, top + listHeight);
  const place = visible.length === 0 ? '0/0' : `${top + 1}-${last}/${visible.length}`;
  const levels: Span[] = LEVELS.flatMap((l) => [
    span(
      l === view.level ? `[${l.toUpperCase()}]` : ` ${l.toUpperCase()} `,
      l === view.level ? 'key' : 'faint',
    ),
  ]);
  const remarks = [
    view.filter === '' ? '' : `/${view.filter}`,
    view.sort === 'table' && !view.reversed ? '' : `by ${view.sort}${view.reversed ? ', reversed' : ''}`,
    view.showUnseen ? 'unseen shown' : '',
    view.raw ? 'raw' : '',
    view.scale ? '' : 'unscaled',
    view.interval === 1 ? '' : `every ${view.interval.toFixed(1)} s`,
  ].filter((r) => r !== '');
  fills.set(rows.length, 'bar');
  rows.push(
    spread(
      [span(` ${current?.info.name ?? 'no counter'}  `, 'strong'), span(remarks.join(' · '), 'warn')],
      [...levels, span(`  ${place} `, 'muted')],
      width,
    ),
  );
  rows.push(...description(current, width, theme));
  return { rows, fills };
}

/** Two rows: uptimes on the left, samples and hit rates of the three windows on the right. */
function headRows(session: Session, width: number): Row[] {
  const windows = WINDOWS.map((w) => session.hitRate.window(w));
  const wide = width >= 64;
  const right = (label: string, texts: string[], style: StyleName): Row =>
    wide ? [span(label, 'muted'), ...texts.map((t) => cellRight(t, 9, style)), span(' ')] : [];
  return [
    spread(
      [span(' Uptime mgt:   ', 'muted'), span(uptime(Number(session.counters.value('MGT.uptime'))))],
      right(
        'Hitrate n:',
        windows.map((w) => String(w.n)),
        'text',
      ),
      width,
    ),
    spread(
      [span(' Uptime child: ', 'muted'), span(uptime(session.counters.uptime()))],
      right(
        '   avg(n):',
        windows.map((w) => (w.rate ?? 0).toFixed(4)),
        'good',
      ),
      width,
    ),
  ];
}

function counterRow(counter: Counter, session: Session, view: StatView, nameWidth: number, n: number): Row {
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

/** Between the least and the greatest of them; a line that does not move is flat. */
function sparkline(values: readonly number[], theme: Theme): string {
  const marks = theme.glyphs.braille ? '▁▂▃▄▅▆▇█' : '_.-=^';
  const low = Math.min(...values);
  const span = Math.max(...values) - low;
  return values
    .map((v) => marks[span === 0 ? 0 : Math.round(((v - low) / span) * (marks.length - 1))])
    .join('');
}

function currentText(counter: Counter, view: StatView): string {
  const value = counter.info.flag === 'g' && !view.raw ? adjusted(counter.current) : counter.current;
  if (view.scale && counter.info.format === 'd') return uptime(Number(value));
  if (view.scale && counter.info.format === 'B') return scaledBytes(Number(value));
  return value.toString();
}

function scaled(value: number): string {
  return Math.abs(value) < 1024 ? value.toFixed(2) : scaledBytes(value);
}

/** A bitmap's newest 40 bits, as Varnish shows them. */
function hex(value: bigint): string {
  return (value & 0xffffffffffn).toString(16).padStart(10, '0');
}

function description(counter: Counter | undefined, width: number, theme: Theme): Row[] {
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
