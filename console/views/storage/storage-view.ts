// The storages: use of each, segments, refusals; below, objects that left the cache and why, or of a disk tier what it found,
// wrote and could not.

import { printable } from '../../model/log/transaction.ts';
import { answerItems, textField } from '../../model/session/admin-store.ts';
import { hasNoWorker } from '../../model/session/daemon-health.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { bytes, count, duration, rate } from '../../model/ui/numbers.ts';
import { type ToneLine, textPanel } from '../../model/ui/panel.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';

const LINE = 'storage.list -j';

/** Outcomes of objects, by counter. */
const OUTCOMES: readonly [string, string][] = [
  ['MAIN.n_object', 'objects in the cache'],
  ['MAIN.n_objecthead', 'hash keys'],
  ['MAIN.n_expired', 'expired'],
  ['MAIN.n_lru_nuked', 'evicted to make room'],
  ['MAIN.n_lru_limited', 'times eviction stopped at its limit'],
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
      const [, kind, name] = /^SM([AFD])\.(.+)\.g_bytes$/.exec(counter.info.name) ?? [];
      if (name === undefined) return [];
      const used = Number(counter.current);
      return [kind === 'D' ? diskRow(session, name, used) : row(session, name, kinds.get(name) ?? '', used)];
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
        ? 'no worker: the cache is lost'
        : 'no storage usage reported yet',
  keys: [
    {
      keys: ['L'],
      command: 'storage.largest',
      gives: 'storage.largest',
      help: 'The largest objects in memory',
      hint: 'largest',
      run: (c) => void showLargest(c),
    },
  ],
  enter: (c) => STORAGE_VIEW.act(c, { type: 'detail' }),
});

/** Objects shown, the most that the daemon lists. */
const LARGEST = 100;

async function showLargest({ session, ui }: ViewContext): Promise<void> {
  const { status, body } = await session.source.command(`storage.largest -j ${LARGEST}`);
  if (status !== 200) return ui.notify('bad', body.trim());
  const objects = answerItems(body);
  const all = objects.reduce<number>((sum, one) => sum + Number(textField(one, 'bytes')), 0);
  const title = `Largest objects: ${objects.length}, ${bytes(all)} together`;
  const heading = LARGEST_CELLS.map(([name, width]) => name.padStart(width)).join(' ');
  ui.set({
    panel: textPanel(title, [[{ text: `${heading}  OBJECT`, tone: 'strong' }], ...objects.map(largestLine)]),
    notice: null,
  });
}

const LARGEST_CELLS: readonly [string, number][] = [
  ['SIZE', 9],
  ['HITS', 7],
  ['AGE', 7],
  ['TTL', 7],
];

function largestLine(one: unknown): ToneLine {
  const ttl = Number(textField(one, 'ttl'));
  const cells = [
    bytes(Number(textField(one, 'bytes'))),
    count(Number(textField(one, 'hits'))),
    duration(Number(textField(one, 'age'))),
    ttl < 0 ? 'expired' : duration(ttl),
  ];
  return [
    { text: cells.map((text, i) => text.padStart(LARGEST_CELLS[i]?.[1] ?? 0)).join(' ') },
    { text: `  ${printable(textField(one, 'host'))}`, tone: 'muted' },
    { text: printable(textField(one, 'url')) },
  ];
}

function row(session: DaemonSession, name: string, kind: string, used: number): ListRow {
  const { counters } = session;
  const of = (counter: string): number =>
    Number(counters.value(`SMA.${name}.${counter}`) || counters.value(`SMF.${name}.${counter}`));
  const allocs = counters.rate(`SMA.${name}.c_req`);
  const figures = { used, free: of('g_space'), pieces: of('g_alloc'), allocs, refused: of('c_fail') };
  return usage(name, kind, figures, () => details(session));
}

/** A disk tier: its pieces are objects, and what it refuses is in memory only. */
function diskRow(session: DaemonSession, name: string, used: number): ListRow {
  const { counters } = session;
  const of = (counter: string): number => Number(counters.value(`SMD.${name}.${counter}`));
  const allocs = counters.rate(`SMD.${name}.c_write`);
  const refused = of('c_write_drop') + of('c_write_fail');
  const figures = { used, free: of('g_space'), pieces: of('g_objects'), allocs, refused };
  return usage(name, 'disk', figures, () => diskDetails(session, name));
}

interface Usage {
  readonly used: number;
  readonly free: number;
  readonly pieces: number;
  readonly allocs: number;
  readonly refused: number;
}

function usage(
  name: string,
  kind: string,
  { used, free, pieces, allocs, refused }: Usage,
  detail: () => readonly ToneLine[],
): ListRow {
  const size = free === 0 ? 0 : used + free;
  const share = size === 0 ? 0 : used / size;
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
      { text: count(pieces), by: pieces },
      { text: rate(allocs), by: allocs, tone: 'muted' },
      { text: count(refused), by: refused, tone: refused > 0 ? 'bad' : 'muted' },
    ],
    detail,
  };
}

/** Counters of a disk tier, with their words. Those of trouble are shown once there was any. */
const DISK_COUNTERS: readonly [string, string][] = [
  ['c_hit', 'found on disk'],
  ['c_miss', 'not found or unusable'],
  ['c_promote', 'of these, loaded into memory'],
  ['c_write', 'objects written'],
  ['c_write_again', 'of these, rewritten from a segment due for removal'],
  ['c_segment_drop', 'segments removed'],
];
const DISK_TROUBLE: readonly [string, string][] = [
  ['c_promote_fail', 'found, but not loaded into memory'],
  ['c_write_drop', 'not written: queue full, or too large'],
  ['c_write_large', 'of these, larger than an eighth of the storage'],
  ['c_write_fail', 'failed writes'],
  ['c_full_drop', 'segments removed because the device was full'],
  ['c_read_fail', 'failed reads'],
  ['c_checksum', 'checksum errors'],
  ['c_late', 'slow reads'],
  ['c_busy', 'too many searches at once'],
];

function diskDetails(session: DaemonSession, name: string): readonly ToneLine[] {
  const { counters } = session;
  const of = (counter: string): number => Number(counters.value(`SMD.${name}.${counter}`));
  const line = ([counter, words]: readonly [string, string], isTrouble: boolean): ToneLine[] => {
    const change = counters.rate(`SMD.${name}.${counter}`);
    if (isTrouble && of(counter) === 0) return [];
    return [
      [
        { text: count(of(counter)).padStart(9), tone: isTrouble ? 'bad' : 'strong' },
        { text: `  ${words.padEnd(44)}` },
        { text: change === 0 ? '' : `${rate(change)}/s`, tone: 'accent' },
      ],
    ];
  };
  const fact = (text: string, words: string): ToneLine => [
    { text: text.padStart(9), tone: 'strong' },
    { text: `  ${words}` },
  ];
  const objectBytes = of('c_write_object_bytes');
  const inMemory = Math.max(0, Number(counters.value('MAIN.cache_hit')) - of('c_promote'));
  return [
    fact(count(inMemory), 'hits in memory'),
    ...DISK_COUNTERS.flatMap((row) => line(row, false)),
    ...(objectBytes === 0
      ? []
      : [fact((of('c_write_bytes') / objectBytes).toFixed(2), 'bytes written for each byte of an object')]),
    ...(of('g_oldest') === 0 ? [] : [fact(duration(of('g_oldest')), 'age of the oldest segment')]),
    ...DISK_TROUBLE.flatMap((row) => line(row, true)),
  ];
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
