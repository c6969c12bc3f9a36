// Detail lines of one backend or director: address, probe results, members, counters.

import { textField } from '../../model/session/admin-store.ts';
import { type BackendRow, healthTone, probesRun, record, shortName } from '../../model/session/backends.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { answerWords, isTimeout, type ProbeAnswer } from '../../model/session/probe-answers.ts';
import { programFiles } from '../../model/session/program-files.ts';
import type { BackendTraffic } from '../../model/traffic/backend-traffic.ts';
import { bytes, clock, count, duration, percent, rate } from '../../model/ui/numbers.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import { explainFetchError } from '../log/why/error-rules.ts';
import { type DeclaredBackend, declaredBackends } from './declared-backends.ts';

/** Probe results shown in the detail pane. */
const BITS = 48;

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

/** Facts about a backend that its row in backend.list does not have. */
export interface BackendFacts {
  answer: ProbeAnswer | undefined;
  happy: bigint;
  traffic: BackendTraffic | undefined;
  /** Number of other rows whose backends have the same name in their programs. */
  namesakes: number;
}

export function backendDetail(
  session: DaemonSession,
  b: BackendRow,
  facts: BackendFacts,
): readonly ToneLine[] {
  if (b.type !== 'backend') return [...memberLines(b, session.isOld), ...counterLines(session, b.name)];
  const declared = declaredBackend(session, b.name);
  return [
    ...operatorLines(b),
    ...addressLines(session, b, declared),
    ...trafficLines(session, b, facts),
    ...probeLines(b, declared, facts, session.isOld),
    ...counterLines(session, b.name),
  ];
}

/** Narrow screens drop the admin column, so the detail repeats it, except for a healthy backend without a probe. */
function operatorLines({ admin, probe }: BackendRow): ToneLine[] {
  if (admin !== 'sick' && (admin !== 'healthy' || probe === null)) return [];
  return [labelled('Declared', `${admin} by an operator`)];
}

/** A probe's answer in a few words; for a timeout, the time waited. */
export function probeText(session: DaemonSession, name: string, { text }: ProbeAnswer): string {
  return answerWords(text, isTimeout(text) ? declaredBackend(session, name)?.probe?.timeout : undefined);
}

function declaredBackend(session: DaemonSession, name: string): DeclaredBackend | undefined {
  const program = name.slice(0, name.lastIndexOf('.'));
  const files = programFiles(session.admin.once(`vcl.show -v ${program}`));
  return declaredBackends(files.map((file) => file.text)).get(shortName(name));
}

function addressLines(
  session: DaemonSession,
  { name }: BackendRow,
  declared: DeclaredBackend | undefined,
): ToneLine[] {
  const seen = session.traffic.sample.addressOf(shortName(name));
  const address = declared?.address ?? '';
  const how = declared?.tls === true ? `${address} over TLS` : address;
  const last = seen === '' || seen === address ? '' : `${seen} (of the last connection seen)`;
  const text = [how, last].filter(Boolean).join(', last ');
  return text === '' ? [] : [labelled('Address', text)];
}

function trafficLines(session: DaemonSession, { name }: BackendRow, facts: BackendFacts): ToneLine[] {
  const { traffic: t, namesakes } = facts;
  const [open, load] = ['conn', 'req'].map((counter) => session.counters.get(`VBE.${name}.${counter}`));
  const lines: ToneLine[] = [];
  if (t !== undefined && t.p50 !== null && t.p99 !== null) {
    const times = `first byte after ${duration(t.p50)} (p50), ${duration(t.p99)} (p99)`;
    lines.push(labelled('Time', `${times}  `, t.slow));
  }
  if (t !== undefined) {
    const share = `${percent(t.errors / Math.max(1, t.fetches))}, ${count(t.errors)} of ${count(t.fetches)} fetches`;
    const since = session.traffic.sample.trafficSince(session.dataAt);
    const others = namesakes === 0 ? '' : ', with those of the same name in other programs';
    lines.push(labelled('Errors', `${share} since ${clock(since, session.utc)}${others}  `, t.failing));
  }
  if (t?.lastError != null) {
    const { text, at } = t.lastError;
    lines.push(labelled('Failure', `${clock(at, session.utc)} ${explainFetchError(text).sentence}`));
  }
  if (load !== undefined) lines.push(labelled('Requests', `${rate(load.change)}/s  `, load.recent));
  if (open !== undefined)
    lines.push(
      labelled(
        'Open',
        `${open.current} ${open.current === 1n ? 'connection' : 'connections'}  `,
        open.recent,
      ),
    );
  return lines;
}

