// Rows of the dashboard's panels: percentiles, status classes and rankings of the sampled traffic, backends, the last
// errors, and the worker's threads. Figures from a sample say so unless the sample is everything.

import { ellipsis, padEnd, widthOf } from '../../draw/cells.ts';
import { bar, cell, cellRight, type Row, type Span, span, spread } from '../../draw/spans.ts';
import type { StyleName, Theme } from '../../draw/theme.ts';
import { probeBits } from '../../draw/tone-rows.ts';
import { placeOfName } from '../../model/session/admin-line.ts';
import { type BackendRow, healthTone, probesRun, shortName } from '../../model/session/backends.ts';
import { hasNoWorker, threadDelay } from '../../model/session/daemon-health.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { LAST_MINUTE } from '../../model/traffic/backend-traffic.ts';
import { folded } from '../../model/ui/folded-lines.ts';
import { count, duration, percent, rate } from '../../model/ui/numbers.ts';

const SHARES = [0.5, 0.9, 0.99];
const FEW_SHARES = [0.5, 0.99];
/** Cells of the labels of latencies, and the fewest: the longest and a blank. */
const LABEL = 8;
const LEAST_LABEL = 7;
/** The longest duration and a blank. */
const DURATION_CELLS = 7;

export function latencySummary(session: DaemonSession, width: number, theme: Theme): Row[] {
  const latency = session.traffic.sample.latencyOver(LAST_MINUTE, session.dataAt);
  if (latency.size === 0) return nothing(session, 'no traffic', width);
  const fits = (some: readonly number[], label: number): boolean =>
    width >= label + DURATION_CELLS * some.length;
  const shares = fits(SHARES, LABEL) ? SHARES : fits(FEW_SHARES, LEAST_LABEL) ? FEW_SHARES : [0.99];
  const label = Math.max(LEAST_LABEL, Math.min(LABEL, width - DURATION_CELLS * shares.length));
  const cells = Math.max(DURATION_CELLS, Math.floor((width - label) / shares.length));
  return [
    [cell('', label), ...shares.map((s) => cellRight(`p${s * 100}`, cells, 'muted'))],
    ...(['all', 'hits', 'others'] as const).map(
      (kind): Row => [
        cell(kind, label, kind === 'hits' ? 'hit' : kind === 'others' ? 'miss' : 'strong'),
        ...shares.map((share) => {
          const value = latency.percentile(share, kind);
          return cellRight(value === null ? theme.glyphs.dash : duration(value), cells);
        }),
      ],
    ),
  ];
}

/** The same in a few wrapped, if a table does not fit. */
export function percentileRemark(session: DaemonSession): Row {
  const latency = session.traffic.sample.latencyOver(LAST_MINUTE, session.dataAt);
  const of = (share: number): string => {
    const value = latency.percentile(share);
    return value === null ? '' : `p${share * 100} ${duration(value)}`;
  };
  return latency.size === 0 ? [] : [span(SHARES.map(of).join('  '), 'muted')];
}

export function sampleRemark(session: DaemonSession): Row {
  const share = session.traffic.share();
  return share >= 0.99 ? [] : [span(`of ${percent(share)}`, 'faint')];
}

/** Different statuses that are counted (chosen). */
const STATUSES = 100;

const CLASSES: readonly { from: number; label: string; style: StyleName }[] = [
  { from: 200, label: '2xx', style: 'good' },
  { from: 300, label: '3xx', style: 'accent' },
  { from: 400, label: '4xx', style: 'warn' },
  { from: 500, label: '5xx', style: 'bad' },
];

export function statusRows(session: DaemonSession, width: number, height: number, theme: Theme): Row[] {
  const { ranks } = session.traffic.sample.ranked('status', LAST_MINUTE, session.dataAt, STATUSES);
  const total = ranks.reduce((sum, r) => sum + r.requests, 0);
  if (total === 0) return nothing(session, 'no traffic', width);
  const rows = CLASSES.map(({ from, label, style }): Row => {
    const inside = ranks.filter((r) => Number(r.key) >= from && Number(r.key) < from + 100);
    const n = inside.reduce((sum, r) => sum + r.requests, 0);
    const room = Math.max(0, width - 13);
    return [
      cell(label, 4, style),
      cellRight(percent(n / total), 7),
      span('  '),
      ...(room >= 4 ? bar(n / total, room, theme, style) : []),
    ];
  });
  for (const r of [...ranks].filter((one) => Number(one.key) >= 400).sort((a, b) => b.requests - a.requests))
    rows.push([
      cell(r.key, 4, Number(r.key) >= 500 ? 'bad' : 'warn'),
      cellRight(count(r.requests), 7, 'muted'),
    ]);
  return rows.slice(0, height);
}

