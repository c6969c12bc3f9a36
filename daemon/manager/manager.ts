// The life of the manager: locks the working directory, opens listeners, programs and endpoints, and shuts them down.
//
// Handles no traffic. Forks the worker first and compiles the first program while the worker boots. An operator's
// mistake (bad parameter, program, port) is an OptionError before anything serves.

import type { CommandReply } from '../../protocol/messages.ts';
import { MOST_THREADS } from '../../protocol/tables/params.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { Params } from '../params/parameter-set.ts';
import { turns } from '../turns/turns.ts';
import { dispatch, LongCommands } from './commands/dispatch.ts';
import { loadSecret, type Secret } from './endpoints/authentication.ts';
import { Endpoints } from './endpoints/endpoints.ts';
import { ManagerCore, type SuppliedParts } from './manager-core.ts';
import { OptionError } from './options/option-error.ts';
import { type Options, startsWorkerAtOnce } from './options/options.ts';
import { setParams } from './options/param-options.ts';
import { usableCores } from './process/cores.ts';
import type { Log } from './process/daemon-log.ts';
import { type Access, makeAccess } from './process/jail.ts';
import { ListenerSet, resolveListeners } from './process/listeners.ts';
import { makeDiskDirectory, WorkerDirectory } from './process/worker-directory.ts';
import { lockDirectory, removeFile, writePidFiles } from './process/working-directory.ts';
import { loadStartPrograms, runInitFile } from './start-files.ts';
import { TlsService } from './tls/tls-service.ts';

export interface ManagerParts extends SuppliedParts {
  /** The resolved accounts of -j and --read-group, if already known. */
  access?: Access;
}

