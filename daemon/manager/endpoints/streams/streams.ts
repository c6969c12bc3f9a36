// What the worker has published, for all who read it: the log, the counters, and the counters' past. Each is opened with its
// first reader, and its code is loaded then.

import { join } from 'node:path';
import type { EventKind } from '../../../../protocol/tables/events.ts';
import { WORKDIR_FILES } from '../../../../protocol/workdir.ts';
import type { CounterStreams } from './counter-stream.ts';
import type { HistoryKeeper } from './history-streams.ts';
import type { LogStreams } from './log-stream.ts';

type CounterStreamsArguments = ConstructorParameters<typeof CounterStreams>;

export interface PublishedOptions {
  /** The working directory. */
  dir: string;
  /** The manager's own counters. */
  mgt: CounterStreamsArguments[1];
  /** Called before counters are read. */
  refresh: CounterStreamsArguments[2];
  /** Counters that come and go. */
  more: CounterStreamsArguments[3];
  warn(text: string): void;
  happened(kind: EventKind, text: string): void;
  /** An error that nobody was there to catch. */
  fault(cause: unknown): void;
}

export class Published {
  private readonly options: PublishedOptions;
  private logStreams: Promise<LogStreams> | null = null;
  private counterStreams: Promise<CounterStreams> | null = null;
  private keeper: Promise<HistoryKeeper> | null = null;
  private opening: Promise<unknown> = Promise.resolve();

  constructor(options: PublishedOptions) {
    this.options = options;
  }

  log(): Promise<LogStreams> {
    this.logStreams ??= import('./log-stream.ts').then((m) => new m.LogStreams(this.workerDirectory));
    return this.logStreams;
  }

  counters(): Promise<CounterStreams> {
    const { mgt, refresh, more } = this.options;
    this.counterStreams ??= import('./counter-stream.ts').then(
      (m) => new m.CounterStreams(this.workerDirectory, mgt, refresh, more),
    );
    return this.counterStreams;
  }

  history(): Promise<HistoryKeeper> {
    const { dir, warn, happened, fault } = this.options;
    this.keeper ??= Promise.all([import('./history-streams.ts'), this.counters()]).then(
      ([{ HistoryKeeper }, counters]) =>
        new HistoryKeeper(join(dir, WORKDIR_FILES.history), () => counters.read(), warn, happened, fault),
    );
    return this.keeper;
  }

  /** Log subscriptions are opened one a turn of the event loop: a long query takes some time to read. */
  inTurn<T>(open: (streams: LogStreams) => T): Promise<T> {
    const opened = this.opening
      .then(() => new Promise((resolve) => setImmediate(resolve)))
      .then(async () => open(await this.log()));
    this.opening = opened.catch(() => undefined);
    return opened;
  }

  async close(): Promise<void> {
    (await this.logStreams?.catch(() => null))?.close();
    (await this.keeper?.catch(() => null))?.close();
    (await this.counterStreams?.catch(() => null))?.close();
  }

  private get workerDirectory(): string {
    return join(this.options.dir, WORKDIR_FILES.worker);
  }
}
