// An invalidation as an event: what was purged or banned here, raised after the local work is complete, for an edge
// network and the other proxies of a fleet. Programs raise them with VclContext.raise(); commands call the same two
// services.
//
// The parts for others are written to durable storage before the client gets a response: a program state that raised an
// event ends only when its receipts have arrived (daemon/transaction/program-state.ts).

import type { CompiledProgram } from './program.ts';

/** Lifetimes after a soft purge, in seconds: ttl from now; a negative grace or keep is left unchanged. */
export interface SoftLives {
  ttl: number;
  grace: number;
  keep: number;
  /** They are upper bounds: nothing gets longer, and the ttl of a stale object has ended when it had. */
  shortens?: boolean;
}

/** `purge` is by URL, `ban` by an expression, `tags` by surrogate keys. */
export interface Invalidation {
  readonly kind: 'purge' | 'ban' | 'tags';
  /** Makes objects stale instead of removing them. */
  readonly soft: boolean;
  /** The URL with its host (host/path), the expression, or the original text of the keys. */
  readonly subject: string;
  /** "vxid 17" or "admin", for the log. */
  readonly origin: string;
  /** Number of objects; null if unknown, as for bans. */
  readonly count: number | null;
  /** The words of a ban's expression, if it was given as words: a word may contain spaces. */
  readonly words?: readonly string[];
  /** Lifetimes of a soft purge, if not the default. */
  readonly lives?: SoftLives;
}

/** The default of a soft purge. */
export const STALE: SoftLives = { ttl: 0, grace: -1, keep: -1 };

/** The fleet's receipt for a published invalidation. */
export interface FleetReceipt {
  /** `stored`: every node will get it. `lost`: certainly not stored. `unknown`: no response, possibly stored. */
  readonly state: 'stored' | 'lost' | 'unknown';
  /** Sequence number in the stream; 0 if it is not known to be stored. */
  readonly seq: number;
  /** Nodes that have applied it so far, including this one, and the total. */
  readonly applied: number;
  readonly nodes: number;
  /** Names of nodes that have not. */
  readonly behind: readonly string[];
  /** Why it was not stored. */
  readonly detail: string;
}

/** The fleet, as seen by programs and commands. */
export interface FleetService {
  /** Never rejects. */
  publish(event: Invalidation): Promise<FleetReceipt>;
}

/** The edge's receipt for an invalidation. */
export interface EdgeReceipt {
  readonly provider: string;
  /** The requested operation, such as "delete url" or "invalidate rule", which may clear more than was invalidated
   * here. */
  readonly op: string;
  /** Id of the queue entry; several are joined by commas; '' if there is none. */
  readonly id: string;
  readonly state: 'queued' | 'acked' | 'retry' | 'dead' | 'dry-run' | 'rejected';
  /** Why it was rejected, or how the operation differs from the request. */
  readonly detail?: string;
}

/** Whether the edge still has the content: it was not reached, or the network refused. The client must get an error. */
export function isRefused({ state }: EdgeReceipt): boolean {
  return state === 'rejected' || state === 'dead';
}

/** The edge connector, as seen by programs and transactions. */
export interface EdgeService {
  /** Whether purges can be sent. */
  readonly configured: boolean;
  readonly settings: EdgeSettings;
  /** Whether a request with this Via header came through the edge. */
  isEdge(via: string | null): boolean;
  /** Headers for a response to the edge; null removes one. */
  headers(response: EdgeDelivery): Readonly<Record<string, string | null>>;
  /** Never rejects; null if the edge need not be called: no loaded program imports the connector, or it is not
   * configured, which is logged once. */
  invalidated(event: Invalidation, program: CompiledProgram | null): Promise<EdgeReceipt> | null;
}

export interface EdgeSettings {
  readonly prefix: string;
  readonly tagHeader: string;
  readonly graceToEdge: 'revalidate' | 'serve';
}

export interface EdgeDelivery {
  readonly cacheable: boolean;
  /** Seconds at the time of the fetch, and since. */
  readonly ttl: number;
  readonly grace: number;
  readonly age: number;
  readonly cacheControl: string;
  /** Values of the header with the cache tags. */
  readonly keys: readonly string[];
  readonly host: string;
}

/** "stored 4711, applied by 2 of 3 nodes, not yet by c" */
export function fleetReply({ state, seq, applied, nodes, behind, detail }: FleetReceipt): string {
  if (state === 'lost') return `not stored: ${detail}`;
  if (state === 'unknown') return `perhaps stored: ${detail}`;
  const missing = behind.length === 0 ? '' : `, not yet by ${behind.join(' ')}`;
  return `stored ${seq}, applied by ${applied} of ${nodes} ${nodes === 1 ? 'node' : 'nodes'}${missing}`;
}

/** The error text when there is no acknowledgement. */
export function fleetFailure({ state }: FleetReceipt): string {
  return state === 'lost'
    ? 'Applied here, not stored for the fleet'
    : 'Applied here, perhaps stored for the fleet';
}