export class Manager {
  readonly core: ManagerCore;
  private readonly endpoints: Endpoints;
  private readonly longCommands: LongCommands;
  /** Releases the working directory. */
  private readonly releaseDirectory: () => void;
  /** Removes the file of -P. */
  private removePidFile: () => void = () => {};
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
    const listeners = new ListenerSet(await resolveListeners(tls.listeners));
    return new Manager(options, dir, version, log, listeners, tls, parts);
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
    const params = new Params({}, { worker_threads: String(usableCores(MOST_THREADS)) });
    setParams(params, options, log);
    turns.follow(() => params.num('turn_budget') * 1000);
    const access = parts.access ?? makeAccess(options);
    const worker = access.jail?.worker ?? null;
    const unlock = lockDirectory(dir);
    const workerDirectory = new WorkerDirectory(dir, worker, access.readers);
    this.releaseDirectory = () => {
      workerDirectory.remove();
      unlock();
    };
    let secret: Secret;
    try {
      if (options.disk !== null) makeDiskDirectory(options.disk, worker);
      workerDirectory.make();
      secret = loadSecret(options.secretFile, dir, (text) => log('warning', text));
    } catch (cause) {
      this.releaseDirectory();
      throw cause;
    }
    const settings = { options, params, dir, workerDirectory, access, version, log, listeners, tls };
    this.core = new ManagerCore(settings, parts);
    this.longCommands = new LongCommands(this.core);
    this.endpoints = new Endpoints(this.core, secret, (line, from) => this.command(line, from));
    this.core.broadcast = (event, noted) => this.endpoints.broadcast(event, noted);
    tls.open(dir, this.core.supervisor, log, (text) => this.core.happened('tls', text));
  }

  /** Starts everything; resolves when the worker serves, or at once in debug mode. Throws OptionError. */
  async boot(): Promise<void> {
    const { core } = this;
    const { options, supervisor, programs, listeners, membership, params, log } = core;
    const wanted = startsWorkerAtOnce(options);
    // Binds even if the worker starts later, so that a port in use is reported at once.
    const refusedSocket = listeners.open();
    if (refusedSocket !== null) {
      await this.close();
      throw new OptionError(refusedSocket);
    }
    for (const address of listeners.unusedSockets())
      log(
        'warning',
        `No listener uses the socket ${address} that was passed at the start: add -a ${address}`,
      );
    await this.openAcme();
    const joining = membership.join(core.version, {
      params,
      supervisor,
      programs,
      listeners,
      hasDisk: options.disk !== null,
      booted: () => core.booted,
      programsChanged: (text) => core.happened('program', text),
      console: () => this.endpoints.consoles[0] ?? null,
      counters: async () => (await core.streams.counters()).read(),
      log,
      trouble: (text) => core.happened('trouble', text),
    });
    joining.catch(() => {});
    // Forks the worker before its program is compiled: both take similar tens of milliseconds.
    let bootError: Error | null = null;
    core.booted = loadStartPrograms(options, params.text('vcl_path'), programs).catch((cause: Error) => {
      bootError = cause;
      throw cause;
    });
    core.booted.catch(() => {});
    const serving = wanted ? supervisor.start() : Promise.resolve();
    serving.catch(() => {});
    try {
      await core.booted;
      core.compilers.started();
      core.trials.started();
      await joining;
      await this.endpoints.open();
      this.removePidFile = writePidFiles(core.dir, options.pidFile);
      void core.streams.history();
      if (options.initFile !== null) {
        const note = (text: string): void => log('info', text);
        await runInitFile(options.initFile, (line) => dispatch(core, line), note);
      }
      await serving;
      core.acme?.start(core.fleet?.certificates ?? null);
      if (options.initFile !== null && options.mode !== 'debug' && supervisor.state === 'stopped') {
        if (programs.activeName() !== null) await supervisor.start();
      }
    } catch (cause) {
      await this.close();
      const error = bootError ?? (cause as Error);
      throw error instanceof OptionError ? error : new OptionError(error.message, false);
    }
  }

  /** Loads the certificates of earlier runs before the first worker starts. */
  private async openAcme(): Promise<void> {
    const { core } = this;
    const { acme } = core.options;
    if (acme === null) {
      const [wanted] = core.tls.auto;
      if (wanted === undefined) return;
      await this.close();
      throw new OptionError(
        `A certificate for ${wanted.names.join(', ')} that is obtained automatically needs --acme EMAIL`,
        false,
      );
    }
    const { openAutomaticCertificates } = await import('./tls/acme-host.ts');
    try {
      core.acme = await openAutomaticCertificates(acme, {
        dir: core.dir,
        version: core.version,
        wanted: core.tls.auto,
        fleet: core.options.fleet,
        store: core.tls,
        listeners: () => core.tls.listeners,
        isServing: () => core.supervisor.state === 'running',
        log: core.log,
        happened: (text) => core.happened('tls', text),
      });
    } catch (cause) {
      await this.close();
      throw cause;
    }
  }

  command(line: string, from = ''): Promise<CommandReply> {
    return this.longCommands.run(line, from);
  }

  /** Stops everything in order; may be called more than once. */
  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  /** Requests under way are not finished any more. */
  hurry(): void {
    this.core.supervisor.hurry();
  }

  /** For an exit that must not be delayed. */
  killNow(): void {
    const { compilers, trials, supervisor } = this.core;
    compilers.close();
    trials.close();
    supervisor.killNow();
  }

  private async closeOnce(): Promise<void> {
    const { core } = this;
    if (core.supervisor.state !== 'stopped') core.log('info', 'manager stopping child');
    core.compilers.close();
    core.trials.close();
    await core.supervisor.stop();
    await core.acme?.close();
    await core.membership.close();
    core.programs.close();
    core.tls.close();
    core.listeners.close();
    await core.streams.close();
    await this.endpoints.close();
    this.removePidFile();
    removeFile(`${core.dir}/${WORKDIR_FILES.pid}`);
    if (core.options.secretFile === null) removeFile(`${core.dir}/${WORKDIR_FILES.secret}`);
    this.releaseDirectory();
    core.log('info', 'manager dies');
  }
}
