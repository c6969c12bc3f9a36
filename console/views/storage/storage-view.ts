// The storages: use of each, segments, refusals; below, objects that left the cache and why.

import { answerItems, textField } from '../../model/session/admin-store.ts';
import { hasNoWorker } from '../../model/session/daemon-health.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { bytes, count, rate } from '../../model/ui/numbers.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';

const LINE = 'storage.list -j';

/** Outcomes of objects, by counter. */
const OUTCOMES: readonly [string, string][] = [
  ['MAIN.n_object', 'objects in the cache'],
  ['MAIN.n_objecthead', 'keys they are filed under'],
  ['MAIN.n_expired', 'expired'],
  ['MAIN.n_lru_nuked', 'evicted to make room'],
  ['MAIN.n_lru_limited', 'times that eviction reached its limit'],
  ['MAIN.n_obj_purged', 'purged'],
  ['MAIN.bans_obj_killed', 'banned'],
];

export const STORAGE_VIEW: ListView = listView({
  name: 'storage',
  key: '8',
  title: 'Storage',
  short: 'Storage',
  brief: 'Stor',
  asks: [{ line: LINE, every: 10, optional: true }],
  columns: [
    { title: 'STORAGE', min: 12, grow: 1 },
    { title: 'KIND', min: 8, drop: 3 },
    { title: 'USED', min: 9, right: true },
    { title: 'OF', min: 9, right: true },
    { title: 'FULL', min: 18, grow: 2 },
    { title: 'PIECES', min: 8, right: true, drop: 2 },
    { title: 'ALLOC/S', min: 8, right: true, drop: 4 },
    { title: 'REFUSED', min: 8, right: true, drop: 1 },
  ],
  rows: (session) => {
    if (hasNoWorker(session)) return [];
    const kinds = new Map(
      answerItems(session.admin.body(LINE)).map((s) => [textField(s, 'name'), textField(s, 'storage')]),
    );
    return session.counters.all().flatMap((counter): ListRow[] => {
      const name = /^SM[AF]\.(.+)\.g_bytes$/.exec(counter.info.name)?.[1];
      return name === undefined ? [] : [row(session, name, kinds.get(name) ?? '', Number(counter.current))];
    });
  },
  remark: (session) =>
    hasNoWorker(session) || session.counters.get('MAIN.n_object') === undefined
      ? ''
      : `${count(Number(session.counters.value('MAIN.n_object')))} objects`,
  empty: (session) =>
    session.connection.state !== 'up'
      ? 'no connection'
      : hasNoWorker(session)
        ? 'no worker: what was in the cache is gone'
        : 'no storage has reported its use',
  keys: [],
  enter: (c) => STORAGE_VIEW.act(c, { type: 'detail' }),
});

function row(session: DaemonSession, name: string, kind: string, used: number): ListRow {
  const { counters } = session;
  const of = (counter: string): number =>
    Number(counters.value(`SMA.${name}.${counter}`) || counters.value(`SMF.${name}.${counter}`));
  const free = of('g_space');
  const size = free === 0 ? 0 : used + free;
  const share = size === 0 ? 0 : used / size;
  const refused = of('c_fail');
  const allocs = counters.rate(`SMA.${name}.c_req`);
  return {
    key: name,
    facts: { name, kind, used: String(used), free: String(free) },
    cells: [
      { text: name, tone: 'strong' },
      { text: kind, tone: 'muted' },
      { text: bytes(used), by: used },
      { text: size === 0 ? 'unlimited' : bytes(size), by: size, tone: 'muted' },
      size === 0
        ? { text: '', by: -1 }
        : {
            text: `${(share * 100).toFixed(0)}%`,
            by: share,
            share,
            tone: share > 0.95 ? 'bad' : share > 0.8 ? 'warn' : 'accent',
          },
      { text: count(of('g_alloc')), by: of('g_alloc') },
      { text: rate(allocs), by: allocs, tone: 'muted' },
      { text: count(refused), by: refused, tone: refused > 0 ? 'bad' : 'muted' },
    ],
    detail: () => details(session),
  };
}

function details(session: DaemonSession): readonly ToneLine[] {
  return OUTCOMES.flatMap(([name, words]): ToneLine[] => {
    const counter = session.counters.get(name);
    if (counter === undefined) return [];
    return [
      [
        { text: count(Number(counter.current)).padStart(9), tone: 'strong' },
        { text: `  ${words.padEnd(38)}` },
        { text: counter.change === 0 ? '' : `${rate(counter.change)}/s`, tone: 'accent' },
      ],
    ];
  });
}
