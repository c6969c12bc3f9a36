// The fleet's last invalidations, newest first: publisher, subject, and progress over the nodes.

import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { clock, rate } from '../../model/ui/numbers.ts';
import type { Tone, ToneLine } from '../../model/ui/panel.ts';
import { hostLast } from '../../model/ui/row-subject.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import {
  entriesOf,
  type FleetEntry,
  type FleetNode,
  isInFleet,
  LOG_LINE,
  missing,
  NODES_LINE,
  nodesOf,
  noFleet,
  progressOf,
} from './fleet-answers.ts';

export const INVALIDATIONS_VIEW: ListView = listView({
  name: 'invalidations',
  key: '&',
  title: 'Invalidations',
  short: 'Invalid',
  brief: 'Inv',
  asks: [
    { line: NODES_LINE, every: 1 },
    { line: LOG_LINE, every: 1 },
  ],
  columns: [
    { title: 'TIME', min: 8 },
    { title: 'NUMBER', min: 7, right: true, drop: 2 },
    { title: 'FROM', min: 10 },
    { title: 'BY', min: 9, drop: 3 },
    { title: 'KIND', min: 10, drop: 1 },
    { title: 'WHAT', min: 14, grow: 3 },
    { title: 'REACHED', min: 16, grow: 1 },
  ],
  applies: isInFleet,
  rows: (session) => {
    const nodes = nodesOf(session);
    return entriesOf(session).map((entry) => row(session, nodes, entry));
  },
  remark: (session) => {
    const nodes = nodesOf(session);
    const open = entriesOf(session).filter((entry) => isInProgress(nodes, entry)).length;
    const { counters } = session;
    return `${open === 0 ? 'none' : open} in progress, ${rate(counters.rate('FLEET.applied'))}/s applied, ${rate(counters.rate('FLEET.published'))}/s published here`;
  },
  empty: (session) => noFleet(session, 'no invalidations yet'),
  keys: [],
  enter: (c) => INVALIDATIONS_VIEW.act(c, { type: 'detail' }),
});

function isInProgress(nodes: readonly FleetNode[], entry: FleetEntry): boolean {
  return entry.state === 'applied' && missing(nodes, entry).length > 0;
}

function row(session: DaemonSession, nodes: readonly FleetNode[], entry: FleetEntry): ListRow {
  const { seq, at, from, by, kind, subject, state } = entry;
  const progress = progressOf(nodes, entry);
  const tone: Tone = state !== 'applied' ? 'bad' : isInProgress(nodes, entry) ? 'warn' : 'good';
  return {
    key: seq === null ? `${from} at ${clock(at, session.utc)}.${Math.round(at * 1000) % 1000}` : String(seq),
    facts: { number: String(seq ?? ''), from, kind, subject, reached: progress },
    cells: [
      { text: clock(at, session.utc), by: at, tone: 'muted' },
      { text: seq === null ? '' : String(seq), by: seq ?? -1, tone: 'muted' },
      { text: from },
      { text: by, tone: 'muted' },
      { text: kind, tone: 'accent' },
      { text: subject, brief: briefOf(kind, subject), tone: 'strong' },
      { text: progress, brief: progress.replace(/,.*/, ''), tone },
    ],
    detail: () => details(nodes, entry),
  };
}

/** Its subject before its host: on a narrow screen the end is cut. */
function briefOf(kind: string, subject: string): string {
  const url = kind.endsWith('purge') ? /^([^/\s]+)(\/\S*)$/.exec(subject) : null;
  return url === null ? hostLast(subject) : `${url[2]} on ${url[1]}`;
}

function details(nodes: readonly FleetNode[], entry: FleetEntry): ToneLine[] {
  const lines: ToneLine[] = [[{ text: `${entry.kind} ${entry.subject}`.trim(), tone: 'strong' }]];
  if (entry.problem !== '' && entry.problem !== entry.subject)
    lines.push([{ text: entry.problem, tone: 'bad' }]);
  if (entry.seq === null) return lines;
  const without = missing(nodes, entry);
  for (const { name, lag } of nodes) {
    const isMissing = without.includes(name);
    // The lag is of the last heartbeat: it may be older than the message.
    const wait = lag === 0 ? '' : lag === 1 ? ': 1 message behind' : `: ${lag} messages behind`;
    lines.push([
      { text: `${name.padEnd(16)} `, fixed: true },
      { text: isMissing ? `not yet${wait}` : 'applied', tone: isMissing ? 'warn' : 'good' },
    ]);
  }
  return lines;
}
