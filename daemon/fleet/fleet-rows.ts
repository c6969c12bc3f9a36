// Rows of the fleet commands: nodes, invalidations, programs. The names are those of the JSON replies.

import type { Accept, NodeFigures, ProgramFigures } from './node-messages.ts';

/** `silent`: no heartbeat for some seconds. `away`, for this node: the bus is not connected. */
export type NodeStatus = 'current' | 'behind' | 'silent' | 'away';

/** A node; figures that it does not report are absent. */
export interface NodeRow extends Partial<NodeFigures>, Partial<ProgramFigures> {
  readonly node: string;
  /** Whether it is this node. */
  readonly self: boolean;
  readonly state: NodeStatus;
  /** Seconds since its last heartbeat. */
  readonly seen: number;
  readonly version: string;
  /** The last message that it applied, the number of pending ones, and for how long. */
  readonly applied: number;
  readonly lag: number;
  readonly lag_seconds?: number;
  readonly accept?: Accept;
}

/** How many nodes have applied a message. */
export interface Reach {
  readonly applied: number;
  readonly nodes: number;
  /** Names, at most ten. */
  readonly behind: readonly string[];
}

/** An invalidation that was published, or was to be. */
export interface LoggedInvalidation {
  /** Sequence number in the stream; null if it is not known to be stored. */
  readonly seq: number | null;
  /** Epoch seconds, as recorded by the bus if stored. */
  readonly at: number;
  /** The publishing node, or the last token of another client's subject. */
  readonly from: string;
  /** The origin given by the publisher: "admin", "vxid 17". */
  readonly by: string;
  readonly kind: 'purge' | 'keys' | 'ban' | null;
  readonly soft: boolean;
  /** The URL, the keys or the expression, truncated if long. */
  readonly subject: string;
  /** `refused`: by this node. `lost` and `unknown`: published here, certainly or possibly not stored. */
  readonly state: 'applied' | 'refused' | 'lost' | 'unknown';
  /** Why it was not applied. */
  readonly problem: string | null;
}

/** A logged invalidation with the nodes that applied it; null if it is not in the stream. */
export interface LogRow extends LoggedInvalidation {
  readonly reach: Reach | null;
}

/** Why a node has not loaded a program. `failed`: loading was attempted and failed. */
export interface NodeProblem {
  readonly node: string;
  readonly problem: string;
  readonly failed: boolean;
}

/** A program of the fleet. */
export interface ProgramRow {
  readonly name: string;
  readonly status: 'active' | 'canary' | 'available';
  /** The canary nodes; null if it is not a canary. */
  readonly on: readonly string[] | null;
  /** The id of the bundle, the node that stored it and when (epoch seconds); null if it is refused. */
  readonly id: string | null;
  readonly by: string | null;
  readonly at: number | null;
  readonly bytes: number;
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
  /** Nodes that have loaded it, of those that accept programs. */
  readonly loaded: number;
  readonly nodes: number;
  readonly missing: readonly Omit<NodeProblem, 'failed'>[];
  /** Why this node refuses it. */
  readonly problem: string | null;
}

/** The result of a change: whether it was made, and a text for the operator. */
export interface ChangeResult {
  readonly done: boolean;
  readonly text: string;
}

export interface UseOptions {
  /** Null: all nodes. */
  readonly on: readonly string[] | null;
  /** Also if some nodes have not loaded it. */
  readonly force: boolean;
}
