// What nodes say of themselves, as short JSON messages with a version: a sign of life, and how far one has come. What is none
// is passed over. A node of an older version leaves out what it does not know, and keeps its sign of life.

const VERSION = 1;
/** Bytes of a message, as the bucket of nodes takes them, and characters of a text in it. */
const LONGEST = 4096;
const LONGEST_TEXT = 100;
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

/** A node's sign of life. */
export interface NodeState extends Partial<NodeFigures> {
  /** Chosen when its manager began: two with one name are told apart by it. */
  readonly life: string;
  readonly version: string;
  /** Whether all it has is as new as the stream, as far as it knows. */
  readonly current: boolean;
  /** The last message that it has applied, how many are left, and how long the oldest of them has waited. */
  readonly applied: number;
  readonly lag: number;
  readonly lag_seconds?: number;
}

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
const FIGURES: Readonly<Record<keyof NodeFigures | 'lag_seconds', (value: unknown) => boolean>> = {
  worker: isText,
  program: (value) => value === null || isText(value),
  requests: isAmount,
  hit_rate: (value) => value === null || (isAmount(value) && value <= 1),
  threads: isCount,
  address: isText,
  console: (value) => value === null || isText(value),
  listen: (value) => Array.isArray(value) && value.length <= MOST_LISTENERS && value.every(isText),
  lag_seconds: isCount,
};

export function writeApplied(seq: number): Uint8Array {
  return Buffer.from(JSON.stringify({ v: VERSION, seq }));
}

export function readApplied(data: Uint8Array): number | null {
  const seq = objectOf(data)?.seq;
  return isCount(seq) ? seq : null;
}

function objectOf(data: Uint8Array): Record<string, unknown> | null {
  if (data.length > LONGEST) return null;
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
