// The manager: composes parameters, programs, listeners, supervisor and the ways in, and owns their end.
//
// Touches no traffic. Starts the worker's process first and compiles the first program while it boots. A
// mistake of the operator's (bad parameter, program, port) is an OptionError before anything serves.

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
import type { LoadedProgram, StorageSpec } from '../link.ts';
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
import { type Broadcast, WaysIn } from './endpoints/endpoints.ts';
import { Published } from './endpoints/streams/streams.ts';
import { Membership } from './fleet/membership.ts';
import { OptionError } from './options/option-error.ts';
import { type Options, startsWorkerAtOnce } from './options/options.ts';
import { setParams } from './options/param-options.ts';
import { usableCores } from './process/cores.ts';
import type { Log } from './process/daemon-log.ts';
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
import { Programs } from './programs/programs.ts';
import { EventList, LongTurns, PanicStore } from './reports.ts';
import { loadStartPrograms, readProgramFile } from './start-files.ts';

/** What consoles hear of kinds that had a word of their own before there was a list. */
const WORD_OF: { readonly [kind in EventKind]?: Broadcast } = { program: 'program', trouble: 'trouble' };

/** What a caller may bring along: a worker that it started already; in tests other programs. */
export interface ManagerParts {
  early?: ChildProcess | null;
  /** What workers run. */
  code?: ProcessCode;
  compile?: Compile;
  /** What -j and --read-group come to, where that is known already. */
  access?: Access;
}

/** Seconds (chosen): whoever has set cli_timeout to nothing can take it back, and has a worker. */
const LEAST_PATIENCE = 0.25;
/** Seconds: the runtime's timers take no more milliseconds than 31 bits, and end at once with more. */
const MOST_PATIENCE = Math.floor((2 ** 31 - 1) / 1000);

