// The console protocol: messages on the WebSocket between the manager and its consoles. Control messages are JSON
// text frames, one object per frame; log records are sent as binary frames (log-frame.ts). protocol/README.md is the
// specification; codec.ts validates.

import type { EventKind } from './tables/events.ts';

/** Protocol version; both sides send theirs in hello and must agree. */
export const PROTOCOL_VERSION = 1;

/** Version of the messages about the time before the connection: counter history, log marks. Daemons that support them
 * send it in their welcome. */
export const HISTORY_VERSION = 1;

/** Grouping of log records, as in proxylog -g. */
export type Grouping = 'raw' | 'vxid' | 'request' | 'session';

export interface LogSubscription {
  grouping: Grouping;
  /** A query in the language of vsl-query(7); absent matches everything. */
  query?: string;
  /** Start at the end of the log, or at the oldest record in the ring. */
  from: 'tail' | 'head';
  /** Only groups that begin within this many bytes before a mark, which comes from the `ok` of another subscription;
   * `from` is ignored then. Requires `history` in the welcome. */
  before?: { mark: string; bytes: number };
  /** Stop at the end of the log (proxylog -d), followed by an `end` message. */
  once?: boolean;
  /** Transactions of the client side, the backend side (proxylog -c, -b); both if neither is set. */
  client?: boolean;
  backend?: boolean;
  /** Includes ESI subrequests, which `client` excludes by default (-E). */
  esi?: boolean;
  /** Case-insensitive matching of regular expressions (-C). */
  caseless?: boolean;
  /** Seconds after which an incomplete transaction is sent anyway (-T), and the maximum number of open ones (-L). */
  timeout?: number;
  limit?: number;
  /** At most `count` groups in `period` seconds (-R). */
  rate?: { count: number; period: number };
  /** For a binary recording: side and record filters keep Begin, Link and End, so that it can be read back, and sides
   * only select records. */
  recording?: boolean;
  /** Stop after this many transactions matched (proxylog -k). */
  max?: number;
  /** Record filters in order, as in -i -I -x -X; see log filter in protocol/README.md. */
  filters?: RecordFilter[];
}

/** -i/-x by tag list or glob; -I/-X by [taglist:]regex. */
export type RecordFilter =
  | { kind: 'include-tags' | 'exclude-tags'; tags: string }
  | { kind: 'include-regex' | 'exclude-regex'; tags: string; regex: string };

export interface CounterSubscription {
  /** Seconds between messages; 0 sends a single one. */
  interval: number;
  /** Name filters in order, as in proxystat -f, -I and -X; all if absent. */
  filters?: { kind: 'include' | 'exclude'; glob: string }[];
}

/** The history of the counters, as far as the daemon has it. */
export interface HistoryRequest {
  /** Start in epoch seconds. */
  from: number;
  /** Seconds between samples: 1, for the last hour, or 10, for the last day. */
  step: 1 | 10;
  /** As in CounterSubscription. */
  filters?: NonNullable<CounterSubscription['filters']>;
}

/** Epoch seconds, then alternating index and value of each counter that changed since the previous sample; a value
 * that a double cannot hold is decimal text. */
export type PastSample = [at: number, ...changes: (number | string)[]];

export type ClientMessage =
  /** `readonly`: reject commands that change something on this connection. */
  | { t: 'hello'; v: number; client: string; readonly?: boolean }
  /** `to`: address and port that the client connected to (proof.ts). */
  | { t: 'auth'; mac: string; to: string }
  /** One CLI line in the syntax of varnish-cli(7), here-documents included. */
  | { t: 'cmd'; id: number; line: string }
  | { t: 'log'; id: number; log: LogSubscription }
  | { t: 'stat'; id: number; stat: CounterSubscription }
  /** Answered once, followed by `end`; requires `history` in the welcome. */
  | { t: 'history'; id: number; history: HistoryRequest }
  | { t: 'end'; id: number }
  /** Sends a log subscription's incomplete transactions now; it continues. */
  | { t: 'flush'; id: number };

/** A counter's description; `flag` c counter, g gauge, b bitmap; `format` i integer, B bytes, d duration, b bitmap. */
export interface CounterInfo {
  name: string;
  flag: 'c' | 'g' | 'b';
  format: 'i' | 'B' | 'd' | 'b';
  level: 'info' | 'diag' | 'debug';
  description: string;
}

/** Reply to an admin command, as in varnish-cli(7): its status is one of CLI (errors.ts). */
export interface CommandReply {
  status: number;
  body: string;
}

export type ServerMessage =
  | {
      t: 'hello';
      v: number;
      server: string;
      version: string;
      identity: string;
      auth: 'none' | 'hmac-sha256';
      /** 32 random bytes in hex; the response is HMAC-SHA256(secret, challenge text) in hex. */
      challenge?: string;
    }
  /** `history`: version of the history messages; absent without support. */
  | { t: 'welcome'; state: 'running' | 'stopped'; history?: number }
  | ({ t: 'reply'; id: number } & CommandReply)
  /** The subscription is active. `at`: the log position at which it begins; absent if nothing is older. */
  | { t: 'ok'; id: number; at?: string }
  /** A subscription with `before` has sent all groups complete by now; others follow as they end. */
  | { t: 'reached'; id: number }
  /** Records not sent to this subscriber since the last such message. */
  | { t: 'lost'; id: number; records: number; reason: 'overrun' | 'backpressure' | 'rate' }
  | { t: 'counters'; id: number; info: CounterInfo[] }
  /** Values in the order of the last `counters` message; decimal text, to preserve 64 bits. */
  | { t: 'values'; id: number; at: number; values: string[] }
  /** Past samples in the order of the last `counters` message, after which all values are 0. */
  | { t: 'past'; id: number; samples: PastSample[] }
  /** The subscription is over; nothing more is sent for this id. */
  | { t: 'end'; id: number }
  /** With `at` (epoch seconds) and `kind` it is also in the list of events; `noted` is for events without a word of
   * their own. */
  | {
      t: 'event';
      event: 'started' | 'stopped' | 'died' | 'program' | 'trouble' | 'noted';
      text: string;
      at?: number;
      kind?: EventKind;
    }
  | { t: 'error'; id?: number; code: ErrorCode; message: string; detail?: string };

export type ErrorCode =
  | 'bad-message'
  | 'bad-version'
  | 'bad-query'
  | 'bad-filter'
  | 'auth-required'
  | 'auth-failed'
  | 'too-many'
  | 'not-running'
  | 'internal';

/** One transaction in a binary log frame. */
export interface LogTransaction {
  /** 0 for raw records; nesting depth otherwise, from 1. */
  level: number;
  /** `unknown`: its Begin record is invalid. */
  type: 'raw' | 'session' | 'request' | 'bereq' | 'unknown';
  /** Set on the first transaction of each group in a frame. */
  first?: boolean;
  reason: string;
  vxid: number;
  parent: number;
  /** Contiguous records in the ring's own encoding (log-record.ts). */
  records: Uint8Array;
}
