// The answers of fleet.nodes and fleet.log as both views of the fleet read them. What a node of another version does not tell
// of is null; what is no node or no invalidation is left out.

import { answerItems, textField } from '../../model/admin-store.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';

/** Invalidations that are asked for. */
const LAST = 100;

export const NODES_LINE = 'fleet.nodes -j';
export const LOG_LINE = `fleet.log -j ${LAST}`;

export interface FleetNode {
  readonly name: string;
  readonly self: boolean;
  /** current, behind, silent, away. */
  readonly state: string;
  readonly worker: string;
  /** Seconds since its last sign of life. */
  readonly seen: number;
  /** The last number of the stream that it has applied. */
  readonly applied: number;
  readonly lag: number;
  readonly lagSeconds: number;
  readonly program: string;
  readonly requests: number | null;
  readonly hitRate: number | null;
  readonly threads: number | null;
  readonly version: string;
  readonly address: string;
  /** host:port; '' for none. */
  readonly console: string;
  readonly listen: readonly string[];
}

export interface FleetEntry {
  /** Null when it is not known to be in the stream. */
  readonly seq: number | null;
  /** Epoch seconds. */
  readonly at: number;
  readonly from: string;
  readonly by: string;
  /** With "soft" before it; '' for a message that is none. */
  readonly kind: string;
  /** What it takes; why it is none. */
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

/** The newest first. */
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

/** Whether a node has it; the one that published it has done it before it did so. */
export function has({ name, applied }: FleetNode, { seq, from }: FleetEntry): boolean {
  return from === name || (seq !== null && applied >= seq);
}

/** The nodes that an invalidation has not come to. */
export function missing(nodes: readonly FleetNode[], entry: FleetEntry): readonly string[] {
  return nodes.filter((node) => !has(node, entry)).map(({ name }) => name);
}

/** How far it has come, in words. */
export function wayOf(nodes: readonly FleetNode[], entry: FleetEntry): string {
  if (entry.state === 'lost') return 'not stored';
  if (entry.seq === null) return 'perhaps stored';
  if (entry.state === 'refused') return 'refused';
  const without = missing(nodes, entry);
  const reached = `${nodes.length - without.length} of ${nodes.length}`;
  return without.length === 0 ? reached : `${reached}, not ${without.join(' ')}`;
}

/** Only a node of a fleet counts what it does in one. */
export function isInFleet({ counters }: DaemonSession): boolean {
  return counters.get('FLEET.connected') !== undefined;
}

/** In the place of rows, where there are none. */
export function noFleet(session: DaemonSession, none: string): string {
  if (session.connection.state !== 'up') return 'no connection';
  const { product } = session.source;
  if (product !== undefined) return `${product} has no fleet`;
  const status = session.admin.answer(NODES_LINE)?.status;
  return status === undefined || status === 200 ? none : 'this proxy belongs to no fleet';
}

function numberOf(text: string): number | null {
  return text === '' ? null : Number(text);
}