export class Manager implements ManagerServices {
  readonly params = new Params({}, { worker_threads: String(usableCores(MOST_THREADS)) });
  readonly programs: Programs;
  readonly supervisor: Supervisor;
  readonly listeners: ListenerSet;
  readonly panics = new PanicStore();
  readonly events = new EventList();
  readonly turnWatch = new TurnWatch(new Clock(), (turn) => this.longTurns.add(turn, null));
  readonly longTurns = new LongTurns((text) => this.happened('turn', text));
  private readonly longCommands = new LongCommands({
    patience: () => this.patience,
    tell: (text) => {
      this.log('warning', text);
      this.happened('trouble', text);
    },
  });
  readonly storages: readonly StorageSpec[];
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
      standing: this.standing(),
      changedAt: this.supervisor.changedAt,
    }),
    this.turnWatch,
  );
  private readonly secret: Secret;
  private readonly access: Access;
  /** Gives the working directory back. */
  private readonly leave: () => void;
  /** Removes -P. */
  private removePidFile: () => void = () => {};
  private readonly published: Published;
  private readonly waysIn: WaysIn;
  private readonly membership: Membership;
  private readonly compilers = new CompilerProcesses();
  private booted: Promise<void> = Promise.resolve();
  /** To be called once, when the first worker serves. */
  private readyCompiler: (() => void) | null;
  private closing: Promise<void> | null = null;

  /** Takes the working directory and checks everything that needs no socket. Throws OptionError. */
  static async create(
    options: Options,
    dir: string,
    version: string,
    log: Log,
    parts: ManagerParts = {},
  ): Promise<Manager> {
    const specs = await resolveListeners(options.listeners);
    return new Manager(options, dir, version, log, new ListenerSet(specs), parts);
  }

  private constructor(
    options: Options,
    dir: string,
    version: string,
    log: Log,
    listeners: ListenerSet,
    parts: ManagerParts,
  ) {
    this.options = options;
    this.dir = dir;
    this.version = version;
    this.log = log;
    this.listeners = listeners;
    this.storages = options.storages;
    this.membership = new Membership(options.fleet);
    this.identity = options.identity ?? hostname();
    this.banner = bannerText(version);
    setParams(this.params, options, log);
    turns.follow(() => this.params.num('turn_budget') * 1000);
    this.access = parts.access ?? makeAccess(options);
    const { jail, readers } = this.access;
    const unlock = lockDirectory(dir);
    const workerDirectory = new WorkerDirectory(dir, jail?.worker ?? null, readers);
    this.leave = () => {
      workerDirectory.remove();
      unlock();
    };
    try {
      workerDirectory.make();
      this.secret = loadSecret(options.secretFile, dir, (text) => log('warning', text));
    } catch (cause) {
      this.leave();
      throw cause;
    }
    this.supervisor = new Supervisor(
      parts.code ?? workerCode(),
      listeners,
      {
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
            code: null,
          };
        },
        log,
        autoRestart: () => this.params.bool('auto_restart'),
        timeouts: () => ({ cli: this.patience, ping: this.params.num('ping_interval') }),
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
          this.storages,
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
    this.programs = new Programs(compile, this.supervisor, this.params);
    this.published = new Published({
      dir,
      mgt: this.mgt,
      refresh: (written) => {
        this.gauges.update(written);
        this.membership.sample();
      },
      more: this.membership.counters,
      warn: (text) => log('warning', text),
      happened: (kind, text) => this.happened(kind, text),
      fault: (cause) => this.strayError(cause),
    });
    this.waysIn = new WaysIn({
      options,
      dir,
      identity: this.identity,
      version,
      banner: this.banner,
      secret: this.secret,
      access: this.access,
      published: this.published,
      log,
      command: (line) => this.command(line),
      isServing: () => this.supervisor.state === 'running',
      activeBackends: () => this.programs.activeBackends(),
      longTurns: () => this.longTurns.lately(),
      fault: (cause) => this.strayError(cause),
    });
  }

  /** Brings everything up; resolves when the worker serves, or at once in debug mode. Throws OptionError. */
  async boot(): Promise<void> {
    const { options } = this;
    const wanted = startsWorkerAtOnce(options);
    // Bound also where the worker starts later: a used port is reported at once.
    const refusedSocket = this.listeners.open();
    if (refusedSocket !== null) {
      await this.close();
      throw new OptionError(refusedSocket);
    }
    const joining = this.membership.join(this.version, {
      params: this.params,
      supervisor: this.supervisor,
      programs: this.programs,
      listeners: this.listeners,
      booted: () => this.booted,
      programsChanged: (text) => this.happened('program', text),
      console: () => this.waysIn.consoles[0] ?? null,
      counters: async () => (await this.published.counters()).read(),
      log: this.log,
      trouble: (text) => this.happened('trouble', text),
    });
    joining.catch(() => {});
    // The worker's process starts before its program is compiled: both take the same tens of milliseconds.
    let refused: Error | null = null;
    this.booted = loadStartPrograms(options, this.params.text('vcl_path'), this.programs).catch(
      (cause: Error) => {
        refused = cause;
        throw cause;
      },
    );
    this.booted.catch(() => {});
    const serving = wanted ? this.supervisor.start() : Promise.resolve();
    serving.catch(() => {});
    try {
      await this.booted;
      this.compilers.started();
      await joining;
      await this.waysIn.open();
      this.removePidFile = writePidFiles(this.dir, options.pidFile);
      void this.published.history();
      if (options.initFile !== null) {
        const { runInitFile } = await import('./start-files.ts');
        const note = (text: string): void => this.log('info', text);
        await runInitFile(options.initFile, (line) => dispatch(this, line), note);
      }
      await serving;
      if (options.initFile !== null && options.mode !== 'debug' && this.supervisor.state === 'stopped') {
        if (this.programs.activeName() !== null) await this.supervisor.start();
      }
    } catch (cause) {
      await this.close();
      const error = refused ?? (cause as Error);
      throw error instanceof OptionError ? error : new OptionError(error.message, false);
    }
  }

  get fleet(): FleetNode | null {
    return this.membership.node;
  }

  /** Seconds for a worker's sign of life and for a command's answer. */
  private get patience(): number {
    return Math.min(MOST_PATIENCE, Math.max(LEAST_PATIENCE, this.params.num('cli_timeout')));
  }

  command(line: string): Promise<CommandReply> {
    return this.longCommands.run(line, (same) => dispatch(this, same));
  }

  readProgram(file: string): { name: string; text: string } | string {
    return readProgramFile(file, this.params.text('vcl_path'));
  }

  async parameterChanged(name: string): Promise<void> {
    const { state } = this.supervisor;
    if (state !== 'running' && state !== 'starting') return;
    await this.supervisor.call({ op: 'param.set', name, value: this.params.get(name as ParamName) });
  }

  happened(kind: EventKind, text: string, event: Broadcast = WORD_OF[kind] ?? 'noted'): void {
    this.waysIn.broadcast(event, this.events.add(kind, text));
  }

  programsChanged(text: string): void {
    this.happened('program', text);
    this.membership.programsChanged();
  }

  /** Stops everything in order; safe to call more than once. */
  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  /** An error of the manager's own that nobody was there to catch: reported and kept like a panic of the worker, which goes
   * on serving. */
  strayError(cause: unknown): void {
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    this.panics.record(`Stray error in the manager (process ${process.pid}), which goes on:\n${text}`);
    this.log('error', `Stray error in the manager, which goes on: ${text}`);
  }

  /** For an exit that nothing may delay. */
  killNow(): void {
    this.compilers.close();
    this.supervisor.killNow();
  }

  private async closeOnce(): Promise<void> {
    if (this.supervisor.state !== 'stopped') this.log('info', 'manager stopping child');
    this.compilers.close();
    await this.supervisor.stop();
    await this.membership.close();
    this.programs.close();
    this.listeners.close();
    await this.published.close();
    await this.waysIn.close();
    const { secretFile } = this.options;
    this.removePidFile();
    removeFile(`${this.dir}/${WORKDIR_FILES.pid}`);
    if (secretFile === null) removeFile(`${this.dir}/${WORKDIR_FILES.secret}`);
    this.leave();
    this.log('info', 'manager dies');
  }

  /** A worker without a program is not started: that is worth more than that it is not there. */
  private standing(): WorkerStatus {
    const { standing } = this.supervisor;
    return standing === 'stopped' && this.programs.activeName() === null ? 'no program' : standing;
  }
}

function bannerText(version: string): string {
  const rule = '-----------------------------\n';
  const where = `${process.platform},node ${process.versions.node},${process.arch}`;
  return `${rule}proxyd CLI 1.0\n${rule}${where}\nproxyd-${version}\n\nType 'help' for command list.\nType 'quit' to close CLI session.\n`;
}
