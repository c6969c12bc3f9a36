// The messages between the manager and its worker, over the child process's IPC channel. Plain JSON values.
// The worker exits when the channel closes. Every `call` is answered by exactly one `reply`.

import type { FileAccess } from '../protocol/files/own-file.ts';
import type { CommandReply } from '../protocol/messages.ts';
import type { CommandName } from '../protocol/tables/commands.ts';
import type { FleetReceipt, Invalidation } from './contract/invalidation.ts';
import type { CompiledProgram } from './contract/program.ts';
import type { Account } from './privileges.ts';

export type ParamValue = number | string | boolean;

/** One -a argument after parsing. */
export interface ListenerSpec {
  name: string;
  /** As the operator wrote it. */
  text: string;
  /** TCP host and port, or a Unix socket path. */
  host?: string;
  port?: number;
  path?: string;
  user?: string;
  group?: string;
  mode?: number;
  proto: 'HTTP' | 'PROXY';
}

/** One -s argument after parsing; size in bytes, 0 is unlimited (Transient only). */
export interface StorageSpec {
  name: string;
  kind: 'malloc';
  size: number;
}

/** A listener as it is bound; the port is -1 where there is a path. */
export interface ListenerAddress {
  name: string;
  address: string;
  port: number;
  path?: string;
}

/** A listener with the protocol that is spoken on it. */
export interface BoundListener extends ListenerAddress {
  proto: ListenerSpec['proto'];
}

export type WorkerState = 'stopped' | 'starting' | 'running' | 'stopping';

/** A long turn of an event loop, and the work that it was spent on. */
export interface TurnReport {
  readonly millis: number;
  /** One of not many words. */
  readonly work: string;
  /** Which of its kind it was; may be empty. */
  readonly of: string;
}

/** An admin command whose words are read. */
export interface CommandCall {
  name: CommandName;
  /** All its words with the name, for the head of a JSON reply and for the log. */
  words: readonly string[];
  /** Letters of the options that were given. */
  options: string;
  /** Whether j is one of them. */
  json: boolean;
  /** Words after the options. */
  args: readonly string[];
  /** A longer reply is cut (cli_limit): no more of it need be made. Absent: all of it is wanted. */
  most?: number;
}

export type ProgramState = 'auto' | 'warm' | 'cold';

export interface LoadedProgram {
  name: string;
  program: CompiledProgram;
  state: ProgramState;
  /** False: it is loaded without its probes and events, to be warmed when it is needed. Absent is true. */
  warm?: boolean;
  /** Tells it from others of its name that are still in use: counted by a worker that has several threads. */
  loading?: number;
  /** Its code came before it, under this number; absent: it is here. */
  ahead?: number;
}

/** A name for a program; `return (vcl(x))` and vcl.use take it. */
export interface ProgramLabel {
  name: string;
  target: string;
}

/** One line of the worker's answer to `vcl.list`, in the order of loading; discarded ones still run. */
export interface ProgramStatus {
  name: string;
  label: boolean;
  discarded: boolean;
  /** `busy`: to be cold, but transactions still run it. */
  temperature: 'warm' | 'cold' | 'busy';
  /** Transactions that run it. */
  refs: number;
}

/** First message to a new worker; the listening handles follow as `listener` messages, one each. */
export interface InitMessage {
  t: 'init';
  /** The worker's own directory: log and counters. */
  dir: string;
  /** The user that the worker becomes before anything else; null for no change. */
  account: Account | null;
  /** The group that may read its files. */
  files: FileAccess;
  identity: string;
  params: Record<string, ParamValue>;
  storages: StorageSpec[];
  listeners: ListenerSpec[];
  programs: LoadedProgram[];
  labels?: ProgramLabel[];
  /** Names of both as vcl.list shows them. */
  order?: string[];
  /** Name of the active program or label. */
  active: string;
  /** How many times a worker was started before this one. */
  generation: number;
  /** Threads that serve together. */
  threads: number;
  /** Whether it has a fleet to publish invalidations to. */
  fleet: boolean;
  /** The worker's own code, for threads beside the first; null with one. */
  code: string | null;
}

/** A call that the worker answers. */
export type WorkerCall =
  /** A command whose row says that the worker carries it out. */
  | { op: 'cli'; command: CommandCall }
  | { op: 'vcl.load'; load: LoadedProgram }
  | { op: 'vcl.use'; name: string }
  | { op: 'vcl.discard'; name: string }
  | { op: 'vcl.state'; name: string; state: ProgramState; warm: boolean }
  | ({ op: 'vcl.label' } & ProgramLabel)
  /** Answered with ProgramStatus[] as JSON. */
  | { op: 'vcl.list' }
  /** A liveness check. */
  | { op: 'ping' }
  | { op: 'param.set'; name: string; value: ParamValue }
  /** Applies invalidations of the fleet, in this order; answered with FleetRefusal[] as JSON. */
  | { op: 'fleet.apply'; events: readonly FleetEvent[] }
  /** Holds back what was fetched before now until it is let go. */
  | { op: 'fleet.hold'; on: boolean }
  /** Bans everything that there is. */
  | { op: 'fleet.flush'; why: string }
  | { op: 'stop' };

/** An invalidation that another node has published, or this one in an earlier life. */
export interface FleetEvent {
  readonly event: Invalidation;
  /** Its number in the stream. */
  readonly seq: number;
  /** Who published it. */
  readonly from: string;
}

/** An event that cannot be applied. */
export interface FleetRefusal {
  readonly seq: number;
  readonly problem: string;
}

export type ToWorker =
  | InitMessage
  /** Comes with the handle of a listener, for one of the threads: each listens on a descriptor of its own. Without a handle,
   * the only thread listens on the address. */
  | { t: 'listener'; index: number; thread: number }
  | { t: 'call'; id: number; call: WorkerCall }
  /** The next part of the code of a program, before the program. */
  | { t: 'code'; ahead: number; piece: number; text: string }
  /** The answer to `publish`. */
  | { t: 'published'; id: number; receipt: FleetReceipt };

export type FromWorker =
  | { t: 'hello'; pid: number }
  /** All programs loaded, listening: ports as bound. */
  | { t: 'ready'; listeners: ListenerAddress[] }
  | { t: 'failed'; reason: string }
  | ({ t: 'reply'; id: number } & CommandReply)
  /** The next part of the body of a reply, before the reply with the last one. */
  | { t: 'part'; id: number; text: string }
  /** An uncaught exception; the worker exits after sending it. */
  | { t: 'panic'; text: string }
  /** Something that operators should see wherever they look, sent once a minute at the most. */
  | { t: 'trouble'; text: string }
  /** The fleet is to hear of what was invalidated here. */
  | { t: 'publish'; id: number; event: Invalidation }
  /** For the list of events. */
  | { t: 'happened'; kind: 'health' | 'ban'; text: string }
  /** A turn longer than all others of that thread in the last minute, or one that clients notice. */
  | ({ t: 'turn'; thread: number } & TurnReport)
  | { t: 'note'; level: 'info' | 'warning' | 'error'; text: string };