export function topRows(
  session: DaemonSession,
  by: 'requests' | 'misses',
  width: number,
  height: number,
  theme: Theme,
): Row[] {
  const { ranks: all } = session.traffic.sample.ranked('url', LAST_MINUTE, session.dataAt, height, by);
  const ranks = all.filter((r) => r[by] > 0);
  if (ranks.length === 0) return nothing(session, by === 'misses' ? 'no misses' : 'no traffic', width);
  return ranks.map((r) =>
    spread(
      [span(ellipsis(r.key, width - 9, theme.glyphs.ellipsis))],
      [span(count(r[by]), by === 'misses' ? 'miss' : 'strong')],
      width,
    ),
  );
}

/** Empty before the first connection: nothing is known yet. */
export function nothing(session: DaemonSession, text: string, width: number): Row[] {
  return session.everUp ? wrapped(text, width) : [];
}

export function wrapped(text: string, width: number): Row[] {
  return folded([[{ text }]], width).map((line) => [span(line.map((part) => part.text).join(''), 'muted')]);
}

export function backendRows(session: DaemonSession, width: number, theme: Theme): Row[] {
  if (session.backends.length === 0) return nothing(session, session.backendsUnknown || 'no backends', width);
  // Sick backends come first, so that a short panel does not cut them off.
  const order = [...session.backends].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  const room = Math.max(6, width - AROUND_NAME);
  // If all names do not fit, the program's name is dropped: all backends belong to the same one.
  const labels = order.every((b) => b.name.length <= room)
    ? order.map((b) => b.name)
    : order.map((b) => placeOfName(b.name) + shortName(b.name));
  const nameWidth = Math.min(Math.max(...labels.map((label) => label.length)), room);
  return order.map((b, i) =>
    backendRow(
      b,
      padEnd(ellipsis(labels[i] as string, nameWidth, theme.glyphs.ellipsis), nameWidth),
      session,
      width,
      theme,
    ),
  );
}

/** Cells of the glyph, health and load. */
const AROUND_NAME = 19;

function rank(b: BackendRow): number {
  return b.health === 'sick' ? 0 : b.health === 'unknown' ? 1 : 2;
}

function backendRow(b: BackendRow, name: string, session: DaemonSession, width: number, theme: Theme): Row {
  const sick = b.health === 'sick';
  const { bullet, down, dash } = theme.glyphs;
  const style = healthTone(b.health, session.isOld);
  const left: Span[] = [
    span(`${sick ? down : bullet} `, style),
    span(name),
    span(` ${padEnd(b.health, 8)}`, style),
  ];
  const used = 2 + widthOf(name) + 9;
  const counter = `VBE.${b.name}.req`;
  // Directors have no counters.
  let load =
    session.counters.get(counter) === undefined || !session.counters.hasRates
      ? ''
      : `${rate(session.counters.rate(counter))}/s`;
  const right: Span[] = [span(load === '' || used + load.length + 1 > width ? '' : ` ${load}`, 'muted')];
  const timing = used + load.length + 1 > width ? [] : timingOf(session, b, width - used - load.length - 1);
  right.unshift(...timing);
  load += timing.map(({ text }) => text).join('');
  const happy = session.counters.get(`VBE.${b.name}.happy`)?.current;
  if (b.members !== null) {
    const members = ` ${b.members.healthy}/${b.members.all} members`;
    if (width - used >= members.length + load.length + 1) left.push(span(members, 'muted'));
  } else if (b.probe === null) {
    const remark =
      b.admin !== 'sick' ? ` ${dash} ${b.type === 'backend' ? 'no probe' : b.type}` : ` ${b.admin}`;
    if (width - used >= remark.length + load.length + 1) left.push(span(remark, 'faint'));
  } else {
    const score = ` ${b.probe.good}/${b.probe.window}`;
    if (width - used >= score.length + load.length + 1) left.push(span(score, 'muted'));
    const room = Math.min(probesRun(b, happy ?? 0n, b.probe.window), width - used - 5 - load.length - 4);
    if (happy !== undefined && room >= 1)
      left.push(span(' '), ...probeBits(happy, room, theme, session.isOld));
  }
  return spread(left, right, width);
}

