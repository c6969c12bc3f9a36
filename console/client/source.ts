// The source of the console's data: a live daemon, a recording, or a script in a test. The model and
// the screens know only this interface; a source never touches the terminal and never throws at its user:
// failures arrive as events, because the console outlives its daemon.

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
  /** Where what was logged before the subscription goes, as far back as it is wanted; absent: it is not. */
  earlier?(): EarlierRun;
}

/** Groups that lie before all that came so far. */
export interface EarlierRun {
  batch(transactions: LogTransaction[]): void;
  /** The run is complete, and there is `more` before it; true: that is wanted, too. */
  done(more: boolean): boolean;
}

export interface SourceEvents {
  connection(state: ConnectionState): void;
  /** The names of the next `values`; sent again when the set changes. */
  counters(info: CounterInfo[]): void;
  /** `at` in epoch seconds. `steady`: no counter starts again; the source has handled restarts itself. */
  values(at: number, values: bigint[], steady?: boolean): void;
  /** A sample of before the connection, the oldest first; `counters` and `values` follow. The older ones may have no more
   * counters than charts of traffic need. */
  past(at: number, values: bigint[], steady?: boolean): void;
  /** `noted` where the daemon has it in its list of events. */
  event(event: EventWord, text: string, noted?: NotedAs): void;
}

export type EventWord = Extract<ServerMessage, { t: 'event' }>['event'];
/** When it happened by the daemon's clock, and its kind. */
export type NotedAs = Omit<NotedEvent, 'text'>;

/** Counters of which charts of traffic are made, and that are asked for where nothing else is wanted. */
export const RATED = [
  'MAIN.uptime',
  'MAIN.client_req',
  'MAIN.busy_wakeup',
  'MAIN.cache_hit',
  'MAIN.cache_miss',
] as const;

/** They alone, as a question has it. */
export const ONLY_RATED = RATED.map((glob) => ({ kind: 'include', glob }) as const);

/** A sample of the counters from before, as doubles. */
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
  /** The name that is shown until the instance has sent its identity. */
  readonly label: string;
  /** Names of the instances that this source shows as one; see instance-address.ts for how a command finds one. */
  readonly parts?: readonly string[];
  /** Does the daemon see the same files as the console? */
  readonly local?: boolean;
  /** A log subscription brings what was there before it, too. */
  readonly retells?: boolean;
  /** What it tells was recorded; its newest is not of now. */
  readonly recorded?: boolean;
  /** What it is, where it is not this project's daemon: it has some of its facts and commands, and not others. */
  readonly product?: string | undefined;
  /** A sentence on where its events come from and which it cannot know of; absent: it has a list of all of them. */
  readonly eventsTell?: string | undefined;
  /** Names of the commands it has, where that is known and they are not all of this project's daemon. */
  readonly commands?: ReadonlySet<string> | undefined;
  /** Begins to deliver. Called once. */
  start(events: SourceEvents): void;
  /** Never rejects; status 0 means that the command was never answered. */
  command(line: string): Promise<CommandReply>;
  /** Survives reconnects: the source subscribes again, from the tail. */
  log(sub: LogSubscription, handlers: LogHandlers): Subscription;
  /** The past of the counters, the oldest first, as far as it is known; absent where none is. Never rejects. */
  history?(request: HistoryRequest): Promise<readonly PastPoint[]>;
  /** Seconds between counter samples. */
  setInterval(seconds: number): void;
  /** A counter sample as soon as possible. */
  sampleNow(): void;
  close(): void;
}
