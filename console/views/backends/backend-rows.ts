// Rows of backends and directors: backends that belong to no director are not indented, members are, below their
// director. A member of several directors has a row below each of them.

import { VBE_COUNTERS } from '../../../protocol/tables/counters.ts';
import { textField } from '../../model/session/admin-store.ts';
import {
  type BackendRow,
  healthTone,
  memberNames,
  parseBackendList,
  probesRun,
  shortName,
} from '../../model/session/backends.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { ProbeAnswer, ProbeState } from '../../model/session/probe-answers.ts';
import { type BackendTraffic, LAST_MINUTE } from '../../model/traffic/backend-traffic.ts';
import { bytes, clock, count, duration, percent, rate } from '../../model/ui/numbers.ts';
import type { Tone } from '../../model/ui/panel.ts';
import type { ListCell, ListRow } from '../list/list-state.ts';
import { backendDetail, probeText } from './backend-detail.ts';

export const BACKENDS_LINE = 'backend.list -j -p';
/** Probe results shown in a row. */
export const BITS = 16;

/** Probe result letters in the log, in the order of the daemon's bitmaps. */
const LETTERS = '46UxXrRH';

export function backendRows(session: DaemonSession): ListRow[] {
  const all = new Map(listed(session).map((b) => [b.name, b]));
  const below = new Set([...all.values()].flatMap((b) => memberNames(b).filter((name) => name !== b.name)));
  const rows: ListRow[] = [];
  const placed = new Set<string>();
  const now = session.dataAt;
  const place = (b: BackendRow, path: readonly string[]): void => {
    placed.add(b.name);
    const here = [...path, b.name];
    rows.push(row(session, b, here, all, now));
    for (const name of memberNames(b)) {
      const member = all.get(name);
      // A director may contain itself.
      if (member !== undefined && !here.includes(name)) place(member, here);
    }
  };
  for (const b of all.values()) if (!below.has(b.name)) place(b, []);
  for (const b of all.values()) if (!placed.has(b.name)) place(b, []);
  return rows;
}

/** Backends with their probes and members; in a recording, those that it has. None before the answer: without members the
 * rows would be others, and change places below the cursor. */
function listed(session: DaemonSession): readonly BackendRow[] {
  const { admin, backends } = session;
  const body = admin.body(BACKENDS_LINE);
  if (body !== '') return parseBackendList(body);
  return admin.answer(BACKENDS_LINE) === undefined ? [] : backends;
}

/** For JSON and text; '' if unknown. */
function seconds(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : value.toFixed(6);
}

/** How it answered in the last seconds, or in all that are kept. The log names backends without their program; backends
 * without requests have no responses. */
function trafficOf(
  session: DaemonSession,
  { name, type }: BackendRow,
  now: number,
  seconds?: number,
): BackendTraffic | undefined {
  if (type !== 'backend') return undefined;
  const { counters } = session;
  const [req, busy] = [`VBE.${name}.req`, `VBE.${name}.busy`];
  const counted = counters.get(req) !== undefined;
  return counted && counters.value(req) + counters.value(busy) === 0n && failuresOf(session, name) === 0
    ? undefined
    : session.traffic.sample.backendTraffic(now, seconds).get(shortName(name));
}

/** Fetches that got no connection, for any reason. */
function failuresOf({ counters }: DaemonSession, name: string): number {
  const of = (counter: string): number => Number(counters.value(`VBE.${name}.${counter}`));
  const causes = FAILURES.reduce((sum, cause) => sum + of(cause), 0);
  // `fail` is the sum of its causes if it is counted at all.
  return Math.max(of('fail'), causes) + of('helddown') + of('unhealthy');
}

const FAILURES = VBE_COUNTERS.map((row) => row.name).filter((name) => name.startsWith('fail_'));

/** The last probe result, if the log has it. */
function lastAnswer(session: DaemonSession, b: BackendRow): ProbeAnswer | undefined {
  const state: ProbeState = {
    bits: [...LETTERS].map((l) => (isOdd(textField(b.details, `bits_${l}`)) ? l : '-')).join(''),
    good: Number(textField(b.details, 'good')),
    threshold: Number(textField(b.details, 'threshold')),
    window: Number(textField(b.details, 'window')),
  };
  return session.probes.of(shortName(b.name), state);
}

function isOdd(digits: string): boolean {
  return /[13579]$/.test(digits);
}

