// The threads of the worker, beside one another: requests a second, connections, and the worst delay of the event loop in
// the last second. Where not all have room, those that are most behind come first.

import { cell, cellRight, type Row, type Span, span } from '../../draw/spans.ts';
import type { StyleName } from '../../draw/theme.ts';
import { threadDelay } from '../../model/daemon-health.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import { count, duration, rate } from '../../model/numbers.ts';

/** Cells of a thread without its name, and between two. */
const FIGURES = 25;
const GAP = 2;
/** Seconds of delay from which clients notice, and from which something is wrong (chosen). */
const SLOW = 0.05;
const STUCK = 0.5;

/** Rows that all threads take in so many cells. */
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
  const { threads } = session.counters;
  const inRow = threadsInRow(threads, width);
  const room = inRow * height;
  let shown = threads;
  let more = 0;
  if (threads.length > room) {
    // The last place says how many there are besides, unless there is but one place.
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
