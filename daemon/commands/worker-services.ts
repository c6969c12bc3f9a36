// The worker as its commands see it, and the shape of a command that the worker carries out.

import type { CommandReply } from '../../protocol/messages.ts';
import type { WorkerCommand } from '../../protocol/tables/commands.ts';
import type { Bans } from '../cache/roles.ts';
import type { Director } from '../contract/context.ts';
import type { CommandCall } from '../link.ts';

export interface WorkerServices {
  readonly cache: { readonly bans: Bans };
  /** Epoch seconds. */
  readonly clock: { now(): number };
  /** The active program; `plainHash`: its keys are URL and host. */
  readonly active: { readonly name: string; readonly plainHash?: boolean } | null;
  readonly programs: { directors(): Iterable<readonly [name: string, director: Director]> };
  /** `lurkerDebug`: ban.list shows objects (debug=+lurker). */
  readonly objectLog: { readonly lurkerDebug: boolean };
  lastVxid(): number;
  setNextVxid(next: number): void;
}

export type WorkerHandler = (
  services: WorkerServices,
  call: CommandCall,
) => CommandReply | Promise<CommandReply>;

export type WorkerHandlers = Readonly<Record<WorkerCommand, WorkerHandler>>;
