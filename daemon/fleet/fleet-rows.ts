// The fleet as commands show it: its nodes, and the last of what was invalidated in it. The names are those of the JSON that
// the commands reply with.

import type { Accept, NodeFigures, ProgramFigures } from './node-messages.ts';

/** `silent`: no sign of life for some seconds. Of this node `away`: the bus is. */
export type NodeStanding = 'current' | 'behind' | 'silent' | 'away';

/** A node; figures that it does not tell of are absent. */
export interface NodeRow extends Partial<NodeFigures>, Partial<ProgramFigures> {
  readonly node: string;
  /** Whether it is the one that was asked. */
  readonly self: boolean;
  readonly state: NodeStanding;
  /** Seconds since its last sign of life. */
  readonly seen: number;
  readonly version: string;
  /** The last message of the stream that it has applied, how many are left, and for how long. */
  readonly applied: number;
  readonly lag: number;
  readonly lag_seconds?: number;
  readonly accept?: Accept;
}

/** How far a message has come. */
export interface Reach {
  readonly applied: number;
  readonly nodes: number;
  /** Names, ten at the most. */
  readonly behind: readonly string[];
}

/** An invalidation that went over the bus, or was to. */
export interface LoggedInvalidation {
  /** Its number in the stream; null when it is not known to be there. */
  readonly seq: number | null;
  /** Epoch seconds, by the bus where it has it. */
  readonly at: number;
  /** The node that published it, or the last word of the subject of whoever else did. */
  readonly from: string;
  /** What it said it was: "admin", "vxid 17". */
  readonly by: string;
  readonly kind: 'purge' | 'keys' | 'ban' | null;
  readonly soft: boolean;
  /** The URL, the keys or the expression, cut short when it is long. */
  readonly subject: string;
  /** `refused`: by this node. `lost` and `unknown`: published here, certainly or perhaps not stored. */
  readonly state: 'applied' | 'refused' | 'lost' | 'unknown';
  /** Why, where it was not applied. */
  readonly problem: string | null;
}

/** The same with how far it has come; null for what is not in the stream. */
export interface LogRow extends LoggedInvalidation {
  readonly reach: Reach | null;
}

/** Why a node has not loaded a program; `failed`: because it cannot. */
export interface NodeProblem {
  readonly node: string;
  readonly problem: string;
  readonly failed: boolean;
}

/** A program of the fleet. */
export interface ProgramRow {
  readonly name: string;
  readonly status: 'active' | 'canary' | 'available';
  /** Nodes that it is tried on. */
  readonly on: readonly string[] | null;
  /** Of the whole, the node that stored it and when (epoch seconds); null of one that is refused. */
  readonly id: string | null;
  readonly by: string | null;
  readonly at: number | null;
  readonly bytes: number;
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
  /** Nodes that have loaded it, of those that take programs. */
  readonly loaded: number;
  readonly nodes: number;
  readonly missing: readonly Omit<NodeProblem, 'failed'>[];
  /** Why it is refused here. */
  readonly problem: string | null;
}

/** What became of a change: whether it was made, and a text for the operator. */
export interface ChangeResult {
  readonly done: boolean;
  readonly text: string;
}

export interface UseOptions {
  /** Null: all nodes. */
  readonly on: readonly string[] | null;
  /** Also where some have not loaded it. */
  readonly force: boolean;
}
