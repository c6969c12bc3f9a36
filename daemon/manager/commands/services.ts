// The manager as its commands see it, and the type of a command handler. The manager implements this interface, which keeps
// the handlers free of an import of it.

import type { CommandReply } from '../../../protocol/messages.ts';
import type { ManagerCommand } from '../../../protocol/tables/commands.ts';
import type { EventKind } from '../../../protocol/tables/events.ts';
import type { FleetNode } from '../../fleet/fleet-node.ts';
import type { CommandCall, StorageSpec } from '../../link.ts';
import type { Params } from '../../params/parameter-set.ts';
import type { TurnWatch } from '../../turns/turn-watch.ts';
import type { ListenerSet } from '../process/listeners.ts';
import type { Supervisor } from '../process/supervisor.ts';
import type { SourceText } from '../programs/compile-job.ts';
import type { ProgramTrials } from '../programs/program-trials.ts';
import type { Programs } from '../programs/programs.ts';
import type { EventList, LongTurns, PanicStore } from '../reports.ts';
import type { AutomaticCertificates } from '../tls/acme-host.ts';
import type { TlsService } from '../tls/tls-service.ts';

export interface ManagerServices {
  readonly params: Params;
  readonly programs: Programs;
  readonly trials: ProgramTrials;
  readonly supervisor: Supervisor;
  readonly listeners: ListenerSet;
  readonly panics: PanicStore;
  readonly events: EventList;
  readonly turnWatch: TurnWatch;
  readonly longTurns: LongTurns;
  readonly storages: readonly StorageSpec[];
  readonly tls: TlsService;
  /** Null without --acme. */
  readonly acme: Pick<AutomaticCertificates, 'status' | 'retry'> | null;
  /** Null without --fleet. */
  readonly fleet: FleetNode | null;
  /** The greeting of the text CLI. */
  readonly banner: string;
  /** Reads a program file, searched in vcl_path; a string is the reason of a failure. */
  readProgram(file: string): SourceText | string;
  /** Passes a changed parameter to the worker. */
  parameterChanged(name: string): Promise<void>;
  /** Records an event and sends it to consoles. */
  happened(kind: EventKind, text: string): void;
  /** Records a change of programs, and reports it to the fleet. */
  programsChanged(text: string): void;
}

export type ManagerHandler = (
  services: ManagerServices,
  call: CommandCall,
) => CommandReply | Promise<CommandReply>;

export type ManagerHandlers = Readonly<Record<ManagerCommand, ManagerHandler>>;