function memberLines({ type, members, details }: BackendRow, cutOff: boolean): ToneLine[] {
  const lines: ToneLine[] = [
    labelled(
      'Director',
      members === null
        ? `${type}, which does not report its members`
        : `${type}, ${members.healthy} of ${members.all} members healthy`,
    ),
  ];
  for (const [name, value] of Object.entries(record(details.backends))) {
    const { health, ...more } = record(value);
    const facts = Object.entries(more).map(([fact, of]) => `${fact} ${of}`);
    lines.push([
      { text: `  ${name}`, tone: 'strong' },
      { text: `  ${health}`, tone: healthTone(String(health), cutOff) },
      { text: facts.length === 0 ? '' : `  ${facts.join(', ')}`, tone: 'muted' },
    ]);
  }
  return lines;
}

function probeLines(
  b: BackendRow,
  declared: DeclaredBackend | undefined,
  { answer, happy }: BackendFacts,
  cutOff: boolean,
): ToneLine[] {
  if (b.probe === null) return [[{ text: 'No probe: healthy unless an operator sets it sick.' }]];
  const { good, window } = b.probe;
  const threshold = textField(b.details, 'threshold');
  const needed = threshold === '' ? '' : `, ${threshold} needed`;
  const probe = declared?.probe ?? null;
  const how = probe === null ? '' : `${probe.asks} every ${probe.interval}, within ${probe.timeout}: `;
  const lines: ToneLine[] = [labelled('Probe', `${how}${good} of the last ${window} good${needed}`)];
  if (answer !== undefined && answer.text !== '') {
    const took = answer.seconds > 0 ? ` after ${duration(answer.seconds)}` : '';
    lines.push(
      labelled('Answer', `${answerWords(answer.text, declared?.probe?.timeout)}${took}: ${answer.text}`),
    );
  }
  const ran = probesRun(b, happy, BITS);
  if (ran > 0)
    lines.push([
      { text: 'Probes'.padEnd(LABEL), tone: 'muted' },
      { text: '', bits: { value: happy, count: ran, old: cutOff } },
      { text: '  newest on the right', tone: 'faint' },
    ]);
  const steps = PROBE_BITS.flatMap(([field, words]) => {
    const n = ones(textField(b.details, field), window);
    return n === 0 ? [] : [`${words} ${n}`];
  });
  if (steps.length > 0) lines.push(labelled('Steps', `${steps.join(' · ')} (of ${window} probes)`));
  return lines;
}

function counterLines(session: DaemonSession, name: string): ToneLine[] {
  const lines: ToneLine[] = [];
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

const LABEL = 9;

function labelled(label: string, text: string, spark?: readonly number[]): ToneLine {
  const line = [{ text: label.padEnd(LABEL), tone: 'muted' as const }, { text }];
  return spark === undefined ? line : [...line, { text: '', tone: 'accent', spark }];
}

/** Number of set bits among the newest `window`. */
function ones(bits: string, window: number): number {
  if (!/^\d+$/.test(bits)) return 0;
  const newest = BigInt(bits) & ((1n << BigInt(window)) - 1n);
  return [...newest.toString(2)].filter((b) => b === '1').length;
}
