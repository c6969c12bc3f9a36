// Messages of nodes about themselves, short versioned JSON: heartbeats and acknowledgements. Malformed ones are
// ignored. A node of an older version omits fields that it does not know.

import { LONGEST_BEAT, MOST_PROGRAMS } from './fleet-names.ts';

const VERSION = 1;
/** Characters of a text, and of a compiler error. */
const LONGEST_TEXT = 100;
const LONGEST_PROBLEM = 4096;
/** Listeners in a heartbeat. */
const MOST_LISTENERS = 8;

/** Status figures of a node, besides its position in the stream. */
export interface NodeFigures {
  /** State of its worker, such as running or stopped. */
  readonly worker: string;
  /** The active program; null without one. */
  readonly program: string | null;
  /** Requests per second over the last ten seconds, and the fraction of lookups that were hits: 0 to 1, null without
   * any. */
  readonly requests: number;
  readonly hit_rate: number | null;
  readonly threads: number;
  /** A name or an address by which the other nodes may reach its machine. */
  readonly address: string;
  /** host:port of its console protocol; null without one. */
  readonly console: string | null;
  /** Addresses of its traffic listeners. */
  readonly listen: readonly string[];
}

/** A program of the fleet on a node; `problem`: why it is not loaded. */
export interface NodeProgram {
  readonly name: string;
  readonly id: string;
  readonly problem?: string;
}

/** The fleet's programs on a node. */
export interface ProgramFigures {
  readonly programs: readonly NodeProgram[];
  /** The id of the program in use; null if it is a local one. */
  readonly using: string | null;
  /** The name of the program that it should use; null if the fleet has chosen none. */
  readonly wanted: string | null;
  /** Whether it uses another program than that. */
  readonly own_program: boolean;
}

/** A heartbeat. */
export interface NodeState extends Partial<NodeFigures>, Partial<ProgramFigures> {
  /** Random, chosen at the manager's start: distinguishes two nodes with the same name. */
  readonly life: string;
  readonly version: string;
  /** Whether all messages known to be in the stream are applied. */
  readonly current: boolean;
  /** The last applied message, the number of pending ones, and how long the oldest of them has waited. */
  readonly applied: number;
  readonly lag: number;
  readonly lag_seconds?: number;
  /** The stream of that message: when it was created. */
  readonly stream?: string;
  /** Content accepted from the fleet; `invalidate` excludes programs. */
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

/** Fields that a heartbeat may lack; an invalid value counts as absent. */
const FIGURES: Readonly<
  Record<
    keyof NodeFigures | keyof ProgramFigures | 'lag_seconds' | 'stream' | 'accept',
    (value: unknown) => boolean
  >
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
  stream: isText,
  accept: (value) => value === 'all' || value === 'invalidate',
  programs: (value) => Array.isArray(value) && value.length <= 2 * MOST_PROGRAMS && value.every(isProgram),
  using: (value) => value === null || isText(value),
  wanted: (value) => value === null || isText(value),
  own_program: (value) => typeof value === 'boolean',
};

function isProgram(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { name, id, problem = '' } = value as Record<string, unknown>;
  if (typeof problem !== 'string' || problem.length > LONGEST_PROBLEM) return false;
  return isText(name) && isText(id) && /^[\t\n\x20-\x7e]*$/.test(problem);
}

/** An acknowledgement of all messages of a stream up to this one. */
export interface Applied {
  readonly seq: number;
  /** As in a heartbeat. */
  readonly stream?: string;
}

export function writeApplied({ seq, stream }: Applied): Uint8Array {
  return Buffer.from(JSON.stringify({ v: VERSION, seq, stream }));
}

export function readApplied(data: Uint8Array): Applied | null {
  const { seq, stream } = objectOf(data) ?? {};
  if (!isCount(seq)) return null;
  return isText(stream) ? { seq, stream } : { seq };
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

/** Printable characters only: it is shown on terminals. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_TEXT && /^[\x20-\x7e]*$/.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
