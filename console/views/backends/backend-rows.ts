// The rows of backends and directors: what is no member of another stands at the edge, members below their directors.
// A backend that is a member of several directors stands below each of them.

import { textField } from '../../model/admin-store.ts';
import { type BackendRow, memberNames, parseBackendList, shortName } from '../../model/backends.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import { bytes, clock, count, rate } from '../../model/numbers.ts';
import type { Tone } from '../../model/panel.ts';
import { answerWords, type ProbeAnswer, type ProbeState } from '../../model/probe-answers.ts';
import type { ListCell, ListRow } from '../list/list-state.ts';
import { backendDetail } from './backend-detail.ts';
import { backendQuery } from './backend-query.ts';

export const BACKENDS_LINE = 'backend.list -j -p';
/** Polls that a row has room for. */
export const BITS = 16;

/** Letters of the log, and the daemon's bitmaps of them. */
const LETTERS = '46UxXrRH';

export function backendRows(session: DaemonSession): ListRow[] {
  const all = new Map(parseBackendList(session.admin.body(BACKENDS_LINE)).map((b) => [b.name, b]));
  const below = new Set([...all.values()].flatMap((b) => memberNames(b).filter((name) => name !== b.name)));
  const rows: ListRow[] = [];
  const placed = new Set<string>();
  const place = (b: BackendRow, path: readonly string[]): void => {
    placed.add(b.name);
    const here = [...path, b.name];
    rows.push(row(session, b, here, all));
    for (const name of memberNames(b)) {
      const member = all.get(name);
      // A director may be below itself.
      if (member !== undefined && !here.includes(name)) place(member, here);
    }
  };
  for (const b of all.values()) if (!below.has(b.name)) place(b, []);
  for (const b of all.values()) if (!placed.has(b.name)) place(b, []);
  return rows;
}

/** The last answer to a probe, if the log has it. */
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
): ListRow {
  const { name, admin, health, probe, members } = b;
  const { counters } = session;
  const tone: Tone = health === 'sick' ? 'bad' : health === 'healthy' ? 'good' : 'warn';
  const of = (counter: string): string => `VBE.${name}.${counter}`;
  const counted = counters.get(of('req')) !== undefined;
  // A director counts nothing itself.
  const figure = (text: string, by: number, how: Tone): ListCell =>
    counted ? { text, by, tone: how } : { text: '', by: -1 };
  const load = counters.rate(of('req'));
  const failed = Number(counters.value(of('fail')) + counters.value(of('unhealthy')));
  const busy = Number(counters.value(of('busy')));
  const open = Number(counters.value(of('conn')));
  const flow = counters.rate(of('beresp_bodybytes')) + counters.rate(of('beresp_hdrbytes'));
  const happy = counters.get(of('happy'))?.current ?? 0n;
  const answer = probe === null ? undefined : lastAnswer(session, b);
  const good = probe?.good ?? members?.healthy ?? 0;
  const window = probe?.window ?? members?.all ?? 0;
  const auto = admin === 'probe';
  return {
    key: path.join(' > '),
    facts: {
      name,
      type: b.type,
      admin,
      health,
      window: String(probe?.window ?? 0),
      happy: happy.toString(16),
      answer: answer?.text ?? '',
      query: backendQuery(b, all),
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
        : { text: '', bits: { value: happy, count: BITS } },
      { text: answer === undefined ? '' : answerWords(answer.text), tone },
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
    detail: () => backendDetail(session, b, answer, happy),
  };
}
