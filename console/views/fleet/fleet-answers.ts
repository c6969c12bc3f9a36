// Replies to fleet.nodes and fleet.log, parsed for both fleet views. Fields that a node of another version does not
// report are null; malformed entries are skipped.

import { answerItems, textField } from '../../model/session/admin-store.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';

/** Number of invalidations requested. */
const LAST = 100;

export const NODES_LINE = 'fleet.nodes -j';
export const LOG_LINE = `fleet.log -j ${LAST}`;

export interface FleetNode {
  readonly name: string;
  readonly self: boolean;
  /** current, behind, silent, away. */
  readonly state: string;
  readonly worker: string;
  /** Seconds since its last heartbeat. */
  readonly seen: number;
  /** The last stream sequence number that it has applied. */
  readonly applied: number;
  readonly lag: number;
  readonly lagSeconds: number;
  readonly program: string;
  readonly requests: number | null;
  readonly hitRate: number | null;
  readonly threads: number | null;
  readonly version: string;
  readonly address: string;
  /** host:port; '' if it has none. */
  readonly console: string;
  readonly listen: readonly string[];
}

export interface FleetEntry {
  /** Null unless it is known to be in the stream. */
  readonly seq: number | null;
  /** Epoch seconds. */
  readonly at: number;
  readonly from: string;
  readonly by: string;
  /** With "soft" in front if it is; '' for an invalid message. */
  readonly kind: string;
  /** The subject of the invalidation, or why the message is invalid. */
  readonly subject: string;
  /** applied, refused, lost, unknown. */
  readonly state: string;
  readonly problem: string;
}

export function nodesOf(session: DaemonSession): readonly FleetNode[] {
  return answerItems(session.admin.body(NODES_LINE)).flatMap((item): FleetNode[] => {
    const text = (name: string): string => textField(item, name);
    if (text('node') === '') return [];
    const { listen } = item as { listen?: unknown };
    return [
      {
        name: text('node'),
        self: text('self') === 'true',
        state: text('state'),
        worker: text('worker'),
        seen: Number(text('seen')),
        applied: Number(text('applied')),
        lag: Number(text('lag')),
        lagSeconds: Number(text('lag_seconds')),
        program: text('program'),
        requests: numberOf(text('requests')),
        hitRate: numberOf(text('hit_rate')),
        threads: numberOf(text('threads')),
        version: text('version'),
        address: text('address'),
        console: text('console'),
        listen: Array.isArray(listen) ? listen.map(String) : [],
      },
    ];
  });
}

/** Newest first. */
export function entriesOf(session: DaemonSession): readonly FleetEntry[] {
  const items = answerItems(session.admin.body(LOG_LINE));
  return items.reverse().flatMap((item): FleetEntry[] => {
    const text = (name: string): string => textField(item, name);
    if (text('from') === '') return [];
    return [
      {
        seq: numberOf(text('seq')),
        at: Number(text('at')),
        from: text('from'),
        by: text('by'),
        kind: `${text('soft') === 'true' ? 'soft ' : ''}${text('kind')}`,
        subject: text('subject') || text('problem'),
        state: text('state'),
        problem: text('problem'),
      },
    ];
  });
}

/** Whether a node has applied it; the publisher applies an invalidation before publishing it. */
export function has({ name, applied }: FleetNode, { seq, from }: FleetEntry): boolean {
  return from === name || (seq !== null && applied >= seq);
}

/** Nodes that have not applied an invalidation. */
export function missing(nodes: readonly FleetNode[], entry: FleetEntry): readonly string[] {
  return nodes.filter((node) => !has(node, entry)).map(({ name }) => name);
}

/** Its progress over the nodes, in words. */
export function progressOf(nodes: readonly FleetNode[], entry: FleetEntry): string {
  if (entry.state === 'lost') return 'not stored';
  if (entry.seq === null) return 'perhaps stored';
  if (entry.state === 'refused') return 'refused';
  const without = missing(nodes, entry);
  const reached = `${nodes.length - without.length} of ${nodes.length}`;
  return without.length === 0 ? reached : `${reached}, not ${without.join(' ')}`;
}

/** Only nodes of a fleet have fleet counters. */
export function isInFleet({ counters }: DaemonSession): boolean {
  return counters.get('FLEET.connected') !== undefined;
}

/** Text in place of rows, if there are none. */
export function noFleet(session: DaemonSession, none: string): string {
  if (session.connection.state !== 'up') return 'no connection';
  const { product } = session.source;
  if (product !== undefined) return `${product} has no fleet`;
  const status = session.admin.answer(NODES_LINE)?.status;
  return status === undefined || status === 200 ? none : 'not in a fleet';
}

function numberOf(text: string): number | null {
  return text === '' ? null : Number(text);
}
