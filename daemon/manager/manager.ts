// The manager: composes parameters, programs, listeners, supervisor and endpoints, and shuts them down.
//
// Handles no traffic. Forks the worker first and compiles the first program while the worker boots. An operator's
// mistake (bad parameter, program, port) is an OptionError before anything serves.

import type { ChildProcess } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { CommandReply } from '../../protocol/messages.ts';
import type { WorkerStatus } from '../../protocol/tables/counters.ts';
import type { EventKind } from '../../protocol/tables/events.ts';
import { MOST_THREADS, type ParamName } from '../../protocol/tables/params.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { Clock } from '../clock.ts';
import { describerCode } from '../extensions/load/describe.ts';
import type { FleetNode } from '../fleet/fleet-node.ts';
import type { DiskSpec, LoadedProgram, StorageSpec } from '../link.ts';
import type { ProcessCode } from '../own-process.ts';
import { Params } from '../params/parameter-set.ts';
import { newMgtCounters } from '../stats/counter-fields.ts';
import { ManagerGauges } from '../stats/manager-gauges.ts';
import { TurnWatch } from '../turns/turn-watch.ts';
import { turns } from '../turns/turns.ts';
import { ownPrograms } from '../vcl/own-programs.ts';
import { dispatch, LongCommands } from './commands/dispatch.ts';
import type { ManagerServices } from './commands/services.ts';
import { loadSecret, type Secret } from './endpoints/authentication.ts';
import { type Broadcast, Endpoints } from './endpoints/endpoints.ts';
import { Streams } from './endpoints/streams/streams.ts';
import { Membership } from './fleet/membership.ts';
import { OptionError } from './options/option-error.ts';
import { NO_TOKEN, type Options, startsWorkerAtOnce } from './options/options.ts';
import { setParams } from './options/param-options.ts';
import { usableCores } from './process/cores.ts';
import type { Log } from './process/daemon-log.ts';
import { makeDiskDirectory } from './process/disk-directory.ts';
import { workerCode } from './process/fork-worker.ts';
import { type Access, makeAccess } from './process/jail.ts';
import { ListenerSet, resolveListeners } from './process/listeners.ts';
import { Supervisor } from './process/supervisor.ts';
import { WorkerDirectory } from './process/worker-directory.ts';
import { lockDirectory, removeFile, writePidFiles } from './process/working-directory.ts';
import type { Compile } from './programs/compile-job.ts';
import { makeCompile, warmUp } from './programs/compiler.ts';
import { CompilerProcesses } from './programs/compiler-processes.ts';
import { withEdgeFile } from './programs/edge-file.ts';
import { ProgramTrials } from './programs/program-trials.ts';
import { Programs } from './programs/programs.ts';
import { EventList, LongTurns, PanicStore } from './reports.ts';
import { loadStartPrograms, readProgramFile } from './start-files.ts';
import type { AutomaticCertificates } from './tls/acme-host.ts';
import { TlsService } from './tls/tls-service.ts';

/** Event names for consoles of the kinds that predate the list of events. */
const EVENT_OF: { readonly [kind in EventKind]?: Broadcast } = { program: 'program', trouble: 'trouble' };

/** Parts that a caller may supply: a worker process that was forked early; in tests a compiler. */
export interface ManagerParts {
  early?: ChildProcess | null;
  /** The code of workers. */
  code?: ProcessCode;
  compile?: Compile;
  /** The resolved accounts of -j and --read-group, if already known. */
  access?: Access;
}

/** Seconds (chosen): with cli_timeout 0 a worker must still be able to start, so that the operator can reset it. */
const MIN_TIMEOUT = 0.25;
/** Seconds: timers of the runtime take 31 bits of milliseconds, and fire at once beyond. */
const MAX_TIMEOUT = Math.floor((2 ** 31 - 1) / 1000);

