// The last errors: failed requests from the log, and what happened to worker and connection, newest first.

import { wordsFit } from '../../draw/cells.ts';
import { cell, type Row, span, spread } from '../../draw/spans.ts';
import type { StyleName, Theme } from '../../draw/theme.ts';
import { hasNoWorker } from '../../model/daemon-health.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import type { SessionEvent } from '../../model/event-log.ts';
import type { LogEntry } from '../../model/log-entry.ts';
import { clock, duration } from '../../model/numbers.ts';
import { isTrouble, toneOf } from '../events/event-tones.ts';
import { handlingStyle } from '../log/log-rows.ts';
import { nothing, words } from './dashboard-nothing.ts';

/** Seconds of a turn from which clients notice, and from which something is wrong: the daemon tells of it as an event. */
const SLOW_TURN = 0.05;
const LONG_TURN = 0.25;

/** The longest are hitmiss and hitpass, and a blank. */
const HANDLING = 8;
/** From this width on there is room for how long a request took. */
const WITH_TIME = 64;

export function errorRows(
  session: DaemonSession,
  width: number,
  height: number,
  utc: boolean,
  theme: Theme,
): Row[] {
  const found: { at: number; row: Row }[] = [];
  for (let i = session.errors.size - 1; i >= 0 && found.length < height; i--) {
    const entry = session.errors.at(i) as LogEntry;
    if (entry.gap === '') found.push({ at: entry.summary.at, row: errorRow(entry, width, utc, theme) });
  }
  const happened = session.events.all().filter((event) => isTrouble(event.kind));
  for (const event of happened.slice(-height)) found.push({ at: event.at, row: eventRow(event, utc) });
  found.sort((a, b) => b.at - a.at);
  const { connection } = session;
  if (found.length === 0 && connection.state === 'waiting') return words(connection.reason, width);
  if (found.length === 0) return nothing(session, 'none so far', width);
  return found.slice(0, height).map((f) => f.row);
}

/** The longest turn of the last minute, and the work that all others waited for. */
export function turnRemark(session: DaemonSession): Row {
  const turn = session.turns.get();
  if (turn === null || hasNoWorker(session)) return [];
  const style: StyleName = turn.seconds >= LONG_TURN ? 'bad' : turn.seconds >= SLOW_TURN ? 'warn' : 'muted';
  const work = turn.work === '' ? '' : ` (${turn.work})`;
  return [span(`longest turn of the last minute ${duration(turn.seconds)}${work}`, style)];
}

function errorRow(entry: LogEntry, width: number, utc: boolean, theme: Theme): Row {
  const s = entry.failure ?? entry.summary;
  const error = s.error === '' ? entry.fetchError : s.error;
  const room = Math.max(0, Math.floor(width / 3));
  const right = error === '' ? [] : [span(`  ${wordsFit(error, room, theme.glyphs.ellipsis)}`, 'bad')];
  const took = Number.isNaN(s.seconds) ? '' : duration(s.seconds);
  return spread(
    [
      span(`${clock(s.at, utc)}  `, 'muted'),
      span(`${s.status}  `, 'bad'),
      cell(s.handling === '' ? theme.glyphs.dash : s.handling, HANDLING, handlingStyle(s.handling)),
      ...(width < WITH_TIME ? [] : [cell(took, 8, 'muted')]),
      span(`${s.method} `, 'strong'),
      span(s.url),
    ],
    right,
    width,
  );
}

function eventRow(event: SessionEvent, utc: boolean): Row {
  const { at, kind, text } = event;
  const said = kind === 'lost' || kind === 'trouble' ? text : `${kind}: ${text}`;
  return [span(`${clock(at, utc)}  `, 'muted'), span(said, toneOf(kind))];
}
