// Events of the daemon besides its traffic, newest first: kept by the manager, including those before the console
// connected. Enter opens the subject of an event.

import { KEPT_OF_A_KIND } from '../../../protocol/tables/events.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { SessionEvent } from '../../model/session/event-log.ts';
import { pushView } from '../../model/ui/navigation.ts';
import { count, dated, duration } from '../../model/ui/numbers.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import { BACKENDS_VIEW } from '../backends/backends-view.ts';
import { BANS_VIEW } from '../bans/bans-view.ts';
import { CAUSES_VIEW } from '../causes/causes-view.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { drill } from '../log/log-view.tsx';
import { PANICS_VIEW } from '../panics/panics-view.ts';
import { PARAMETERS_VIEW } from '../parameters/parameters-view.ts';
import { PROGRAMS_VIEW } from '../programs/programs-view.ts';
import { markOf, textCell, toneOf } from './event-tones.ts';

export const EVENTS_VIEW: ListView = listView({
  name: 'events',
  key: '$',
  title: 'Events',
  short: 'Events',
  brief: 'Ev',
  asks: [],
  columns: [
    { title: 'TIME', min: 8 },
    { title: 'AGO', min: 7, right: true, drop: 1 },
    { title: ' ', min: 1 },
    { title: 'KIND', min: 9 },
    { title: 'EVENT', min: 30, grow: 1 },
  ],
  rows: (session) => [...session.events.all()].reverse().map((event) => eventListRow(event, session)),
  remark: (session) => {
    const all = session.events.all();
    const first = all[0];
    if (first === undefined) return '';
    const since = `since ${dated(first.at, session.now(), session.utc)}, marked on the charts`;
    const cut = cutKinds(all);
    return cut.length === 0
      ? `${count(all.length)} ${since}`
      : `${count(all.length)} (of ${cut.join(', ')} only the last ${KEPT_OF_A_KIND}) ${since}`;
  },
  empty: (session) =>
    session.connection.state === 'up'
      ? (session.source.eventLimits ?? 'nothing has happened')
      : 'no connection',
  keys: [],
  enter: (c, row) => openEvent(c, row.facts.kind as SessionEvent['kind']),
});

/** Kinds of which the daemon has dropped the oldest. */
function cutKinds(all: readonly SessionEvent[]): string[] {
  const counts = new Map<string, number>();
  for (const { kind } of all) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].filter(([, n]) => n >= KEPT_OF_A_KIND).map(([kind]) => kind);
}

function eventListRow(event: SessionEvent, session: DaemonSession): ListRow {
  const { at, kind, text } = event;
  const when = dated(at, session.now(), session.utc);
  const ago = duration(Math.max(0, session.now() - at));
  return {
    key: `${when} ${text}`,
    facts: { kind, text, time: String(at) },
    cells: [
      // Events of another day show only the date if there is no room.
      { text: when, brief: when.split(' ')[0] ?? when, by: at, tone: 'muted' },
      { text: ago, by: at, tone: 'faint' },
      { text: markOf(kind), tone: toneOf(kind) },
      { text: kind, tone: toneOf(kind) },
      textCell(kind, text),
    ],
    detail: () => [
      [{ text: `${when}, ${ago} ago: ${kind}`, tone: toneOf(kind) }],
      [{ text }],
      [{ text: 'Enter opens its subject.', tone: 'faint' }],
      ...(session.source.eventLimits === undefined
        ? []
        : [[{ text: `${session.source.eventLimits}.`, tone: 'muted' as const }]]),
    ],
  };
}

/** The view, or log query, for events of this kind. */
export function openEvent(c: ViewContext, kind: SessionEvent['kind']): void {
  switch (kind) {
    case 'health':
      pushView(c, BACKENDS_VIEW);
      break;
    case 'program':
      pushView(c, PROGRAMS_VIEW);
      break;
    case 'parameter':
      pushView(c, PARAMETERS_VIEW);
      break;
    case 'ban':
      pushView(c, BANS_VIEW);
      break;
    case 'hit-rate':
    case 'passes':
      pushView(c, CAUSES_VIEW);
      break;
    case 'purges':
      drill(c, 'ReqMethod eq "PURGE" or VCL_call eq "PURGE"');
      break;
    default:
      pushView(c, PANICS_VIEW);
      break;
  }
}
