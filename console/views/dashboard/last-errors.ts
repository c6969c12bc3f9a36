// The last errors of the dashboard: responses with an error, and troubles of the daemon, which may be their cause.

import { widthOf, wordsFit } from '../../draw/cells.ts';
import { cell, type Row, span, spread } from '../../draw/spans.ts';
import type { Theme } from '../../draw/theme.ts';
import type { LogEntry } from '../../model/log/log-entry.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { SessionEvent } from '../../model/session/event-log.ts';
import { clock, count, duration } from '../../model/ui/numbers.ts';
import { type AlikeEvents, foldAlike } from '../events/alike-events.ts';
import { isRecovery, isTrouble, toneOf } from '../events/event-tones.ts';
import { handlingStyle } from '../log/log-rows.ts';
import { explainFetchError } from '../log/why/error-rules.ts';
import { nothing, wrapped } from './dashboard-rows.ts';

/** The longest, hitmiss and hitpass, and a blank. */
const HANDLING = 8;
/** Minimum width for the duration column. */
const WITH_TIME = 64;

/** A row of the last errors. `rank`: which ones to leave out where not all have room, the highest first. */
interface FoundError {
  at: number;
  row: Row;
  rank: 0 | 1 | 2;
}

/** Events that may be the cause of errors, and seconds for which these do not push them out (chosen). */
const CAUSES: ReadonlySet<string> = new Set(['worker', 'panic', 'health', 'program']);
const CAUSE_SECONDS = 300;

export function errorRows(
  session: DaemonSession,
  width: number,
  height: number,
  utc: boolean,
  theme: Theme,
): Row[] {
  const found: FoundError[] = [];
  // Older ones may be like these.
  const orMore = session.log.errors.dropped > 0 ? '+' : '';
  for (const alike of sameErrors(session, height)) {
    const { at } = alike.entry.summary;
    found.push({ at, row: errorRow(alike, orMore, width, utc, theme), rank: 1 });
  }
  const since = session.dataAt - CAUSE_SECONDS;
  let causes = Math.floor(height / 2);
  for (const { newest, all, text } of sameTroubles(session, height)) {
    const { at, kind } = newest;
    // A busy machine holds threads up all the time.
    const rank = kind === 'turn' ? 2 : CAUSES.has(kind) && at >= since && causes-- > 0 ? 0 : 1;
    found.push({ at, row: eventRow({ ...newest, text }, often(all.length), width, utc), rank });
  }
  const { connection } = session;
  if (found.length === 0 && connection.state === 'waiting') return wrapped(connection.reason, width);
  if (found.length === 0) return nothing(session, 'none so far', width);
  return found
    .sort((a, b) => a.rank - b.rank || b.at - a.at)
    .slice(0, height)
    .sort((a, b) => b.at - a.at)
    .map(({ row }) => row);
}

/** Errors that are looked at, the newest first (chosen). */
const ERRORS = 400;

interface SameErrors {
  /** The newest of them. */
  entry: LogEntry;
  times: number;
  urls: Set<string>;
}

/** Errors that are alike, the newest first, at most `limit`, so that a repeated one does not push out its cause. Those
 * with one reason are alike whatever their URLs if there would be too many otherwise. */
function sameErrors(session: DaemonSession, limit: number): SameErrors[] {
  const each = errorsBy(session, limit, ({ method, url, status }, reason) =>
    [status, method, url, reason].join(' '),
  );
  if (each.length < limit) return each;
  return errorsBy(session, limit, ({ method, url, status }, reason) =>
    [status, ...(reason === '' ? [method, url] : []), reason].join(' '),
  );
}

function errorsBy(
  session: DaemonSession,
  limit: number,
  keyOf: (request: LogEntry['summary'], reason: string) => string,
): SameErrors[] {
  const found = new Map<string, SameErrors>();
  const { errors } = session.log;
  for (let i = errors.size - 1; i >= Math.max(0, errors.size - ERRORS); i--) {
    const entry = errors.at(i) as LogEntry;
    if (entry.gap !== '') continue;
    const request = entry.failure ?? entry.summary;
    const key = keyOf(request, request.error === '' ? entry.fetchError : request.error);
    const url = `${request.method} ${request.url}`;
    const same = found.get(key);
    if (same !== undefined) {
      same.times++;
      same.urls.add(url);
    } else if (found.size < limit) found.set(key, { entry, times: 1, urls: new Set([url]) });
  }
  return [...found.values()];
}

/** The same of events that are trouble; a recovery is none. */
function sameTroubles(session: DaemonSession, limit: number): AlikeEvents[] {
  const troubles = session.events.all().filter((event) => isTrouble(event.kind) && !isRecovery(event));
  const newestFirst = troubles.reverse();
  return [
    ...foldAlike(
      newestFirst.filter(({ kind }) => kind !== 'turn'),
      limit,
    ),
    ...foldAlike(
      newestFirst.filter(({ kind }) => kind === 'turn'),
      limit,
    ),
  ];
}

function errorRow(
  { entry, times, urls }: SameErrors,
  orMore: string,
  width: number,
  utc: boolean,
  theme: Theme,
): Row {
  const s = entry.failure ?? entry.summary;
  const error = s.error === '' ? entry.fetchError : s.error;
  // Of the parser's own words only these say nothing.
  const reason = error.startsWith('HTC ') ? explainFetchError(error).sentence : error;
  const room = Math.max(0, Math.floor(width / 3));
  const right = error === '' ? [] : [span(`  ${wordsFit(reason, room, theme.glyphs.ellipsis)}`, 'bad')];
  const took = Number.isNaN(s.seconds) ? '' : duration(s.seconds);
  return spread(
    [
      span(`${clock(s.at, utc)}  `, 'muted'),
      span(`${s.status}  `, 'bad'),
      cell(s.handling === '' ? theme.glyphs.dash : s.handling, HANDLING, handlingStyle(s.handling)),
      ...(width < WITH_TIME ? [] : [cell(took, 8, 'muted')]),
      span(often(times, orMore), 'warn'),
      span(`${s.method} `, 'strong'),
      span(s.url),
      ...(urls.size === 1 ? [] : [span(` and ${urls.size - 1} more`, 'muted')]),
    ],
    right,
    width,
  );
}

function often(times: number, orMore = ''): string {
  return times === 1 ? '' : `${count(times)}${orMore}x `;
}

/** Shorter words for the death of a worker, in the order in which they are needed: its consequence must not be cut. */
const SHORTER: readonly (readonly [RegExp, string])[] = [
  [/^worker: Child \(\d+\) /, 'worker: '],
  [/; restarted at once/, ''],
  [/ \(SIG\w+\)/, ''],
  [/its cache and its bans/, 'cache and bans'],
];

function eventRow(event: SessionEvent, times: string, width: number, utc: boolean): Row {
  const { at, kind, text } = event;
  const time = `${clock(at, utc)}  `;
  const says = kind === 'lost' || kind === 'trouble' || text.startsWith(`${kind.replace('-', ' ')} `);
  let label = says ? text : `${kind}: ${text}`;
  if (kind === 'worker')
    for (const [long, short] of SHORTER)
      if (widthOf(time + times + label) > width) label = label.replace(long, short);
  return [span(time, 'muted'), span(times, 'warn'), span(label, toneOf(kind))];
}
