// The backends: health and who decides it, probes, load and failures of each.

import { answerItems, textField } from '../../model/admin-store.ts';
import type { Controller } from '../../model/controller.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import { bytes, clock, count, rate } from '../../model/numbers.ts';
import type { Tone, ToneLine } from '../../model/panel.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { drill } from '../log/log-view.tsx';

const LINE = 'backend.list -j -p';
const BITS = 16;

/** Varnish's names of the probe's bitmaps, oldest step first. */
const PROBE_BITS: readonly [string, string][] = [
  ['bits_4', 'connected by IPv4'],
  ['bits_6', 'connected by IPv6'],
  ['bits_U', 'connected by Unix socket'],
  ['bits_x', 'failed to send'],
  ['bits_X', 'sent'],
  ['bits_r', 'failed to receive'],
  ['bits_R', 'received'],
  ['bits_H', 'good'],
];

export const BACKENDS_VIEW: ListView = listView({
  name: 'backends',
  key: '4',
  title: 'Backends',
  short: 'Backends',
  brief: 'Back',
  asks: [{ line: LINE, every: 2 }],
  columns: [
    { title: 'BACKEND', min: 16, grow: 3 },
    { title: 'ADMIN', min: 8 },
    { title: 'HEALTH', min: 8 },
    { title: 'GOOD', min: 5, right: true, drop: 2 },
    { title: 'PROBES', min: BITS, drop: 5 },
    { title: 'REQ/S', min: 7, right: true },
    { title: 'CONN', min: 5, right: true, drop: 1 },
    { title: 'FAIL', min: 6, right: true, drop: 3 },
    { title: 'BUSY', min: 6, right: true, drop: 6 },
    { title: 'BYTES/S', min: 9, right: true, drop: 4 },
    { title: 'CHANGED', min: 9, right: true, drop: 7 },
  ],
  rows: rowsOf,
  remark: (session) => {
    const sick = rowsOf(session).filter((r) => r.facts.health === 'sick').length;
    return sick === 0 ? 'none sick' : `${sick} sick`;
  },
  empty: (session) => (session.connection.state === 'up' ? 'no backends' : 'no connection'),
  keys: [
    { keys: ['s'], command: 'backends.sick', help: 'Declare it sick', hint: 'sick', act: setHealth('sick') },
    {
      keys: ['h'],
      command: 'backends.healthy',
      help: 'Declare it healthy',
      hint: 'healthy',
      act: setHealth('healthy'),
    },
    {
      keys: ['a'],
      command: 'backends.auto',
      help: 'Leave it to its probe',
      hint: 'auto',
      act: setHealth('auto'),
    },
  ],
  // The log names a backend without its program.
  enter: (c, row) => drill(c, `BackendOpen[2] eq "${row.key.slice(row.key.lastIndexOf('.') + 1)}"`),
});

function setHealth(state: string): (c: Controller, row: ListRow) => void {
  return (c, row) => c.operator.submit(`backend.set_health ${row.key} ${state}`);
}

function rowsOf(session: DaemonSession): ListRow[] {
  const table = answerItems(session.admin.body(LINE))[0];
  if (typeof table !== 'object' || table === null) return [];
  return Object.entries(table).map(([name, value]) => row(session, name, value));
}

function row(session: DaemonSession, name: string, value: unknown): ListRow {
  const message = (value as { probe_message?: unknown }).probe_message;
  const parts: unknown[] = Array.isArray(message) ? message : [0, 0, message];
  const admin = textField(value, 'admin_health');
  const window = Number(parts[1]) || 0;
  const said = String(parts[2] ?? '');
  const health = admin === 'sick' || admin === 'healthy' ? admin : said === '' ? 'unknown' : said;
  const tone: Tone = health === 'sick' ? 'bad' : health === 'healthy' ? 'good' : 'warn';
  const { counters } = session;
  const of = (counter: string): string => `VBE.${name}.${counter}`;
  const load = counters.rate(of('req'));
  const failed = Number(counters.value(of('fail')) + counters.value(of('unhealthy')));
  const flow = counters.rate(of('beresp_bodybytes')) + counters.rate(of('beresp_hdrbytes'));
  const changed = Number(textField(value, 'last_change')) || 0;
  const happy = counters.get(of('happy'))?.current ?? 0n;
  return {
    key: name,
    facts: { name, admin, health, window: String(window), happy: happy.toString(16) },
    cells: [
      { text: name, tone: 'strong' },
      { text: admin, tone: admin === 'probe' ? 'muted' : 'warn' },
      { text: health, tone },
      {
        text: window === 0 ? '' : `${parts[0]}/${window}`,
        by: window === 0 ? -1 : Number(parts[0]) / window,
        tone: 'muted',
      },
      window === 0 ? { text: 'no probe', tone: 'faint' } : { text: '', bits: { value: happy, count: BITS } },
      { text: rate(load), by: load },
      { text: String(counters.value(of('conn'))), by: Number(counters.value(of('conn'))) },
      { text: count(failed), by: failed, tone: failed > 0 ? 'bad' : 'muted' },
      {
        text: count(Number(counters.value(of('busy')))),
        by: Number(counters.value(of('busy'))),
        tone: 'muted',
      },
      { text: bytes(flow), by: flow, tone: 'muted' },
      { text: changed === 0 ? '' : clock(changed, session.utc), by: changed, tone: 'muted' },
    ],
    detail: () => details(session, name, value, Number(parts[0]) || 0, window, happy),
  };
}

function details(
  session: DaemonSession,
  name: string,
  value: unknown,
  good: number,
  window: number,
  happy: bigint,
): readonly ToneLine[] {
  const lines: ToneLine[] = [];
  const probe = (value as { probe_details?: Record<string, unknown> }).probe_details ?? {};
  if (window === 0)
    lines.push([{ text: 'No probe: healthy unless it is declared sick or its directors say otherwise.' }]);
  else {
    lines.push([
      { text: 'Probe: ', tone: 'muted' },
      {
        text: `${textField(probe, 'good') || good} of the last ${window} good${textField(probe, 'threshold') === '' ? '' : `, ${textField(probe, 'threshold')} needed`}`,
      },
    ]);
    lines.push([
      { text: 'Newest: ', tone: 'muted' },
      { text: '', bits: { value: happy, count: 48 } },
    ]);
    const bits = PROBE_BITS.flatMap(([field, words]) => {
      const n = ones(textField(probe, field), window);
      return n === 0 ? [] : [`${words} ${n}`];
    });
    if (bits.length > 0)
      lines.push([
        { text: 'Steps:  ', tone: 'muted' },
        { text: `${bits.join(' · ')} (of ${window} probes)` },
      ]);
  }
  for (const counter of session.counters.all()) {
    if (!counter.info.name.startsWith(`VBE.${name}.`) || counter.current === 0n || counter.info.flag === 'b')
      continue;
    const value = counter.info.format === 'B' ? bytes(Number(counter.current)) : String(counter.current);
    lines.push([
      { text: counter.info.name.slice(`VBE.${name}.`.length).padEnd(18), tone: 'muted' },
      { text: value.padStart(12) },
      { text: counter.change === 0 ? '' : `  ${rate(counter.change)}/s`, tone: 'accent' },
      { text: `  ${counter.info.description}`, tone: 'faint' },
    ]);
  }
  return lines;
}

/** How many of the newest `window` bits are set. */
function ones(bits: string, window: number): number {
  if (!/^\d+$/.test(bits)) return 0;
  const newest = BigInt(bits) & ((1n << BigInt(window)) - 1n);
  return [...newest.toString(2)].filter((b) => b === '1').length;
}
