// The manager as its commands see it, and the shape of a command that the manager carries out.

import type { CommandReply } from '../../protocol/messages.ts';
import type { ManagerCommand } from '../../protocol/tables/commands.ts';
import type { EventKind, NotedEvent } from '../../protocol/tables/events.ts';
import type { FleetOverview } from '../fleet/fleet-overview.ts';
import type { BoundListener, CommandCall, StorageSpec, WorkerCall, WorkerState } from '../link.ts';
import type { Params } from '../params/parameter-set.ts';
import type { TurnWatch } from '../turns/turn-watch.ts';
import type { Dependencies, ProgramInfo } from './vcl/vcl-list.ts';

/** The worker's process. */
export interface WorkerProcess {
  readonly state: WorkerState;
  /** Process id; 0 while there is none. */
  readonly pid: number;
  /** Whether a worker that died is about to be replaced, later than at once. */
  readonly awaitsRestart: boolean;
  readonly counters: { child_panic: number };
  /** Rejects with the reason when the worker does not come up. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Resolves when no start is under way, or, of the second, after a moment. */
  settled(): Promise<void>;
  settledSoon(): Promise<void>;
  call(call: WorkerCall): Promise<CommandReply>;
}

export interface ProgramSource {
  name: string;
  text: string;
}

/** The loaded programs and labels. */
export interface LoadedPrograms {
  readonly size: number;
  activeName(): string | null;
  load(name: string, source: ProgramSource | CommandReply, state: string): Promise<CommandReply>;
  /** Compiles a program and loads nothing: its files with the compiler's remarks, or the error. */
  check(source: ProgramSource): Promise<{ files: readonly ProgramSource[]; notes: string } | CommandReply>;
  use(name: string): Promise<CommandReply>;
  setState(name: string, state: string): Promise<CommandReply>;
  discard(patterns: readonly string[]): Promise<CommandReply>;
  label(name: string, target: string): Promise<CommandReply>;
  list(): Promise<ProgramInfo[]>;
  deps(): readonly Dependencies[];
  /** The files of a program, of the active one without a name; null when there is none. */
  files(name: string | undefined): readonly ProgramSource[] | null;
}

export interface ManagerServices {
  readonly params: Params;
  readonly programs: LoadedPrograms;
  readonly supervisor: WorkerProcess;
  readonly listeners: { list(): readonly BoundListener[] };
  /** `at` in epoch seconds. */
  readonly panics: { readonly last: { at: number; text: string } | null; clear(): boolean };
  readonly storages: readonly StorageSpec[];
  /** Null without --fleet. */
  readonly fleet: FleetOverview | null;
  /** Name and version as the banner has them. */
  readonly banner: string;
  /** Reads a program file by vcl_path; the string is the reason. */
  readProgram(file: string): ProgramSource | string;
  /** Passes a changed parameter to the worker. */
  parameterChanged(name: string): Promise<void>;
  readonly events: { all(): readonly NotedEvent[] };
  /** Of the last minute, the longest first; `at` in epoch seconds. */
  readonly turnWatch: TurnWatch;
  readonly longTurns: {
    lately(): readonly {
      readonly at: number;
      readonly where: string;
      readonly millis: number;
      readonly work: string;
      readonly of: string;
    }[];
  };
  /** An event, which is kept and reported to consoles. */
  happened(kind: EventKind, text: string): void;
  /** The same of programs, which a fleet is told, too. */
  programsChanged(text: string): void;
}

export type ManagerHandler = (
  services: ManagerServices,
  call: CommandCall,
) => CommandReply | Promise<CommandReply>;

export type ManagerHandlers = Readonly<Record<ManagerCommand, ManagerHandler>>;