function row(
  session: DaemonSession,
  b: BackendRow,
  path: readonly string[],
  all: ReadonlyMap<string, BackendRow>,
  now: number,
): ListRow {
  const { name, admin, health, probe, members } = b;
  const { counters } = session;
  const tone: Tone = healthTone(health, session.isOld);
  const of = (counter: string): string => `VBE.${name}.${counter}`;
  const counted = counters.get(of('req')) !== undefined;
  // Directors have no counters.
  const figure = (text: string, by: number, how: Tone): ListCell =>
    counted ? { text, by, tone: how } : { text: '', by: -1 };
  const load = counters.rate(of('req'));
  const failed = failuresOf(session, name);
  const busy = Number(counters.value(of('busy')));
  const open = Number(counters.value(of('conn')));
  const flow = counters.rate(of('beresp_bodybytes')) + counters.rate(of('beresp_hdrbytes'));
  const traffic = trafficOf(session, b, now);
  // Over five minutes a backend that was quick would stay so long after it has become slow.
  const recent = trafficOf(session, b, now, LAST_MINUTE);
  const namesakes = [...all.keys()].filter((other) => shortName(other) === shortName(name)).length - 1;
  const failing = recent === undefined ? 0 : recent.errors / recent.fetches;
  const time = (seconds: number | null | undefined): ListCell =>
    seconds === null || seconds === undefined
      ? { text: '', by: -1 }
      : { text: duration(seconds), by: seconds };
  const happy = counters.get(of('happy'))?.current ?? 0n;
  const answer = probe === null ? undefined : lastAnswer(session, b);
  const good = probe?.good ?? members?.healthy ?? 0;
  const window = probe?.window ?? members?.all ?? 0;
  const auto = admin === 'probe';
  return {
    key: path.join(' > '),
    item: name,
    facts: {
      name,
      type: b.type,
      admin,
      health,
      window: String(probe?.window ?? 0),
      happy: happy.toString(16),
      answer: answer?.text ?? '',
      p50: seconds(recent?.p50),
      p99: seconds(recent?.p99),
      errors: failing.toFixed(4),
      query: backendQuery(b, all),
      since: (traffic?.since ?? 0).toFixed(6),
    },
    cells: [
      {
        text: `${'  '.repeat(Math.max(0, path.length - 2))}${path.length > 1 ? '└ ' : ''}${name}`,
        by: path.join(' '),
        tone: 'strong',
      },
      { text: auto && members !== null ? 'members' : admin, tone: auto ? 'muted' : 'warn' },
      { text: health, tone },
      {
        text: window === 0 ? '' : `${good}/${window}`,
        by: window === 0 ? -1 : good / window,
        tone: 'muted',
      },
      probe === null
        ? { text: b.type === 'backend' ? 'no probe' : b.type, tone: 'faint' }
        : {
            text: '',
            bits: {
              value: happy,
              count: probesRun(b, happy, Math.min(BITS, probe.window)),
              old: session.isOld,
            },
          },
      { text: answer === undefined ? '' : probeText(session, name, answer), tone },
      time(recent?.p50),
      { ...time(recent?.p99), tone: 'strong' },
      recent === undefined
        ? { text: '', by: -1 }
        : { text: percent(failing), by: failing, tone: failing > 0 ? 'bad' : 'muted' },
      { text: '', by: -1, tone: 'accent', ...(traffic === undefined ? {} : { spark: traffic.slow }) },
      figure(rate(load), load, 'text'),
      figure(String(open), open, 'text'),
      figure(count(failed), failed, failed > 0 ? 'bad' : 'muted'),
      figure(count(busy), busy, 'muted'),
      figure(bytes(flow), flow, 'muted'),
      {
        text: b.lastChange === 0 ? '' : clock(b.lastChange, session.utc),
        by: b.lastChange,
        tone: 'muted',
      },
    ],
    detail: () => backendDetail(session, b, { answer, happy, traffic, namesakes }),
  };
}

export function backendQuery(b: BackendRow, all: ReadonlyMap<string, BackendRow>): string {
  const names = [...leaves(b, all, new Set())].map(shortName);
  const none = b.type === 'backend' ? [] : [`Director ${shortName(b.name)} `];
  const refused = [...names.map((name) => `backend ${name}: `), ...none];
  const failed = `FetchError ~ "^${oneOf(refused)}"`;
  if (names.length === 0) return failed;
  const opened =
    names.length === 1 ? `BackendOpen[2] eq "${names[0]}"` : `BackendOpen[2] ~ "^${oneOf(names)}$"`;
  return b.health === 'sick'
    ? `${failed} or (${opened} and (FetchError or BerespStatus >= 500))`
    : `${opened} or ${failed}`;
}

/** VCL identifiers contain no regular expression metacharacters. */
function oneOf(words: readonly string[]): string {
  return words.length === 1 ? (words[0] as string) : `(${words.join('|')})`;
}

/** Full names of the backends below a director; a backend's own name. */
function leaves(b: BackendRow, all: ReadonlyMap<string, BackendRow>, seen: Set<string>): Set<string> {
  if (b.type === 'backend') return new Set([b.name]);
  // A director may contain itself.
  if (seen.has(b.name)) return new Set();
  seen.add(b.name);
  const members = memberNames(b).flatMap((name) => all.get(name) ?? []);
  return new Set(members.flatMap((member) => [...leaves(member, all, seen)]));
}