export class Manager implements ManagerServices {
  readonly params = new Params({}, { worker_threads: String(usableCores(MOST_THREADS)) });
  readonly programs: Programs;
  readonly supervisor: Supervisor;
  readonly listeners: ListenerSet;
  readonly tls: TlsService;
  readonly panics = new PanicStore();
  readonly events = new EventList();
  readonly turnWatch = new TurnWatch(new Clock(), (turn) => this.longTurns.add(turn, null));
  readonly longTurns = new LongTurns((text) => this.happened('turn', text));
  private readonly longCommands = new LongCommands({
    timeout: () => this.timeout,
    report: (text) => {
      this.log('warning', text);
      this.happened('trouble', text);
    },
  });
  readonly storages: readonly StorageSpec[];
  readonly disk: DiskSpec | null;
  readonly banner: string;
  readonly version: string;
  readonly dir: string;
  private readonly options: Options;
  private readonly log: Log;
  private readonly identity: string;
  private readonly mgt = newMgtCounters();
  private readonly gauges = new ManagerGauges(
    this.mgt,
    () => ({
      status: this.workerStatus(),
      changedAt: this.supervisor.changedAt,
    }),
    this.turnWatch,
  );
  private readonly secret: Secret;
  private readonly access: Access;
  /** Releases the working directory. */
  private readonly releaseDirectory: () => void;
  /** Removes the file of -P. */
  private removePidFile: () => void = () => {};
  private readonly streams: Streams;
  private readonly endpoints: Endpoints;
  private readonly membership: Membership;
  /** Null without --acme. */
  acme: AutomaticCertificates | null = null;
  private readonly compilers = new CompilerProcesses();
  readonly trials: ProgramTrials;
  private booted: Promise<void> = Promise.resolve();
  /** Called once, when the first worker serves. */
  private readyCompiler: (() => void) | null;
  private closing: Promise<void> | null = null;

  /** Locks the working directory and validates everything that needs no socket. Throws OptionError. */
  static async create(
    options: Options,
    dir: string,
    version: string,
    log: Log,
    parts: ManagerParts = {},
  ): Promise<Manager> {
    const tls = await TlsService.create(options);
    const specs = await resolveListeners(tls.listeners);
    return new Manager(options, dir, version, log, new ListenerSet(specs), tls, parts);
  }

