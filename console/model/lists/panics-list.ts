// The stored panic, line by line below its head, and how workers started and ended while the console watched.

import type { ListRow, ToneLine } from '../list-view.ts';
import { clock } from '../numbers.ts';
import type { Session } from '../session.ts';
import type { ListDefinition } from './list-definition.ts';

const LINE = 'panic.show';

export const PANICS_LIST: ListDefinition = {
  view: 'panics',
  asks: [{ line: LINE, every: 5 }],
  columns: [
    { title: 'WHEN', min: 9 },
    { title: 'WHAT', min: 10 },
    { title: 'REASON', min: 30, grow: 1 },
  ],
  rows: (session) => [...panicRows(session), ...eventRows(session)],
  remark: (session) => {
    const died = Number(session.counters.value('MGT.child_panic') + session.counters.value('MGT.child_died'));
    return died === 0 ? 'no worker has died' : `${died} workers died or panicked since the start`;
  },
  empty: (session) => (session.connection.state === 'up' ? 'no panic is stored' : 'no connection'),
};

function panicRows(session: Session): ListRow[] {
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

function eventRows(session: Session): ListRow[] {
  return [...session.events].reverse().map((e, i) => ({
    key: `event ${e.at} ${i}`,
    facts: { kind: e.kind, text: e.text },
    cells: [
      { text: clock(e.at, session.utc), by: e.at, tone: 'muted' as const },
      { text: e.kind, tone: e.kind === 'started' ? ('good' as const) : ('warn' as const) },
      { text: e.text },
    ],
    detail: () => [[{ text: e.text === '' ? e.kind : e.text }]],
  }));
}
