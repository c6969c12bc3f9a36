// The worker as its commands see it, and the type of a command handler of the worker.

import type { CommandReply } from '../../protocol/messages.ts';
import type { WorkerCommand } from '../../protocol/tables/commands.ts';
import type { Changes } from '../../protocol/tables/release-changes.ts';
import type { BanService } from '../cache/ban/ban-service.ts';
import type { ObjectFacts } from '../cache/object-facts.ts';
import type { Director } from '../contract/context.ts';
import type { EdgeReceipt, FleetService, Invalidation } from '../contract/invalidation.ts';
import type { CompiledProgram } from '../contract/program.ts';
import type { EdgeConfig } from '../edge/edge-config.ts';
import type { PurgeQueue } from '../edge/queue/purge-queue.ts';
import type { CommandCall, ListenerAddress } from '../link.ts';

/** The edge connector as commands see it. */
export interface EdgeServices {
  readonly configured: boolean;
  readonly config: EdgeConfig;
  readonly settings: { readonly prefix: string };
  readonly queue: PurgeQueue | null;
  /** Why the configured queue could not be opened; null otherwise. */
  readonly broken: string | null;
  invalidated(event: Invalidation, program: CompiledProgram | null): Promise<EdgeReceipt> | null;
}

/** A disk tier as commands see it. */
export interface DiskService {
  readonly name: string;
  settled(): Promise<boolean>;
  /** Null when its directory could not be opened. */
  check(): Promise<{ objects: number; bytes: number; damaged: number; unreadable: number } | null>;
  /** False when objects may come back with the next start. */
  empty(): Promise<boolean>;
}

export interface WorkerServices {
  /** Null until a program that imports it is loaded. */
  readonly edge: EdgeServices | null;
  /** Null without --fleet. */
  readonly fleet: FleetService | null;
  /** Null without a disk tier. */
  readonly disk: DiskService | null;
  /** Bound listeners for plain HTTP. */
  listening(): readonly ListenerAddress[];
  readonly cache: { readonly bans: BanService; readonly facts: ObjectFacts };
  /** Changes of Varnish that hold, by varnish_release. */
  readonly changes: Changes;
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