  private constructor(
    options: Options,
    dir: string,
    version: string,
    log: Log,
    listeners: ListenerSet,
    tls: TlsService,
    parts: ManagerParts,
  ) {
    this.options = options;
    this.dir = dir;
    this.version = version;
    this.log = log;
    this.listeners = listeners;
    this.tls = tls;
    this.storages = options.storages;
    this.disk = options.disk;
    this.membership = new Membership(options.fleet);
    this.identity = options.identity ?? hostname().replace(NO_TOKEN, '_');
    this.banner = bannerText(version);
    setParams(this.params, options, log);
    turns.follow(() => this.params.num('turn_budget') * 1000);
    this.access = parts.access ?? makeAccess(options);
    const { jail, readers } = this.access;
    const unlock = lockDirectory(dir);
    const workerDirectory = new WorkerDirectory(dir, jail?.worker ?? null, readers);
    this.releaseDirectory = () => {
      workerDirectory.remove();
      unlock();
    };
    try {
      if (options.disk !== null) makeDiskDirectory(options.disk, jail?.worker ?? null);
      workerDirectory.make();
      this.secret = loadSecret(options.secretFile, dir, (text) => log('warning', text));
    } catch (cause) {
      this.releaseDirectory();
      throw cause;
    }
    this.supervisor = new Supervisor(
      parts.code ?? workerCode(),
      listeners,
      {
        hasDisk: options.disk !== null,
        prepare: async (generation, ahead) => {
          await this.booted;
          await this.membership.settled();
          const loaded = await this.programs.forWorker();
          if (loaded === null) return null;
          const programs: LoadedProgram[] = [];
          for (const each of loaded.programs) programs.push(await ahead(each));
          workerDirectory.restore();
          return {
            t: 'init',
            dir: workerDirectory.path,
            account: jail?.worker ?? null,
            files: workerDirectory.files,
            identity: this.identity,
            params: this.params.snapshot(),
            storages: [...this.storages],
            listeners: [],
            programs,
            labels: loaded.labels,
            order: loaded.order,
            active: loaded.active,
            generation,
            fleet: options.fleet !== null,
            threads: this.params.num('worker_threads'),
            ...(options.disk !== null && { disk: options.disk }),
            code: null,
            ...(tls.state && { tls: tls.state }),
          };
        },
        log,
        stopTimeout: () => this.stopTimeout,
        autoRestart: () => this.params.bool('auto_restart'),
        timeouts: () => ({
          cli: this.timeout,
          startup: this.params.num('startup_timeout'),
          ping: this.params.num('ping_interval'),
        }),
        panicked: (text) => {
          const report = this.params.feature('short_panic') ? (text.split('\n', 1)[0] ?? '') : text;
          this.panics.record(report);
          this.happened('panic', report.split('\n', 1)[0] ?? '');
          log('error', `Child panic: ${report}`);
        },
        publish: (event) => this.membership.publish(event),
        changed: (event, text) => {
          if (event === 'started') {
            this.programs.workerStarted();
            this.membership.workerStarted();
            this.acme?.workerServes();
            this.readyCompiler?.();
            this.readyCompiler = null;
          }
          this.happened(event === 'trouble' ? event : 'worker', text, event);
        },
        happened: (kind, text) => this.happened(kind, text),
        turned: (turn, thread) => this.longTurns.add(turn, thread),
      },
      this.mgt,
      parts.early ?? null,
    );
    ownPrograms();
    const compile =
      parts.compile ??
      withEdgeFile(
        makeCompile(
          this.params,
          this.disk === null ? this.storages : [...this.storages, this.disk],
          () => this.programs.labelNames(),
          {
            directory: join(dir, WORKDIR_FILES.modules),
            inUse: () => this.programs.moduleCopies(),
            account: jail?.describer ?? null,
            child: describerCode(),
          },
          this.compilers,
        ),
        { directory: dir, worker: jail?.worker ?? null, warn: (text) => log('warning', text) },
      );
    this.readyCompiler = () => warmUp(compile);
    this.trials = new ProgramTrials(join(dir, WORKDIR_FILES.log), jail?.worker ?? null);
    this.programs = new Programs(compile, this.supervisor, this.params);
    this.streams = new Streams({
      dir,
      mgt: this.mgt,
      refresh: (written) => {
        this.gauges.update(written);
        this.membership.sample();
        tls.sample();
      },
      groups: [...this.membership.groups, ...tls.groups],
      warn: (text) => log('warning', text),
      happened: (kind, text) => this.happened(kind, text),
      fault: (cause) => this.uncaught(cause),
    });
    this.endpoints = new Endpoints({
      options,
      dir,
      identity: this.identity,
      version,
      banner: this.banner,
      secret: this.secret,
      access: this.access,
      streams: this.streams,
      log,
      command: (line, from) => this.command(line, from),
      isServing: () => this.supervisor.state === 'running',
      activeBackends: () => this.programs.activeBackends(),
      longTurns: () => this.longTurns.lately(),
      fault: (cause) => this.uncaught(cause),
    });
    tls.open({
      dir,
      supervisor: this.supervisor,
      log,
      happened: (kind, text) => this.happened(kind, text),
    });
  }

  /** Starts everything; resolves when the worker serves, or at once in debug mode. Throws OptionError. */
  async boot(): Promise<void> {
    const { options } = this;
    const wanted = startsWorkerAtOnce(options);
    // Binds even if the worker starts later, so that a port in use is reported at once.
    const refusedSocket = this.listeners.open();
    if (refusedSocket !== null) {
      await this.close();
      throw new OptionError(refusedSocket);
    }
    for (const address of this.listeners.unusedSockets())
      this.log(
        'warning',
        `No listener uses the socket ${address} that was passed at the start: add -a ${address}`,
      );
    await this.openAcme();
    const joining = this.membership.join(this.version, {
      params: this.params,
      supervisor: this.supervisor,
      programs: this.programs,
      listeners: this.listeners,
      hasDisk: this.disk !== null,
      booted: () => this.booted,
      programsChanged: (text) => this.happened('program', text),
      console: () => this.endpoints.consoles[0] ?? null,
      counters: async () => (await this.streams.counters()).read(),
      log: this.log,
      trouble: (text) => this.happened('trouble', text),
    });
    joining.catch(() => {});
    // Forks the worker before its program is compiled: both take similar tens of milliseconds.
    let bootError: Error | null = null;
    this.booted = loadStartPrograms(options, this.params.text('vcl_path'), this.programs).catch(
      (cause: Error) => {
        bootError = cause;
        throw cause;
      },
    );
    this.booted.catch(() => {});
    const serving = wanted ? this.supervisor.start() : Promise.resolve();
    serving.catch(() => {});
    try {
      await this.booted;
      this.compilers.started();
      this.trials.started();
      await joining;
      await this.endpoints.open();
      this.removePidFile = writePidFiles(this.dir, options.pidFile);
      void this.streams.history();
      if (options.initFile !== null) {
        const { runInitFile } = await import('./start-files.ts');
        const note = (text: string): void => this.log('info', text);
        await runInitFile(options.initFile, (line) => dispatch(this, line), note);
      }
      await serving;
      this.acme?.start(this.fleet?.certificates ?? null);
      if (options.initFile !== null && options.mode !== 'debug' && this.supervisor.state === 'stopped') {
        if (this.programs.activeName() !== null) await this.supervisor.start();
      }
    } catch (cause) {
      await this.close();
      const error = bootError ?? (cause as Error);
      throw error instanceof OptionError ? error : new OptionError(error.message, false);
    }
  }

