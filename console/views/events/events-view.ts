// Events of the daemon besides its traffic, newest first: kept by the manager, including those before the console
// connected. Enter opens the subject of an event.

import { KEPT_OF_A_KIND } from '../../../protocol/tables/events.ts';
import { bareName, placeOfName } from '../../model/session/admin-line.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { SessionEvent } from '../../model/session/event-log.ts';
import { pushView } from '../../model/ui/navigation.ts';
import { age, count, dated } from '../../model/ui/numbers.ts';
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
import { STORAGE_VIEW } from '../storage/storage-view.ts';
import { type AlikeEvents, foldTurns, timesLines } from './alike-events.ts';
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
  rows: (session) =>
    foldTurns([...session.events.all()].reverse()).map((alike) => eventListRow(alike, session)),
  remark: (session) => {
    const all = session.events.all();
    const first = all[0];
    if (first === undefined) return '';
    const since = `since ${dated(first.at, session.now(), session.utc)}, marked on the charts`;
    const cut = cutKinds(all);
    return cut.length === 0
      ? `${count(all.length)} ${since}`
      : `${count(all.length)} (${cut.join(', ')}: last ${KEPT_OF_A_KIND} only) ${since}`;
  },
  empty: (session) =>
    session.connection.state === 'up' ? (session.source.eventLimits ?? 'no events') : 'no connection',
  keys: [],
  enter: (c, row) => openEvent(c, row.facts.kind as SessionEvent['kind'], row.facts.text),
});

/** Kinds of which the daemon has dropped the oldest. */
function cutKinds(all: readonly SessionEvent[]): string[] {
  const counts = new Map<string, number>();
  for (const { kind } of all) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].filter(([, n]) => n >= KEPT_OF_A_KIND).map(([kind]) => kind);
}

function eventListRow({ newest, all, text }: AlikeEvents, session: DaemonSession): ListRow {
  const { at, kind } = newest;
  const oldest = all.at(-1) as SessionEvent;
  const cell = textCell(kind, text);
  const often = all.length === 1 ? '' : `${count(all.length)}x `;
  const when = dated(at, session.now(), session.utc);
  const ago = age(session.now() - at);
  return {
    // A row to which more are added stays the same.
    key: `${dated(oldest.at, session.now(), session.utc)} ${oldest.text}`,
    facts: { kind, text, time: String(at) },
    cells: [
      // Events of another day show only the date if there is no room.
      { text: when, brief: when.split(' ')[0] ?? when, by: at, tone: 'muted' },
      { text: ago, by: at, tone: 'faint' },
      { text: markOf(kind), tone: toneOf(kind) },
      { text: kind, tone: toneOf(kind) },
      { text: `${often}${cell.text}`, brief: `${often}${cell.brief}` },
    ],
    detail: () => [
      [{ text: `${when}, ${ago} ago: ${kind}`, tone: toneOf(kind) }],
      [{ text }],
      ...timesLines(all, session.utc),
      [{ text: 'Enter opens its subject.', tone: 'faint' }],
      ...(session.source.eventLimits === undefined
        ? []
        : [[{ text: `${session.source.eventLimits}.`, tone: 'muted' as const }]]),
    ],
  };
}

/** Lists whose rows events name. */
const LISTS: Partial<Record<SessionEvent['kind'], ListView>> = {
  health: BACKENDS_VIEW,
  slow: BACKENDS_VIEW,
  evictions: STORAGE_VIEW,
  program: PROGRAMS_VIEW,
  parameter: PARAMETERS_VIEW,
  ban: BANS_VIEW,
};

/** Opens the subject of an event: the row of a list, or a log query. `text`: of the event, '' for the list alone. */
export function openEvent(c: ViewContext, kind: SessionEvent['kind'], text = ''): void {
  const list = LISTS[kind];
  if (list !== undefined) {
    pushView(c, list);
    if (text !== '' && kind !== 'evictions') void selectNamed(c, list, text);
  } else if (kind === 'hit-rate' || kind === 'passes') pushView(c, CAUSES_VIEW);
  else if (kind === 'purges') drill(c, 'ReqMethod eq "PURGE" or VCL_call eq "PURGE"');
  else pushView(c, PANICS_VIEW);
}

/** Puts the cursor on the row that the text names, when the daemon has answered. */
async function selectNamed(c: ViewContext, list: ListView, text: string): Promise<void> {
  const { admin } = c.session;
  await Promise.all(list.asks.map(({ line }) => admin.ask(line)));
  if (c.view !== list) return;
  const row = namedIn(text, list.rows(c));
  if (row !== undefined) list.act(c, { type: 'select', key: row.key });
  else c.ui.notify('info', `no longer in this list: ${text}`);
}

/** The row whose name stands in the text as a word, or whose condition is in it; of several the longest. */
export function namedIn(text: string, rows: readonly ListRow[]): ListRow | undefined {
  const words = ` ${text.replace(/[,;:]?\s+/g, ' ')} `;
  // Of two instances shown as one, the event begins with the name of its own.
  const place = (name: string): string => {
    const part = placeOfName(name);
    return part !== '' && text.startsWith(`${part} `) ? bareName(name) : name;
  };
  let best: { row: ListRow; length: number } | undefined;
  for (const row of rows) {
    const name = place(row.facts.spec ?? row.facts.name ?? row.key);
    if (words.includes(` ${name.replace(/[,;:]?\s+/g, ' ')} `) && name.length > (best?.length ?? 0))
      best = { row, length: name.length };
  }
  return best?.row;
}