/** How the backend answered in the last minute, as far as there is room: errors, p99, p50. */
function timingOf(session: DaemonSession, { name, type }: BackendRow, room: number): Span[] {
  if (type !== 'backend') return [];
  const traffic = session.traffic.sample.backendTraffic(session.dataAt, LAST_MINUTE).get(shortName(name));
  if (traffic === undefined) return [];
  const { errors, fetches, p50, p99 } = traffic;
  const out: Span[] = [];
  let left = room;
  const add = (text: string, style: StyleName): void => {
    if (text.length > left) return;
    left -= text.length;
    out.unshift(span(text, style));
  };
  if (errors > 0) add(` ${percent(errors / fetches)} failed`, 'bad');
  if (p99 !== null) add(` p99 ${duration(p99)}`, 'strong');
  if (p50 !== null) add(` p50 ${duration(p50)}`, 'muted');
  return out;
}

/** Turn lengths in seconds that clients notice, and that indicate a problem; the latter also raises an event. */
const SLOW_TURN = 0.05;
const LONG_TURN = 0.25;

/** The longest turn of the last minute, and the work that blocked the thread. */
export function turnRemark(session: DaemonSession): Row {
  const turn = session.turns.get();
  if (turn === null || hasNoWorker(session)) return [];
  const style: StyleName = turn.seconds >= LONG_TURN ? 'bad' : turn.seconds >= SLOW_TURN ? 'warn' : 'muted';
  const work = turn.work === '' ? '' : ` (${turn.work})`;
  return [span(`longest turn of the last minute ${duration(turn.seconds)}${work}`, style)];
}

/** Cells per thread besides its name, and between two threads. */
const FIGURES = 25;
const GAP = 2;
/** Event loop delays in seconds that clients notice, and that indicate a problem (chosen). */
const SLOW = 0.05;
const STUCK = 0.5;

/** Rows needed for all threads at this width. */
export function threadLines(threads: readonly string[], width: number): number {
  return Math.ceil(threads.length / threadsInRow(threads, width));
}

function nameCells(threads: readonly string[]): number {
  return Math.max(2, ...threads.map((name) => name.length + 1));
}

function threadsInRow(threads: readonly string[], width: number): number {
  return Math.max(1, Math.floor((width + GAP) / (nameCells(threads) + FIGURES + GAP)));
}

export function threadRows(session: DaemonSession, width: number, height: number): Row[] {
  if (hasNoWorker(session)) return [[span('no worker', 'muted')]];
  const { threads } = session.counters;
  const inRow = threadsInRow(threads, width);
  const room = inRow * height;
  let shown = threads;
  let more = 0;
  if (threads.length > room) {
    // The last place shows how many are omitted, unless there is only one place.
    const places = Math.max(1, room - 1);
    shown = [...threads]
      .sort((a, b) => threadDelay(session.counters, b) - threadDelay(session.counters, a))
      .slice(0, places);
    more = threads.length - shown.length;
  }
  const cells = shown.map((name) => threadCells(session, name, nameCells(threads)));
  if (more > 0) cells.push([span(`and ${more} more`, 'muted')]);
  return Array.from({ length: Math.min(height, Math.ceil(cells.length / inRow)) }, (_, row) =>
    cells
      .slice(row * inRow, (row + 1) * inRow)
      .flatMap((one, i) => (i === 0 ? one : [span(' '.repeat(GAP)), ...one])),
  );
}

function threadCells(session: DaemonSession, name: string, cells: number): Span[] {
  const { counters } = session;
  const delay = threadDelay(counters, name);
  const style: StyleName = delay >= STUCK ? 'bad' : delay >= SLOW ? 'warn' : 'muted';
  return [
    cell(name, cells, 'strong'),
    cellRight(`${rate(counters.rate(`THR.${name}.requests`))}/s`, 8),
    cellRight(`${count(Number(counters.value(`THR.${name}.connections_open`)))} conn`, 10),
    cellRight(duration(delay), 7, style),
  ];
}
