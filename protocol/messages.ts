// The console protocol: the messages on the WebSocket between the manager and its consoles.
// Control messages are JSON text frames, one object a frame; log records travel as binary frames
// (log-frame.ts). protocol/README.md is the specification; codec.ts validates.

import type { EventKind } from './tables/events.ts';

/** Version of this protocol; both sides name theirs in hello and must agree on the number. */
export const PROTOCOL_VERSION = 1;

/** Version of what a daemon says of the time before the connection: a history of counters, marks in the log. One that does
 * names it in its welcome. */
export const HISTORY_VERSION = 1;

/** How log records are grouped, as proxylog -g. */
export type Grouping = 'raw' | 'vxid' | 'request' | 'session';

export interface LogSubscription {
  grouping: Grouping;
  /** A query in the language of vsl-query(7); absent matches everything. */
  query?: string;
  /** Start at the end of the log, or at the oldest record the ring still holds. */
  from: 'tail' | 'head';
  /** Only groups that begin in so many bytes of the log before a mark, which the `ok` of another subscription has given;
   * `from` is nothing then. Only where the welcome says `history`. */
  before?: { mark: string; bytes: number };
  /** Stop at the end of the log (proxylog -d without following): an `end` message follows. */
  once?: boolean;
  /** Transactions of the client side, the backend side (proxylog -c, -b); both when neither is set. */
  client?: boolean;
  backend?: boolean;
  /** ESI subrequests too, where `client` leaves them out (-E). */
  esi?: boolean;
  /** Case-insensitive matching of regular expressions (-C). */
  caseless?: boolean;
  /** Seconds after which an incomplete transaction is sent as it is (-T), and how many may be open (-L). */
  timeout?: number;
  limit?: number;
  /** At most this many groups in so many seconds (-R). */
  rate?: { count: number; period: number };
  /** For a binary recording: side and record filters leave Begin, Link and End in, so that it can be read back, and
   * sides choose among records only. */
  recording?: boolean;
  /** Stop after this many transactions matched (proxylog -k). */
  max?: number;
  /** Record filters in order, as -i -I -x -X give them; see log filter in protocol/README.md. */
  filters?: RecordFilter[];
}

/** -i/-x by tag list or glob; -I/-X by [taglist:]regex. */
export type RecordFilter =
  | { kind: 'include-tags' | 'exclude-tags'; tags: string }
  | { kind: 'include-regex' | 'exclude-regex'; tags: string; regex: string };

export interface CounterSubscription {
  /** Seconds between messages; 0 sends one and ends. */
  interval: number;
  /** Field filters in order, as proxystat -f, -I and -X; absent is all. */
  filters?: { kind: 'include' | 'exclude'; glob: string }[];
}

/** The past of the counters, as far as the daemon has kept it. */
export interface HistoryRequest {
  /** Epoch seconds from which on. */
  from: number;
  /** Seconds between two samples: 1, for the last hour, or 10, for the last day. */
  step: 1 | 10;
  /** As of a counter subscription. */
  filters?: NonNullable<CounterSubscription['filters']>;
}

/** Epoch seconds, then the index and the value of each counter that has changed since the sample before, in turn; a value
 * that a double cannot hold is decimal text. */
export type PastSample = [at: number, ...changes: (number | string)[]];

export type ClientMessage =
  /** `readonly`: commands that change something are to be refused on this connection. */
  | { t: 'hello'; v: number; client: string; readonly?: boolean }
  /** `to`: address and port that the client has connected to (proof.ts). */
  | { t: 'auth'; mac: string; to: string }
  /** One CLI line in the syntax of varnish-cli(7), here-documents included. */
  | { t: 'cmd'; id: number; line: string }
  | { t: 'log'; id: number; log: LogSubscription }
  | { t: 'stat'; id: number; stat: CounterSubscription }
  /** Answered once, and `end` follows; only where the welcome says `history`. */
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
      /** 32 random bytes in hex; the answer is HMAC-SHA256(secret, challenge text) in hex. */
      challenge?: string;
    }
  /** `history`: version of what it says of the past; absent where it says nothing. */
  | { t: 'welcome'; state: 'running' | 'stopped'; history?: number }
  | ({ t: 'reply'; id: number } & CommandReply)
  /** The subscription is in place. `at`: the place in the log at which it begins; absent where nothing is older. */
  | { t: 'ok'; id: number; at?: string }
  /** A subscription with `before` has sent all groups that are complete by now; others follow as they end. */
  | { t: 'reached'; id: number }
  /** Records this subscriber will not see, since the last such message. */
  | { t: 'lost'; id: number; records: number; reason: 'overrun' | 'backpressure' | 'rate' }
  | { t: 'counters'; id: number; info: CounterInfo[] }
  /** Values in the order of the last `counters` message; decimal text, so that 64 bits survive. */
  | { t: 'values'; id: number; at: number; values: string[] }
  /** Samples of the past in the order of the last `counters` message, after which all values are 0. */
  | { t: 'past'; id: number; samples: PastSample[] }
  /** The subscription is over; nothing more comes for this id. */
  | { t: 'end'; id: number }
  /** With `at` (epoch seconds) and `kind` it is in the list of events, too; `noted` is all that no other word is for. */
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

/** One transaction as it travels in a binary log frame. */
export interface LogTransaction {
  /** 0 for raw records; nesting depth otherwise, from 1. */
  level: number;
  /** `unknown`: its Begin record makes no sense. */
  type: 'raw' | 'session' | 'request' | 'bereq' | 'unknown';
  /** Set on the first transaction of each group in a frame. */
  first?: boolean;
  reason: string;
  vxid: number;
  parent: number;
  /** Records in the ring's own encoding (log-record.ts), back to back. */
  records: Uint8Array;
}