  /** Certificates of former times are there before the first worker starts. */
  private async openAcme(): Promise<void> {
    const { acme } = this.options;
    if (acme === null) {
      const [wanted] = this.tls.auto;
      if (wanted === undefined) return;
      await this.close();
      throw new OptionError(
        `A certificate for ${wanted.names.join(', ')} that is obtained automatically needs --acme EMAIL`,
        false,
      );
    }
    const { openAutomaticCertificates } = await import('./tls/acme-host.ts');
    try {
      this.acme = await openAutomaticCertificates(acme, {
        dir: this.dir,
        version: this.version,
        wanted: this.tls.auto,
        fleet: this.options.fleet,
        store: this.tls,
        listeners: () => this.tls.listeners,
        isServing: () => this.supervisor.state === 'running',
        log: this.log,
        happened: (text) => this.happened('tls', text),
      });
    } catch (cause) {
      await this.close();
      throw cause;
    }
  }

  get fleet(): FleetNode | null {
    return this.membership.node;
  }

  /** Seconds that a worker may be silent, and that a client waits for a reply (cli_timeout). */
  private get timeout(): number {
    return Math.min(MAX_TIMEOUT, Math.max(MIN_TIMEOUT, this.params.num('cli_timeout')));
  }

  command(line: string, from = ''): Promise<CommandReply> {
    return this.longCommands.run(line, (same) => dispatch(this, same, from));
  }

  readProgram(file: string): { name: string; text: string } | string {
    return readProgramFile(file, this.params.text('vcl_path'));
  }

  async parameterChanged(name: string): Promise<void> {
    const { state } = this.supervisor;
    if (state !== 'running' && state !== 'starting') return;
    await this.supervisor.call({ op: 'param.set', name, value: this.params.get(name as ParamName) });
  }

  happened(kind: EventKind, text: string, event: Broadcast = EVENT_OF[kind] ?? 'noted'): void {
    this.endpoints.broadcast(event, this.events.add(kind, text));
  }

  programsChanged(text: string): void {
    this.happened('program', text);
    this.membership.programsChanged();
  }

  /** Stops everything in order; may be called more than once. */
  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  /** Records an error of the manager that no caller handled like a panic of the worker; the manager keeps running. */
  uncaught(cause: unknown): void {
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    this.panics.record(
      `Uncaught error in the manager (process ${process.pid}), which keeps running:\n${text}`,
    );
    this.log('error', `Uncaught error in the manager, which keeps running: ${text}`);
  }

  /** Requests under way are not finished any more. */
  hurry(): void {
    this.supervisor.hurry();
  }

  /** Seconds in which a worker may finish what was begun. */
  get stopTimeout(): number {
    return this.params.num('stop_timeout');
  }

  /** For an exit that must not be delayed. */
  killNow(): void {
    this.compilers.close();
    this.trials.close();
    this.supervisor.killNow();
  }

  private async closeOnce(): Promise<void> {
    if (this.supervisor.state !== 'stopped') this.log('info', 'manager stopping child');
    this.compilers.close();
    this.trials.close();
    await this.supervisor.stop();
    await this.acme?.close();
    await this.membership.close();
    this.programs.close();
    this.tls.close();
    this.listeners.close();
    await this.streams.close();
    await this.endpoints.close();
    const { secretFile } = this.options;
    this.removePidFile();
    removeFile(`${this.dir}/${WORKDIR_FILES.pid}`);
    if (secretFile === null) removeFile(`${this.dir}/${WORKDIR_FILES.secret}`);
    this.releaseDirectory();
    this.log('info', 'manager dies');
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
