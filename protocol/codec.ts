// Decodes the JSON messages of the console protocol: a closed schema with bounded sizes, for both directions. Every
// message is checked field by field; an unknown type, an unknown field, a wrong type or a value out of bounds is a
// ProtocolError, never an exception. Messages from the server are checked less strictly (a newer server may add
// fields), but their type and id must be valid.

import { ProtocolError } from './errors.ts';
import type {
  ClientMessage,
  CounterSubscription,
  HistoryRequest,
  LogSubscription,
  RecordFilter,
  ServerMessage,
} from './messages.ts';

/** Limits of a client's messages; the server's own frames are bounded by the requests. */
export const LIMITS = {
  /** Bytes of one frame from a client. */
  frame: 1 << 20,
  /** Characters of a command line with its here-document. */
  line: 400_000,
  query: 65_536,
  filters: 256,
  text: 8192,
  /** Subscriptions and unanswered commands of one connection. */
  subscriptions: 32,
  commands: 64,
  /** Characters of unanswered commands, if there are several. */
  waiting: 1 << 20,
} as const;

type Fields = Record<string, unknown>;
type Check = (value: unknown) => boolean;

const text =
  (max: number, min = 0): Check =>
  (v) =>
    typeof v === 'string' && v.length >= min && v.length <= max;
const number =
  (min: number, max: number): Check =>
  (v) =>
    typeof v === 'number' && v >= min && v <= max;
const whole =
  (min: number, max: number): Check =>
  (v) =>
    Number.isInteger(v) && (v as number) >= min && (v as number) <= max;
const flag: Check = (v) => typeof v === 'boolean';
const oneOf =
  (...words: string[]): Check =>
  (v) =>
    words.includes(v as string);
const listOf =
  (check: Check, max: number): Check =>
  (v) =>
    Array.isArray(v) && v.length <= max && v.every(check);
/** An object with exactly these fields; a name ending in `?` may be absent. */
const shape = (fields: Record<string, Check>): Check => {
  const checks = new Map<string, Check>();
  const required: string[] = [];
  for (const [key, check] of Object.entries(fields)) {
    const name = key.replace('?', '');
    checks.set(name, check);
    if (name === key) required.push(name);
  }
  return (v) => {
    if (typeof v !== 'object' || v === null || Array.isArray(v)) return false;
    for (const [key, value] of Object.entries(v)) if (!checks.get(key)?.(value)) return false;
    return required.every((key) => Object.hasOwn(v, key));
  };
};

const isRecordFilter: (v: unknown) => v is RecordFilter = ((v: unknown) =>
  shape({ kind: oneOf('include-tags', 'exclude-tags'), tags: text(LIMITS.text, 1) })(v) ||
  shape({
    kind: oneOf('include-regex', 'exclude-regex'),
    tags: text(LIMITS.text),
    regex: text(LIMITS.text),
  })(v)) as (v: unknown) => v is RecordFilter;

const isLog: (v: unknown) => v is LogSubscription = shape({
  grouping: oneOf('raw', 'vxid', 'request', 'session'),
  'query?': text(LIMITS.query),
  from: oneOf('tail', 'head'),
  'before?': shape({ mark: text(64, 1), bytes: whole(1, 2 ** 40) }),
  'once?': flag,
  'client?': flag,
  'backend?': flag,
  'esi?': flag,
  'caseless?': flag,
  'recording?': flag,
  'timeout?': number(0, 1e9),
  'limit?': whole(1, 1e6),
  'rate?': shape({ count: whole(1, 1e9), period: number(0.001, 1e9) }),
  'max?': whole(1, Number.MAX_SAFE_INTEGER),
  'filters?': listOf(isRecordFilter, LIMITS.filters),
}) as (v: unknown) => v is LogSubscription;

const counterFilters = listOf(
  shape({ kind: oneOf('include', 'exclude'), glob: text(LIMITS.text) }),
  LIMITS.filters,
);
const isStat: (v: unknown) => v is CounterSubscription = shape({
  interval: number(0, 86_400),
  'filters?': counterFilters,
}) as (v: unknown) => v is CounterSubscription;

const isHistory: (v: unknown) => v is HistoryRequest = shape({
  from: number(0, 1e12),
  step: (v) => v === 1 || v === 10,
  'filters?': counterFilters,
}) as (v: unknown) => v is HistoryRequest;

const id = whole(0, 0xffff_ffff);
const CLIENT_SHAPES: Readonly<Record<string, Check>> = {
  hello: shape({ t: text(8), v: whole(0, 1e6), client: text(256), 'readonly?': flag }),
  auth: shape({ t: text(8), mac: text(128, 1), to: text(300, 1) }),
  cmd: shape({ t: text(8), id, line: text(LIMITS.line) }),
  log: shape({ t: text(8), id, log: isLog }),
  stat: shape({ t: text(8), id, stat: isStat }),
  history: shape({ t: text(8), id, history: isHistory }),
  end: shape({ t: text(8), id }),
  flush: shape({ t: text(8), id }),
};
const SERVER_TYPES: ReadonlySet<string> = new Set([
  'hello',
  'welcome',
  'reply',
  'ok',
  'lost',
  'counters',
  'values',
  'past',
  'reached',
  'end',
  'event',
  'error',
]);
const SERVER_IDS: ReadonlySet<string> = new Set([
  'reply',
  'ok',
  'lost',
  'counters',
  'values',
  'past',
  'reached',
  'end',
]);

function parseObject(frame: string): Fields | ProtocolError {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return new ProtocolError('bad-message', 'not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new ProtocolError('bad-message', 'not a JSON object');
  }
  return value as Fields;
}

/** One text frame of a client. */
export function decodeClientMessage(frame: string): ClientMessage | ProtocolError {
  const fields = parseObject(frame);
  if (fields instanceof ProtocolError) return fields;
  const type = fields.t;
  const check =
    typeof type === 'string' && Object.hasOwn(CLIENT_SHAPES, type) ? CLIENT_SHAPES[type] : undefined;
  if (check === undefined) {
    // Only strings are shown: other values may be nested too deeply to print.
    const shown = typeof type === 'string' ? JSON.stringify(type.slice(0, 80)) : 'that is no text';
    return new ProtocolError('bad-message', `unknown message type ${shown}`);
  }
  if (!check(fields)) {
    return new ProtocolError('bad-message', `malformed ${String(type)} message (see protocol/README.md)`);
  }
  return fields as ClientMessage;
}

/** One text frame of a server. */
export function decodeServerMessage(frame: string): ServerMessage | ProtocolError {
  const fields = parseObject(frame);
  if (fields instanceof ProtocolError) return fields;
  const type = fields.t;
  if (typeof type !== 'string' || !SERVER_TYPES.has(type)) {
    return new ProtocolError('bad-message', 'unknown message type from the server');
  }
  if (SERVER_IDS.has(type) && !id(fields.id))
    return new ProtocolError('bad-message', `${type} without an id`);
  return fields as ServerMessage;
}
