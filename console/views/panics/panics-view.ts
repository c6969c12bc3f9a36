// The stored panic, line by line below its headline, and starts and exits of workers.

import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { clock } from '../../model/ui/numbers.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import { toneOf } from '../events/event-tones.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';

const LINE = 'panic.show';

export const PANICS_VIEW: ListView = listView({
  name: 'panics',
  key: '!',
  title: 'Panics',
  short: 'Panics',
  brief: 'Pan',
  asks: [{ line: LINE, every: 5 }],
  columns: [
    { title: 'WHEN', min: 9 },
    { title: 'WHAT', min: 10 },
    { title: 'REASON', min: 30, grow: 1 },
  ],
  rows: (session) => [...panicRows(session), ...eventRows(session)],
  remark: (session) => {
    const died = Number(session.counters.value('MGT.child_panic') + session.counters.value('MGT.child_died'));
    // The counters may have been set back since.
    if (died === 0 && panicRows(session).length > 0) return 'a panic is stored';
    return died === 0
      ? 'no worker has died since the start'
      : `${died === 1 ? '1 worker' : `${died} workers`} died or panicked since the start`;
  },
  empty: (session) => (session.connection.state === 'up' ? 'no panic is stored' : 'no connection'),
  keys: [
    {
      keys: ['delete', 'ctrl+d'],
      command: 'panics.clear',
      gives: 'panic.clear',
      help: 'Clear the stored panic',
      hint: 'clear',
      run: (c) => c.operator.submit('panic.clear'),
    },
  ],
  enter: (c, row) =>
    c.ui.set({ panel: { kind: 'text', scroll: 0, title: `${row.facts.kind}`, lines: row.detail() } }),
});

function panicRows(session: DaemonSession): ListRow[] {
  const body = session.admin.body(LINE).trimEnd();
  if (body === '') return [];
  const lines = body.split('\n');
  const when = /(\d\d:\d\d:\d\d)/.exec(lines[0] ?? '')?.[1] ?? '';
  const reason = lines.find((l, i) => i > 0 && l.trim() !== '') ?? lines[0] ?? '';
  return [
    {
      key: 'panic',
      facts: { kind: 'panic', text: body },
      cells: [
        { text: when, tone: 'muted' },
        { text: 'panic', tone: 'bad' },
        { text: reason.trim(), tone: 'strong' },
      ],
      detail: () => lines.map((text): ToneLine => [{ text: text.replaceAll('\t', '  ') }]),
    },
  ];
}

const ABOUT_WORKERS: ReadonlySet<string> = new Set(['worker', 'panic', 'trouble', 'lost']);

function eventRows(session: DaemonSession): ListRow[] {
  const shown = session.events.all().filter((e) => ABOUT_WORKERS.has(e.kind));
  return [...shown].reverse().map((e, i) => ({
    key: `event ${e.at} ${i}`,
    title: e.kind,
    facts: { kind: e.kind, text: e.text },
    cells: [
      { text: clock(e.at, session.utc), by: e.at, tone: 'muted' as const },
      { text: e.kind, tone: toneOf(e.kind) },
      { text: e.text },
    ],
    detail: () => [[{ text: e.text === '' ? e.kind : e.text }]],
  }));
}
