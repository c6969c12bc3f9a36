// An invalidation as an event: what was purged or banned here, said once the local work is done, so that an edge network
// and the other proxies of a fleet can be told too. Programs raise them with VclContext.raise(); commands ask
// the same two services.
//
// What the others' part needs is written down before anybody is answered: a state of a program that has raised an event
// is over only when its receipts are there (daemon/transaction/program-state.ts).

import type { CompiledProgram } from './program.ts';

/** What a soft purge leaves of lifetimes, in seconds: ttl from now; a negative grace or keep stays as it is. */
export interface SoftLives {
  ttl: number;
  grace: number;
  keep: number;
}

/** What was done here. `purge` is by URL, `ban` by an expression, `tags` by surrogate keys. */
export interface Invalidation {
  readonly kind: 'purge' | 'ban' | 'tags';
  /** Made stale instead of taken away. */
  readonly soft: boolean;
  /** The URL with its host (host/path), the expression, or the keys as they were given. */
  readonly subject: string;
  /** "vxid 17" or "admin", for the log. */
  readonly origin: string;
  /** Objects; null where it is not known yet, as with bans. */
  readonly count: number | null;
  /** A ban's expression as words, where it came so: a word may have blanks. */
  readonly words?: readonly string[];
  /** What a soft purge leaves, where it is not the usual: stale, with its grace and keep. */
  readonly lives?: SoftLives;
}

/** The usual of a soft purge. */
export const STALE: SoftLives = { ttl: 0, grace: -1, keep: -1 };

/** What the fleet has of an invalidation that was published. */
export interface FleetReceipt {
  /** `stored`: every node gets it. `lost`: certainly none does. `unknown`: nobody answered, and it may be stored. */
  readonly state: 'stored' | 'lost' | 'unknown';
  /** Its number in the stream; 0 when it is not known to be stored. */
  readonly seq: number;
  /** Nodes that have applied it so far, this one among them, and how many there are. */
  readonly applied: number;
  readonly nodes: number;
  /** Names of those that have not. */
  readonly behind: readonly string[];
  /** Why it was not stored. */
  readonly detail: string;
}

/** The other proxies of a fleet, as programs and commands see them. */
export interface FleetService {
  /** Never rejects. */
  publish(event: Invalidation): Promise<FleetReceipt>;
}

/** What became of the edge's part. */
export interface EdgeReceipt {
  readonly provider: string;
  /** "delete url", "invalidate rule": what is asked of the network, which may be more than was done here. */
  readonly op: string;
  /** Of the entry of the queue; several are joined by commas; '' when there is none. */
  readonly id: string;
  readonly state: 'queued' | 'acked' | 'retry' | 'dead' | 'dry-run' | 'rejected';
  /** Why it was rejected, and what differs from what was asked. */
  readonly detail?: string;
}

/** Whether the edge keeps what was to go: it was not told, or the network would not do it. Whoever asked has to know. */
export function isRefused({ state }: EdgeReceipt): boolean {
  return state === 'rejected' || state === 'dead';
}

/** The edge connector as programs and transactions see it. */
export interface EdgeService {
  /** Whether purges can be sent. */
  readonly configured: boolean;
  readonly settings: EdgeSettings;
  /** Whether a request with this Via header came through the edge. */
  isEdge(via: string | null): boolean;
  /** Headers for a response that goes to the edge; null removes one. */
  headers(response: EdgeDelivery): Readonly<Record<string, string | null>>;
  /** Never rejects; null when the edge is not to be told: no program in force imports the connector, or it is not
   * configured, which is said once. */
  invalidated(event: Invalidation, program: CompiledProgram | null): Promise<EdgeReceipt> | null;
}

export interface EdgeSettings {
  readonly prefix: string;
  readonly tagHeader: string;
  readonly graceToEdge: 'revalidate' | 'serve';
}

export interface EdgeDelivery {
  readonly cacheable: boolean;
  /** Seconds at the time of the fetch, and since then. */
  readonly ttl: number;
  readonly grace: number;
  readonly age: number;
  readonly cacheControl: string;
  /** Values of the header that cache tags are taken from. */
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

/** What is certain without an acknowledgement. */
export function fleetFailure({ state }: FleetReceipt): string {
  return state === 'lost'
    ? 'Applied here, not stored for the fleet'
    : 'Applied here, perhaps stored for the fleet';
}
