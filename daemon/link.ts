// The messages between the manager and its worker, over the child process's IPC channel: plain JSON values. The worker
// exits when the channel closes. Every `call` is answered by exactly one `reply`.

import type { FileAccess } from '../protocol/files/own-file.ts';
import type { CommandReply } from '../protocol/messages.ts';
import type { CommandName } from '../protocol/tables/commands.ts';
import type { FleetReceipt, Invalidation } from './contract/invalidation.ts';
import type { CompiledProgram } from './contract/program.ts';
import type { Account } from './privileges.ts';
import type { AcmeChallenges, TicketKey, TlsSettings, TlsState } from './tls/tls-settings.ts';

export type ParamValue = number | string | boolean;

/** A parsed -a argument. */
export interface ListenerSpec {
  name: string;
  /** The original text. */
  text: string;
  /** TCP host and port, or a Unix socket path. */
  host?: string;
  port?: number;
  path?: string;
  user?: string;
  group?: string;
  mode?: number;
  proto: 'HTTP' | 'PROXY';
  /** Speaks TLS, after the PROXY preamble if there is one. */
  tls?: boolean;
}

/** A parsed -s argument; size in bytes, 0 is unlimited (Transient only). */
export interface StorageSpec {
  name: string;
  kind: 'malloc';
  size: number;
}

/** A parsed -s argument of kind disk: a directory behind the memory of all storages; size in bytes. */
export interface DiskSpec {
  name: string;
  path: string;
  size: number;
}

/** A bound listener; the port is -1 for a path. */
export interface ListenerAddress {
  name: string;
  address: string;
  port: number;
  path?: string;
}

/** A bound listener with its protocol. */
export interface BoundListener extends ListenerAddress {
  proto: ListenerSpec['proto'];
  tls: boolean;
}

export type WorkerState = 'stopped' | 'starting' | 'running' | 'stopping';

/** A long turn of an event loop, and the work that caused it. */
export interface TurnReport {
  readonly millis: number;
  /** One of a small set of names. */
  readonly work: string;
  /** The instance, such as a URL; may be empty. */
  readonly of: string;
}

/** A parsed admin command. */
export interface CommandCall {
  name: CommandName;
  /** All words including the name, for the envelope of a JSON reply and for the log. */
  words: readonly string[];
  /** Letters of the given options. */
  options: string;
  /** Values of the given options that have one, by letter; absent: the command has no such options. */
  values?: Readonly<Record<string, string>>;
  /** Whether -j is given. */
  json: boolean;
  /** The words after the options. */
  args: readonly string[];
  /** Length at which the reply is truncated (cli_limit): no more need be generated. Absent: no limit. */
  most?: number;
}

export type ProgramState = 'auto' | 'warm' | 'cold';

export interface LoadedProgram {
  name: string;
  program: CompiledProgram;
  state: ProgramState;
  /** False: loaded without probes and events, to be warmed when needed. Absent means true. */
  warm?: boolean;
  /** Distinguishes it from other programs of its name that are still in use; set by a worker with several threads. */
  loading?: number;
  /** The id of the code parts that were sent ahead; absent if the code is included. */
  ahead?: number;
}

/** A name for a program; `return (vcl(x))` and vcl.use take it. */
export interface ProgramLabel {
  name: string;
  target: string;
}

/** A line of the worker's reply to `vcl.list`, in loading order; discarded programs may still be in use. */
export interface ProgramStatus {
  name: string;
  label: boolean;
  discarded: boolean;
  /** `busy`: should be cold, but is still used by transactions. */
  temperature: 'warm' | 'cold' | 'busy';
  /** Transactions that use it. */
  refs: number;
}

/** First message to a new worker; the listening handles follow as `listener` messages, one each. */
export interface InitMessage {
  t: 'init';
  /** The worker's directory, with log and counters. */
  dir: string;
  /** The user that the worker switches to first; null for no change. */
  account: Account | null;
  /** Access rights of its files. */
  files: FileAccess;
  identity: string;
  params: Record<string, ParamValue>;
  storages: StorageSpec[];
  /** Absent: the cache ends with the worker. */
  disk?: DiskSpec;
  listeners: ListenerSpec[];
  programs: LoadedProgram[];
  labels?: ProgramLabel[];
  /** Names of both in the order of vcl.list. */
  order?: string[];
  /** Name of the active program or label. */
  active: string;
  /** Number of workers started before this one. */
  generation: number;
  /** Number of threads. */
  threads: number;
  /** Whether invalidations are published to a fleet. */
  fleet: boolean;
  /** The worker's code, for additional threads; null with one thread. */
  code: string | null;
  /** Certificates and their keys for TLS listeners; absent: none. */
  tls?: TlsState;
}

