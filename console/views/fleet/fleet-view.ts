// The fleet's nodes: replication position, program and load, and the progress of the last invalidations, a column of
// marks each. Enter opens a node as a context.

import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { switchInstance } from '../../model/ui/navigation.ts';
import { clock, count, percent, rate } from '../../model/ui/numbers.ts';
import type { Tone, ToneLine } from '../../model/ui/panel.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import {
  entriesOf,
  type FleetEntry,
  type FleetNode,
  has,
  isInFleet,
  LOG_LINE,
  NODES_LINE,
  nodesOf,
  noFleet,
  progressOf,
} from './fleet-answers.ts';

/** Invalidations in the progress column, one cell each, newest on the right. */
const TRACK = 12;
const DETAILS = 5;

/** Width of the state of an invalidation on a node. */
const WORD = 9;
const WORD_TONES: Readonly<Record<string, Tone>> = { applied: 'good', 'not yet': 'warn' };
const TONES: Readonly<Record<string, Tone>> = { current: 'good', behind: 'warn', silent: 'bad', away: 'bad' };

export const FLEET_VIEW: ListView = listView({
  name: 'fleet',
  key: '^',
  title: 'Fleet',
  short: 'Fleet',
  brief: 'Flt',
  // Refreshed on every change.
  asks: [
    { line: NODES_LINE, every: 1 },
    { line: LOG_LINE, every: 1 },
  ],
  columns: [
    { title: 'NODE', min: 13, grow: 2 },
    { title: 'STATE', min: 8 },
    { title: 'LAG', min: 5, right: true },
    { title: 'FOR', min: 5, right: true, drop: 3 },
    { title: 'LAST', min: TRACK, drop: 2 },
    { title: 'PROGRAM', min: 8, grow: 1, drop: 1 },
    { title: 'REQ/S', min: 6, right: true },
    { title: 'HITS', min: 6, right: true },
    { title: 'VERSION', min: 7, drop: 4 },
    { title: 'CONSOLE', min: 21, drop: 5 },
  ],
  applies: isInFleet,
  rows: (session) => {
    const entries = entriesOf(session);
    return nodesOf(session).map((node) => row(session, node, entries));
  },
  remark: (session) => {
    const nodes = nodesOf(session);
    if (nodes.length === 0 && !isInFleet(session)) return 'not in a fleet';
    const late = nodes.filter(({ state }) => state !== 'current').length;
    const [last] = entriesOf(session);
    const progress = last === undefined ? '' : `; last ${last.subject}: ${progressOf(nodes, last)}`;
    return `${nodes.length === 1 ? '1 node' : `${nodes.length} nodes`}, ${late === 0 ? 'all current' : `${late} not current`}${progress}`;
  },
  empty: (session) => noFleet(session, 'no nodes yet'),
  keys: [],
  enter: (c, { facts }) => openNode(c, facts.node ?? '', facts.self === 'true', facts.console ?? ''),
});

/** The address comes from the node's heartbeat. The secret is the operator's, and its challenge response is useless at
 * another address. */
function openNode(c: ViewContext, node: string, self: boolean, address: string) {
  if (self) return c.ui.notify('info', `${node} is already shown`);
  const { instances } = c;
  if (instances.names.includes(node)) return switchInstance(c, node);
  if (address === '') return c.ui.notify('warn', `${node} has no --console`);
  const problem =
    instances.meet?.(node, address) ?? 'no secret for it: give -S, or add it to the configuration file';
  if (problem !== '') return c.ui.notify('warn', `${node} at ${address}: ${problem}`);
  switchInstance(c, node);
}

function row(session: DaemonSession, node: FleetNode, entries: readonly FleetEntry[]): ListRow {
  const { name, self, lag, lagSeconds, program, requests, hitRate, version, console } = node;
  const known = entries.filter(({ seq }) => seq !== null).slice(0, TRACK);
  // The newest is the lowest bit.
  const bits = known.reduce((all, entry, i) => (has(node, entry) ? all | (1n << BigInt(i)) : all), 0n);
  const state = stateOf(node);
  return {
    key: name,
    facts: { node: name, self: String(self), state, console },
    cells: [
      { text: self ? `${name} (this)` : name, by: name, tone: 'strong' },
      { text: state, tone: TONES[state] ?? 'bad' },
      { text: count(lag), by: lag, tone: lag > 0 ? 'warn' : 'muted' },
      { text: lag === 0 ? '' : `${lagSeconds}s`, by: lagSeconds, tone: 'warn' },
      { text: '', by: node.applied, bits: { value: bits, count: known.length } },
      { text: program, tone: 'text' },
      { text: requests === null ? '' : rate(requests), by: requests ?? -1 },
      { text: hitRate === null ? '' : percent(hitRate), by: hitRate ?? -1 },
      { text: version, tone: 'muted' },
      { text: console === '' ? 'none' : console, tone: console === '' ? 'faint' : 'muted' },
    ],
    detail: () => details(session, node, known),
  };
}

/** A node without a worker serves no traffic, even if it is current. */
function stateOf({ state, worker }: FleetNode): string {
  return worker === '' || worker === 'running' ? state : worker;
}

function details(session: DaemonSession, node: FleetNode, entries: readonly FleetEntry[]): ToneLine[] {
  const { address, listen, threads, seen, applied, state } = node;
  const threadText = threads === null ? '' : `, ${threads === 1 ? '1 thread' : `${threads} threads`}`;
  const lastSeen = state === 'silent' ? `, last heartbeat ${Math.round(seen)} s ago` : '';
  return [
    [
      {
        text: `At ${address || 'an unknown address'}, serves at ${listen.join(', ') || 'unknown places'}${threadText}${lastSeen}; has applied number ${applied}.`,
      },
    ],
    ...entries.slice(0, DETAILS).map((entry): ToneLine => {
      const { at, seq, kind, subject, from } = entry;
      const word = !has(node, entry) ? 'not yet' : entry.state;
      return [
        { text: `${clock(at, session.utc)}  `, tone: 'muted' },
        { text: word.padEnd(WORD), tone: WORD_TONES[word] ?? 'bad' },
        { text: [seq, kind, subject].filter((part) => part !== '').join(' ') },
        { text: ` by ${from}`, tone: 'muted' },
      ];
    }),
  ];
}
