// The control endpoints: the console protocol on Unix sockets and TCP, the text CLI, the metrics. All are opened at
// startup; the code of an endpoint is loaded only if it is configured.

import { lookup } from 'node:dns/promises';
import type { CommandReply, ServerMessage } from '../../../protocol/messages.ts';
import { systemText } from '../../../protocol/system-text.ts';
import type { NotedEvent } from '../../../protocol/tables/events.ts';
import { WORKDIR_FILES } from '../../../protocol/workdir.ts';
import { OptionError } from '../options/option-error.ts';
import type { HostPort, Options } from '../options/options.ts';
import type { Log } from '../process/daemon-log.ts';
import type { Access } from '../process/jail.ts';
import { removeFile } from '../process/working-directory.ts';
import type { Secret } from './authentication.ts';
import type { ControlServer } from './control-server.ts';
import type { MetricsServer } from './metrics-server.ts';
import type { MetricsInput } from './metrics-text.ts';
import type { Streams } from './streams/streams.ts';
import type { TextCli } from './text-cli.ts';

export type Broadcast = (ServerMessage & { t: 'event' })['event'];

/** The daemon as the endpoints see it. */
export interface EndpointsHost {
  readonly options: Options;
  readonly dir: string;
  readonly identity: string;
  readonly version: string;
  readonly banner: string;
  readonly secret: Secret;
  readonly access: Access;
  readonly streams: Streams;
  log: Log;
  /** @param from the client, as events name it */
  command(line: string, from?: string): Promise<CommandReply>;
  isServing(): boolean;
  activeBackends(): MetricsInput['active'];
  longTurns(): MetricsInput['longTurns'];
  /** Reports an error that no caller can handle. */
  fault(cause: unknown): void;
}

export class Endpoints {
  private readonly manager: EndpointsHost;
  private control: ControlServer | null = null;
  private textCli: TextCli | null = null;
  private metrics: MetricsServer | null = null;
  /** The bound TCP addresses of the console protocol. */
  readonly consoles: { host: string; port: number }[] = [];

  constructor(manager: EndpointsHost) {
    this.manager = manager;
  }

  /** Throws OptionError. */
  async open(): Promise<void> {
    const { options } = this.manager;
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
    const { manager } = this;
    const { streams, dir } = manager;
    const { ControlServer } = await import('./control-server.ts');
    const control = new ControlServer(
      {
        identity: () => manager.identity,
        version: manager.version,
        state: () => (manager.isServing() ? 'running' : 'stopped'),
        command: (line, from) => manager.command(line, from),
        openLog: (id, sub, sink) => streams.openLog(id, sub, sink),
        openCounters: async (id, sub, sink) => (await streams.counters()).open(id, sub, sink),
        openHistory: async (id, request, sink) => (await streams.history()).streams.open(id, request, sink),
        fault: (cause) => manager.fault(cause),
      },
      manager.secret,
      { origins: manager.options.origins, hosts: manager.options.hosts },
    );
    this.control = control;
    const path = `${dir}/${WORKDIR_FILES.socket}`;
    await control.listenPath(path).catch(cannotListen(path));
    const { readers } = manager.access;
    const readPath = `${dir}/${WORKDIR_FILES.readSocket}`;
    if (readers === null) removeFile(readPath);
    else await control.listenPath(readPath, readers).catch(cannotListen(readPath));
    for (const { text, host, port } of manager.options.consoles) {
      const bound = await control.listenTcp(host, port).catch((cause) => {
        throw new OptionError(`--console: Could not get socket ${text}: ${systemText(cause)}`, false);
      });
      this.consoles.push({ host, port: bound });
      manager.log('info', `Console on ${host}:${bound}`);
    }
  }

  private async openTextCli(): Promise<void> {
    const { options, secret, banner, log, command } = this.manager;
    const { TextCli } = await import('./text-cli.ts');
    const textCli = new TextCli(command, secret, banner);
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
    const { manager } = this;
    const [{ MetricsServer }, { MetricsText }, counters] = await Promise.all([
      import('./metrics-server.ts'),
      import('./metrics-text.ts'),
      manager.streams.counters(),
    ]);
    const pages = new MetricsText();
    this.metrics = new MetricsServer(async () => {
      const reading = await counters.read();
      return pages.page({
        version: manager.version,
        workerUp: manager.isServing(),
        active: manager.activeBackends(),
        longTurns: manager.longTurns(),
        ...reading,
      });
    }, manager.options.hosts);
    const bound = await this.metrics.listen(host, port).catch((cause) => {
      throw new OptionError(`--metrics: Could not get socket ${text}: ${systemText(cause)}`, false);
    });
    manager.log('info', `Metrics on ${host}:${bound}`);
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