/** A call to the worker. */
export type WorkerCall =
  /** A command of the worker. */
  | { op: 'cli'; command: CommandCall }
  | { op: 'vcl.load'; load: LoadedProgram }
  | { op: 'vcl.use'; name: string }
  | { op: 'vcl.discard'; name: string }
  | { op: 'vcl.state'; name: string; state: ProgramState; warm: boolean }
  | ({ op: 'vcl.label' } & ProgramLabel)
  /** The reply is ProgramStatus[] as JSON. */
  | { op: 'vcl.list' }
  /** A liveness check. */
  | { op: 'ping' }
  | { op: 'param.set'; name: string; value: ParamValue }
  /** Applies invalidations of the fleet, in order; the reply is FleetRefusal[] as JSON. */
  | { op: 'fleet.apply'; events: readonly FleetEvent[] }
  /** Holds objects that were fetched before now, or releases them. */
  | { op: 'fleet.hold'; on: boolean }
  /** The place in the fleet's stream up to which the disk tier has all: the reply is a text, or empty when nothing was on disk; 300
   * when it is unknown. */
  | { op: 'fleet.place' }
  /** Keeps it, as a text. */
  | { op: 'fleet.keep'; place: string }
  /** Bans everything. */
  | { op: 'fleet.flush'; why: string }
  /** Replaces what TLS listeners present; handshakes under way finish with what they began with. */
  | { op: 'tls.set'; settings: TlsSettings }
  | { op: 'tls.tickets'; keys: readonly TicketKey[] }
  | { op: 'tls.challenges'; challenges: AcmeChallenges }
  /** No more connections are accepted and no more requests begun; the reply, what was begun and is not over after this
   * many seconds, is a number. */
  | { op: 'drain'; seconds: number }
  | { op: 'stop' };

/** An invalidation published by another node, or by this one before a restart. */
export interface FleetEvent {
  readonly event: Invalidation;
  /** Sequence number in the stream. */
  readonly seq: number;
  /** The publishing node. */
  readonly from: string;
}

/** An event that could not be applied. */
export interface FleetRefusal {
  readonly seq: number;
  readonly problem: string;
}

export type ToWorker =
  | InitMessage
  /** Accompanies the handle of a listener for one of the threads: each listens on its own descriptor. Without a
   * handle, the only thread binds the address itself. */
  | { t: 'listener'; index: number; thread: number }
  | { t: 'call'; id: number; call: WorkerCall }
  /** The next part of a piece of the code of a program, or, as that after the last one, of its `positions`; before the program. */
  | { t: 'code'; ahead: number; piece: number; text: string }
  /** The answer to `publish`. */
  | { t: 'published'; id: number; receipt: FleetReceipt };

export type FromWorker =
  | { t: 'hello'; pid: number }
  /** All programs are loaded and the sockets listen; ports as bound. */
  | { t: 'ready'; listeners: ListenerAddress[] }
  | { t: 'failed'; reason: string }
  | ({ t: 'reply'; id: number } & CommandReply)
  /** A part of the body of a reply; the reply has the last part. */
  | { t: 'part'; id: number; text: string }
  /** An uncaught exception; the worker exits after sending it. */
  | { t: 'panic'; text: string }
  /** A problem for operators, sent at most once a minute. */
  | { t: 'trouble'; text: string }
  /** Publishes an invalidation to the fleet. */
  | { t: 'publish'; id: number; event: Invalidation }
  /** Adds an event to the list of events. */
  | { t: 'happened'; kind: 'health' | 'ban'; text: string }
  /** Requests and fetches that a thread still finishes, of a worker that is stopped. */
  | { t: 'draining'; thread: number; requests: number }
  /** A turn longer than any other of the thread in the last minute, or long enough to be noticed by clients. */
  | ({ t: 'turn'; thread: number } & TurnReport)
  | { t: 'note'; level: 'info' | 'warning' | 'error'; text: string };
