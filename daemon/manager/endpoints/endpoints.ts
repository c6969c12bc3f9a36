// The control endpoints: the console protocol on Unix sockets and TCP, the text CLI, the metrics. All are opened at
// startup; the code of an endpoint is loaded only if it is configured.

import { lookup } from 'node:dns/promises';
import type { CommandReply } from '../../../protocol/messages.ts';
import { systemText } from '../../../protocol/system-text.ts';
import type { NotedEvent } from '../../../protocol/tables/events.ts';
import { WORKDIR_FILES } from '../../../protocol/workdir.ts';
import type { Broadcast, ManagerCore } from '../manager-core.ts';
import { OptionError } from '../options/option-error.ts';
import type { HostPort } from '../options/options.ts';
import { removeFile } from '../process/working-directory.ts';
import type { Secret } from './authentication.ts';
import type { ControlServer } from './control-server.ts';
import type { MetricsServer } from './metrics-server.ts';
import type { TextCli } from './text-cli.ts';

/** @param from the client, as events name it */
type RunCommand = (line: string, from?: string) => Promise<CommandReply>;

export class Endpoints {
  private readonly core: ManagerCore;
  private readonly secret: Secret;
  private readonly command: RunCommand;
  private control: ControlServer | null = null;
  private textCli: TextCli | null = null;
  private metrics: MetricsServer | null = null;
  /** The bound TCP addresses of the console protocol. */
  readonly consoles: { host: string; port: number }[] = [];

  constructor(core: ManagerCore, secret: Secret, command: RunCommand) {
    this.core = core;
    this.secret = secret;
    this.command = command;
  }

  private get isServing(): boolean {
    return this.core.supervisor.state === 'running';
  }

  /** Throws OptionError. */
  async open(): Promise<void> {
    const { options } = this.core;
    await this.openControl();
    if (options.cli.length > 0 || options.reverseCli.length > 0) await this.openTextCli();
    if (options.metrics !== null) await this.openMetrics(options.metrics);
  }

  broadcast(event: Broadcast, noted: NotedEvent): void {
    this.control?.broadcast(event, noted);
  }

  async close(): Promise<void> {
    this.textCli?.close();
    this.metrics?.close();
    await this.control?.close();
  }

  private async openControl(): Promise<void> {
    const { core } = this;
    const { streams, dir, options } = core;
    const { ControlServer } = await import('./control-server.ts');
    const control = new ControlServer(
      {
        identity: () => core.identity,
        version: core.version,
        state: () => (this.isServing ? 'running' : 'stopped'),
        command: (line, from) => this.command(line, from),
        openLog: (id, sub, sink) => streams.openLog(id, sub, sink),
        openCounters: async (id, sub, sink) => (await streams.counters()).open(id, sub, sink),
        openHistory: async (id, request, sink) => (await streams.history()).streams.open(id, request, sink),
        fault: (cause) => core.uncaught(cause),
      },
      this.secret,
      { origins: options.origins, hosts: options.hosts },
    );
    this.control = control;
    const path = `${dir}/${WORKDIR_FILES.socket}`;
    await control.listenPath(path).catch(cannotListen(path));
    const { readers } = core.access;
    const readPath = `${dir}/${WORKDIR_FILES.readSocket}`;
    if (readers === null) removeFile(readPath);
    else await control.listenPath(readPath, readers).catch(cannotListen(readPath));
    for (const { text, host, port } of options.consoles) {
      const bound = await control.listenTcp(host, port).catch((cause) => {
        throw new OptionError(`--console: Could not get socket ${text}: ${systemText(cause)}`, false);
      });
      this.consoles.push({ host, port: bound });
      core.log('info', `Console on ${host}:${bound}`);
    }
  }

  private async openTextCli(): Promise<void> {
    const { options, banner, log } = this.core;
    const { TextCli } = await import('./text-cli.ts');
    const textCli = new TextCli(this.command, this.secret, banner);
    this.textCli = textCli;
    for (const { text, host, port } of options.cli) {
      const bound = await textCli.listen(host, port).catch((cause) => {
        throw (
          unresolved('-T', cause) ??
          new OptionError(`-T: Could not get socket ${text}: ${systemText(cause)}`, false)
        );
      });
      log('info', `CLI on ${host}:${bound}`);
    }
    for (const { host, port } of options.reverseCli) {
      await lookup(host).catch((cause) => {
        throw unresolved('-M', cause) ?? cause;
      });
      textCli.connectOut(host, port, (why) => log('info', `Could not connect to CLI-master: ${why}`));
    }
  }

  private async openMetrics({ text, host, port }: HostPort): Promise<void> {
    const { streams, version, programs, longTurns, options, log } = this.core;
    const [{ MetricsServer }, { MetricsText }, counters] = await Promise.all([
      import('./metrics-server.ts'),
      import('./metrics-text.ts'),
      streams.counters(),
    ]);
    const pages = new MetricsText();
    this.metrics = new MetricsServer(async () => {
      const reading = await counters.read();
      return pages.page({
        version,
        workerUp: this.isServing,
        active: programs.activeBackends(),
        longTurns: longTurns.lately(),
        ...reading,
      });
    }, options.hosts);
    const bound = await this.metrics.listen(host, port).catch((cause) => {
      throw new OptionError(`--metrics: Could not get socket ${text}: ${systemText(cause)}`, false);
    });
    log('info', `Metrics on ${host}:${bound}`);
  }
}

function cannotListen(path: string): (cause: unknown) => never {
  return (cause) => {
    throw new OptionError(`Cannot listen on ${path}: ${systemText(cause)}`, false);
  };
}

/** The error for a host name without an address; null for any other error. */
function unresolved(flag: string, cause: unknown): OptionError | null {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'ENOTFOUND' && code !== 'EAI_AGAIN') return null;
  return new OptionError(`Could not resolve ${flag} argument to address\n\tName or service not known`);
}
