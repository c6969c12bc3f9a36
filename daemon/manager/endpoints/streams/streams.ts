// Access to what the worker publishes: the log, the counters, and the history of counters. Each is opened, and its code
// loaded, when first used.

import { join } from 'node:path';
import type { LogSubscription } from '../../../../protocol/messages.ts';
import type { EventKind } from '../../../../protocol/tables/events.ts';
import { WORKDIR_FILES } from '../../../../protocol/workdir.ts';
import type { CounterStreams } from './counter-stream.ts';
import type { HistoryStore } from './history-streams.ts';
import type { LogStreams } from './log-stream.ts';
import type { Stream, StreamError, StreamSink } from './stream.ts';

type CounterStreamsArguments = ConstructorParameters<typeof CounterStreams>;

export interface StreamsOptions {
  /** The working directory. */
  dir: string;
  /** The manager's own counters. */
  mgt: CounterStreamsArguments[1];
  /** Called before counters are read. */
  refresh: CounterStreamsArguments[2];
  /** Its counters that exist only with some options. */
  groups: CounterStreamsArguments[3];
  warn(text: string): void;
  happened(kind: EventKind, text: string): void;
  /** Reports an error that no caller can handle. */
  fault(cause: unknown): void;
}

export class Streams {
  private readonly options: StreamsOptions;
  private logStreams: Promise<LogStreams> | null = null;
  private counterStreams: Promise<CounterStreams> | null = null;
  private historyStore: Promise<HistoryStore> | null = null;
  private opening: Promise<unknown> = Promise.resolve();

  constructor(options: StreamsOptions) {
    this.options = options;
  }

  log(): Promise<LogStreams> {
    this.logStreams ??= import('./log-stream.ts').then((m) => new m.LogStreams(this.workerDirectory));
    return this.logStreams;
  }

  counters(): Promise<CounterStreams> {
    const { mgt, refresh, groups } = this.options;
    this.counterStreams ??= import('./counter-stream.ts').then(
      (m) => new m.CounterStreams(this.workerDirectory, mgt, refresh, groups),
    );
    return this.counterStreams;
  }

  history(): Promise<HistoryStore> {
    const { dir, warn, happened, fault } = this.options;
    this.historyStore ??= Promise.all([import('./history-streams.ts'), this.counters()]).then(
      ([{ HistoryStore }, counters]) =>
        new HistoryStore(join(dir, WORKDIR_FILES.history), () => counters.read(), warn, happened, fault),
    );
    return this.historyStore;
  }

  /** Opens log subscriptions one after the other, because parsing a long query takes time. */
  openLog(id: number, sub: LogSubscription, sink: StreamSink): Promise<Stream | StreamError> {
    const opened = this.opening.then(async () => (await this.log()).openInTurns(id, sub, sink));
    this.opening = opened.catch(() => undefined);
    return opened;
  }

  async close(): Promise<void> {
    (await this.logStreams?.catch(() => null))?.close();
    (await this.historyStore?.catch(() => null))?.close();
    (await this.counterStreams?.catch(() => null))?.close();
  }

  private get workerDirectory(): string {
    return join(this.options.dir, WORKDIR_FILES.worker);
  }
}
