// The manager's parts: parameters, programs, the supervisor of the worker, TLS, the fleet, reports, streams.
//
// Connects them with each other; the commands (commands/) and endpoints (endpoints/) operate on them, and manager.ts starts
// and stops them. An event is recorded here and passed to `broadcast`, since there are events before there are consoles.

import type { ChildProcess } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ServerMessage } from '../../protocol/messages.ts';
import type { WorkerStatus } from '../../protocol/tables/counters.ts';
import type { EventKind, NotedEvent } from '../../protocol/tables/events.ts';
import type { ParamName } from '../../protocol/tables/params.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { Clock } from '../clock.ts';
import { describerCode } from '../extensions/load/describe.ts';
import type { FleetNode } from '../fleet/fleet-node.ts';
import type { InitMessage, LoadedProgram } from '../link.ts';
import type { ProcessCode } from '../own-process.ts';
import type { Params } from '../params/parameter-set.ts';
import { newMgtCounters } from '../stats/counter-fields.ts';
import { ManagerGauges } from '../stats/manager-gauges.ts';
import { TurnWatch } from '../turns/turn-watch.ts';
import { ownPrograms } from '../vcl/own-programs.ts';
import { Streams } from './endpoints/streams/streams.ts';
import { Membership } from './fleet/membership.ts';
import { NO_TOKEN, type Options } from './options/options.ts';
import type { Log } from './process/daemon-log.ts';
import { workerCode } from './process/fork-worker.ts';
import type { Access } from './process/jail.ts';
import type { ListenerSet } from './process/listeners.ts';
import { Supervisor } from './process/supervisor.ts';
import type { WorkerDirectory } from './process/worker-directory.ts';
import type { Compile } from './programs/compile-job.ts';
import { makeCompile, warmUp } from './programs/compiler.ts';
import { CompilerProcesses } from './programs/compiler-processes.ts';
import { withEdgeFile } from './programs/edge-file.ts';
import { ProgramTrials } from './programs/program-trials.ts';
import { Programs } from './programs/programs.ts';
import { EventList, LongTurns, PanicStore } from './reports.ts';
import { readProgramFile } from './start-files.ts';
import type { AutomaticCertificates } from './tls/acme-host.ts';
import type { TlsService } from './tls/tls-service.ts';

export type Broadcast = (ServerMessage & { t: 'event' })['event'];

/** Event names for consoles of the kinds that predate the list of events. */
const EVENT_OF: { readonly [kind in EventKind]?: Broadcast } = { program: 'program', trouble: 'trouble' };

/** Parts that a caller may supply: a worker process that was forked early; in tests a compiler. */
export interface SuppliedParts {
  early?: ChildProcess | null;
  /** The code of workers. */
  code?: ProcessCode;
  compile?: Compile;
}

/** All that is settled before the parts exist. */
export interface CoreSettings {
  readonly options: Options;
  readonly params: Params;
  /** The working directory, which is locked. */
  readonly dir: string;
  readonly workerDirectory: WorkerDirectory;
  readonly access: Access;
  readonly version: string;
  readonly log: Log;
  readonly listeners: ListenerSet;
  readonly tls: TlsService;
}

export class ManagerCore implements CoreSettings {
  readonly options: Options;
  readonly params: Params;
  readonly dir: string;
  readonly workerDirectory: WorkerDirectory;
  readonly access: Access;
  readonly version: string;
  readonly log: Log;
  readonly listeners: ListenerSet;
  readonly tls: TlsService;
  readonly identity: string;
  readonly banner: string;
  readonly supervisor: Supervisor;
  readonly programs: Programs;
  readonly trials: ProgramTrials;
  readonly compilers = new CompilerProcesses();
  readonly membership: Membership;
  readonly streams: Streams;
  /** Null without --acme. */
  acme: AutomaticCertificates | null = null;
  readonly panics = new PanicStore();
  readonly events = new EventList();
  readonly longTurns = new LongTurns((text) => this.happened('turn', text));
  readonly turnWatch = new TurnWatch(new Clock(), (turn) => this.longTurns.add(turn, null));
  /** Sends an event to the consoles; set once there can be any. */
  broadcast: (event: Broadcast, noted: NotedEvent) => void = () => {};
  /** Resolves when the programs of the command line are loaded. */
  booted: Promise<void> = Promise.resolve();
  /** Called once, when the first worker serves. */
  private readyCompiler: (() => void) | null;

