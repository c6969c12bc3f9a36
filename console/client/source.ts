// The source of the console's data: a live daemon, a recording, or a script in a test. The model and the screens know
// only this interface; a source never touches the terminal and never throws: failures are events, because the console
// outlives its daemon.

import type {
  CommandReply,
  CounterInfo,
  HistoryRequest,
  LogSubscription,
  LogTransaction,
  ServerMessage,
} from '../../protocol/messages.ts';
import type { NotedEvent } from '../../protocol/tables/events.ts';

/** `waiting` is between two attempts; `attempt` counts them since the connection was lost. */
export type ConnectionState =
  | { state: 'connecting'; attempt: number }
  | { state: 'up'; identity: string; version: string }
  | { state: 'waiting'; attempt: number; retryAt: number; reason: string };

export interface LogHandlers {
  /** The subscription is in place. */
  ready?(): void;
  /** Complete groups in order; a group is a run of transactions whose first has the lowest level. */
  batch(transactions: LogTransaction[]): void;
  lost(records: number, reason: 'overrun' | 'backpressure' | 'rate'): void;
  /** The daemon refused the subscription (a bad query), or the stream broke off. */
  failed(message: string): void;
  /** A subscription with `once` has read the log to its end. */
  ended?(): void;
  /** Gets the log from before the subscription, as far back as wanted; absent: not wanted. */
  earlier?(): EarlierRun;
}

/** Groups older than all that arrived so far. */
export interface EarlierRun {
  batch(transactions: LogTransaction[]): void;
  /** The run is complete, with `more` before it; returns whether that is wanted. */
  done(more: boolean): boolean;
}

export interface SourceEvents {
  connection(state: ConnectionState): void;
  /** The names of the next `values`; sent again when the set changes. */
  counters(info: CounterInfo[]): void;
  /** `at` in epoch seconds. `steady`: no counter is reset, because the source has handled restarts. */
  values(at: number, values: bigint[], steady?: boolean): void;
  /** A sample of the history, the oldest first; `counters` and `values` follow. The older ones may have only the
   * counters of traffic charts. */
  past(at: number, values: bigint[], steady?: boolean): void;
  /** `noted` if it is in the daemon's list of events. */
  event(event: EventWord, text: string, noted?: NotedAs): void;
}

export type EventWord = Extract<ServerMessage, { t: 'event' }>['event'];
/** Its time by the daemon's clock, and its kind. */
export type NotedAs = Omit<NotedEvent, 'text'>;

/** Counters of traffic charts. */
export const RATED = [
  'MAIN.uptime',
  'MAIN.client_req',
  'MAIN.client_req_again',
  'MAIN.busy_wakeup',
  'MAIN.cache_hit',
  'MAIN.cache_miss',
  'MAIN.s_pass',
  'MAIN.s_pipe',
  'MAIN.s_synth',
] as const;

/** A filter for them alone. */
export const ONLY_RATED = RATED.map((glob) => ({ kind: 'include', glob }) as const);

/** A sample of the counter history, as doubles. */
export interface PastPoint {
  /** Epoch seconds. */
  at: number;
  /** The same array as long as the set of counters is the same. */
  names: readonly string[];
  values: Float64Array;
}

export interface Subscription {
  close(): void;
}

export interface Source {
  /** The name shown until the instance has sent its identity. */
  readonly label: string;
  /** Names of the instances that this source merges; admin-line.ts addresses commands to one. */
  readonly parts?: readonly string[];
  /** Does the daemon see the same files as the console? */
  readonly local?: boolean;
  /** A log subscription also delivers the log from before it. */
  readonly canReplay?: boolean;
  /** Its data is recorded: the newest is not of now. */
  readonly recorded?: boolean;
  /** The product, if it is not this project's daemon: it has only some of the commands and data. */
  readonly product?: string | undefined;
  /** A sentence on the origin and limits of its events; absent: it has a list of all of them. */
  readonly eventLimits?: string | undefined;
  /** Names of its commands, if they are known and not all of this project's daemon. */
  readonly commands?: ReadonlySet<string> | undefined;
  /** Starts delivery. Called once. */
  start(events: SourceEvents): void;
  /** Never rejects; status 0 means that there was no reply. */
  command(line: string): Promise<CommandReply>;
  /** Survives reconnects: the source subscribes again, from the tail. */
  log(sub: LogSubscription, handlers: LogHandlers): Subscription;
  /** The history of the counters, the oldest first, as far as it is known; absent if there is none. Never rejects. */
  history?(request: HistoryRequest): Promise<readonly PastPoint[]>;
  /** Seconds between counter samples. */
  setInterval(seconds: number): void;
  /** A counter sample as soon as possible. */
  sampleNow(): void;
  close(): void;
}
