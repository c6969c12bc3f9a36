// What nodes say of themselves, as short JSON messages with a version: a sign of life, and how far one has come. What is none
// is passed over. A node of an older version leaves out what it does not know, and keeps its sign of life.

import { LONGEST_BEAT, MOST_PROGRAMS } from './fleet-names.ts';

const VERSION = 1;
/** Characters of a text, and of an error of a compiler. */
const LONGEST_TEXT = 100;
const LONGEST_PROBLEM = 4096;
/** Listeners that are named. */
const MOST_LISTENERS = 8;

/** How a node does, beside its place in the stream. */
export interface NodeFigures {
  /** Of its worker: running, stopped. */
  readonly worker: string;
  /** The active program; null without one. */
  readonly program: string | null;
  /** Requests a second over the last ten seconds, and the part of the lookups that were hits: 0 to 1, null without any. */
  readonly requests: number;
  readonly hit_rate: number | null;
  readonly threads: number;
  /** A name or an address that the other nodes may reach its machine by. */
  readonly address: string;
  /** host:port that its console protocol is spoken at; null when it has none. */
  readonly console: string | null;
  /** Where it listens for traffic. */
  readonly listen: readonly string[];
}

/** A program of the fleet on a node; `problem`: why it is not loaded there. */
export interface NodeProgram {
  readonly name: string;
  readonly id: string;
  readonly problem?: string;
}

/** How a node does with the fleet's programs. */
export interface ProgramFigures {
  readonly programs: readonly NodeProgram[];
  /** The id of the one that it runs; null when it runs one of its own. */
  readonly using: string | null;
  /** The name of the one that it is to run; null when the fleet has chosen none. */
  readonly wanted: string | null;
  /** It runs another than that. */
  readonly own_program: boolean;
}

/** A node's sign of life. */
export interface NodeState extends Partial<NodeFigures>, Partial<ProgramFigures> {
  /** Chosen when its manager began: two with one name are told apart by it. */
  readonly life: string;
  readonly version: string;
  /** Whether all it has is as new as the stream, as far as it knows. */
  readonly current: boolean;
  /** The last message that it has applied, how many are left, and how long the oldest of them has waited. */
  readonly applied: number;
  readonly lag: number;
  readonly lag_seconds?: number;
  /** What it takes from the fleet: `invalidate` leaves out programs. */
  readonly accept?: Accept;
}

export type Accept = 'all' | 'invalidate';

export function writeState(state: NodeState): Uint8Array {
  return Buffer.from(JSON.stringify({ v: VERSION, ...state }));
}

export function readState(data: Uint8Array): NodeState | null {
  const state = objectOf(data);
  if (state === null) return null;
  const { life, version, current, applied, lag } = state;
  if (!isText(life) || !isText(version) || typeof current !== 'boolean') return null;
  if (!isCount(applied) || !isCount(lag)) return null;
  const base = { life, version, current, applied, lag };
  const more = Object.entries(FIGURES).filter(([name, right]) => right(state[name]));
  return { ...base, ...Object.fromEntries(more.map(([name]) => [name, state[name]])) };
}

/** Those that a sign of life may lack; one that is wrong counts as lacking. */
const FIGURES: Readonly<
  Record<keyof NodeFigures | keyof ProgramFigures | 'lag_seconds' | 'accept', (value: unknown) => boolean>
> = {
  worker: isText,
  program: (value) => value === null || isText(value),
  requests: isAmount,
  hit_rate: (value) => value === null || (isAmount(value) && value <= 1),
  threads: isCount,
  address: isText,
  console: (value) => value === null || isText(value),
  listen: (value) => Array.isArray(value) && value.length <= MOST_LISTENERS && value.every(isText),
  lag_seconds: isCount,
  accept: (value) => value === 'all' || value === 'invalidate',
  programs: (value) => Array.isArray(value) && value.length <= 2 * MOST_PROGRAMS && value.every(isProgram),
  using: (value) => value === null || isText(value),
  wanted: (value) => value === null || isText(value),
  own_program: (value) => typeof value === 'boolean',
};

function isProgram(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { name, id, problem = '' } = value as Record<string, unknown>;
  return isText(name) && isText(id) && typeof problem === 'string' && problem.length <= LONGEST_PROBLEM;
}

export function writeApplied(seq: number): Uint8Array {
  return Buffer.from(JSON.stringify({ v: VERSION, seq }));
}

export function readApplied(data: Uint8Array): number | null {
  const seq = objectOf(data)?.seq;
  return isCount(seq) ? seq : null;
}

function objectOf(data: Uint8Array): Record<string, unknown> | null {
  if (data.length > LONGEST_BEAT) return null;
  try {
    const value = JSON.parse(Buffer.from(data).toString('utf8')) as Record<string, unknown> | null;
    return value?.v === VERSION ? value : null;
  } catch {
    return null;
  }
}

/** Printable: it is shown on terminals. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_TEXT && /^[\x20-\x7e]*$/.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