  constructor(settings: CoreSettings, parts: SuppliedParts) {
    const { options, params, dir, access, version, log, listeners, tls } = settings;
    this.options = options;
    this.params = params;
    this.dir = dir;
    this.workerDirectory = settings.workerDirectory;
    this.access = access;
    this.version = version;
    this.log = log;
    this.listeners = listeners;
    this.tls = tls;
    this.identity = options.identity ?? hostname().replace(NO_TOKEN, '_');
    this.banner = bannerText(version);
    this.membership = new Membership(options.fleet);
    const mgt = newMgtCounters();
    const warn = (text: string): void => log('warning', text);
    this.supervisor = new Supervisor(
      parts.code ?? workerCode(),
      listeners,
      params,
      {
        hasDisk: options.disk !== null,
        prepare: (generation, sendCode) => this.firstMessage(generation, sendCode),
        log,
        panicked: (text) => this.panicked(text),
        publish: (event) => this.membership.publish(event),
        changed: (event, text) => {
          if (event === 'started') this.workerStarted();
          this.happened(event === 'trouble' ? event : 'worker', text, event);
        },
        happened: (kind, text) => this.happened(kind, text),
        turned: (turn, thread) => this.longTurns.add(turn, thread),
      },
      mgt,
      parts.early ?? null,
    );
    ownPrograms();
    const compile = parts.compile ?? this.compiler();
    this.readyCompiler = () => warmUp(compile);
    this.trials = new ProgramTrials(join(dir, WORKDIR_FILES.log), access.jail?.worker ?? null);
    this.programs = new Programs(compile, this.supervisor, params);
    const gauges = new ManagerGauges(
      mgt,
      () => ({ status: this.workerStatus(), changedAt: this.supervisor.changedAt }),
      this.turnWatch,
    );
    this.streams = new Streams({
      dir,
      mgt,
      refresh: (written) => {
        gauges.update(written);
        this.membership.sample();
        tls.sample();
      },
      groups: [...this.membership.groups, ...tls.groups],
      warn,
      happened: (kind, text) => this.happened(kind, text),
      fault: (cause) => this.uncaught(cause),
    });
  }

  /** Null without --fleet. */
  get fleet(): FleetNode | null {
    return this.membership.node;
  }

  /** Reads a program file, searched in vcl_path; a string is the reason of a failure. */
  readProgram(file: string): { name: string; text: string } | string {
    return readProgramFile(file, this.params.text('vcl_path'));
  }

  /** Passes a changed parameter to the worker. */
  async parameterChanged(name: string): Promise<void> {
    const { state } = this.supervisor;
    if (state !== 'running' && state !== 'starting') return;
    await this.supervisor.call({ op: 'param.set', name, value: this.params.get(name as ParamName) });
  }

  /** Records an event and sends it to consoles. */
  happened(kind: EventKind, text: string, event: Broadcast = EVENT_OF[kind] ?? 'noted'): void {
    this.broadcast(event, this.events.add(kind, text));
  }

  /** Records a change of programs, and reports it to the fleet. */
  programsChanged(text: string): void {
    this.happened('program', text);
    this.membership.programsChanged();
  }

  /** Records an error of the manager that no caller handled like a panic of the worker; the manager keeps running. */
  uncaught(cause: unknown): void {
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    this.panics.record(
      `Uncaught error in the manager (process ${process.pid}), which keeps running:\n${text}`,
    );
    this.log('error', `Uncaught error in the manager, which keeps running: ${text}`);
  }

  /** The first message for a new worker, once the programs are loaded and the fleet's position is known. */
  private async firstMessage(
    generation: number,
    sendCode: (load: LoadedProgram) => Promise<LoadedProgram>,
  ): Promise<InitMessage | null> {
    await this.booted;
    await this.membership.settled();
    const loaded = await this.programs.forWorker();
    if (loaded === null) return null;
    const programs: LoadedProgram[] = [];
    for (const each of loaded.programs) programs.push(await sendCode(each));
    const { options, params, workerDirectory, tls } = this;
    workerDirectory.restore();
    return {
      t: 'init',
      dir: workerDirectory.path,
      account: this.access.jail?.worker ?? null,
      files: workerDirectory.files,
      identity: this.identity,
      params: params.snapshot(),
      storages: [...options.storages],
      listeners: [],
      programs,
      labels: loaded.labels,
      order: loaded.order,
      active: loaded.active,
      generation,
      fleet: options.fleet !== null,
      threads: params.num('worker_threads'),
      ...(options.disk !== null && { disk: options.disk }),
      code: null,
      ...(tls.state && { tls: tls.state }),
    };
  }

  private workerStarted(): void {
    this.programs.workerStarted();
    this.membership.workerStarted();
    this.acme?.workerServes();
    this.readyCompiler?.();
    this.readyCompiler = null;
  }

  private panicked(text: string): void {
    const [first = ''] = text.split('\n', 1);
    const report = this.params.feature('short_panic') ? first : text;
    this.panics.record(report);
    this.happened('panic', first);
    this.log('error', `Child panic: ${report}`);
  }

  private compiler(): Compile {
    const { options, dir, access } = this;
    const compile = makeCompile(
      this.params,
      options.disk === null ? options.storages : [...options.storages, options.disk],
      () => this.programs.labelNames(),
      {
        directory: join(dir, WORKDIR_FILES.modules),
        inUse: () => this.programs.moduleCopies(),
        account: access.jail?.describer ?? null,
        child: describerCode(),
      },
      this.compilers,
    );
    return withEdgeFile(compile, {
      directory: dir,
      worker: access.jail?.worker ?? null,
      warn: (text) => this.log('warning', text),
    });
  }

  /** "No program" takes precedence over "stopped", since it is the reason that no worker is started. */
  private workerStatus(): WorkerStatus {
    const { status } = this.supervisor;
    return status === 'stopped' && this.programs.activeName() === null ? 'no program' : status;
  }
}

function bannerText(version: string): string {
  const rule = '-----------------------------\n';
  const where = `${process.platform},node ${process.versions.node},${process.arch}`;
  return `${rule}proxyd CLI 1.0\n${rule}${where}\nproxyd-${version}\n\nType 'help' for command list.\nType 'quit' to close CLI session.\n`;
}
