// A source for a live daemon. After a lost connection it reconnects with backoff, and renews its subscriptions, the
// log's from the tail. Commands are never repeated, because one may have been carried out before the connection broke:
// without a connection they fail.

import { decodeLogFrame } from '../../protocol/log-frame.ts';
import type { CommandReply, CounterInfo, HistoryRequest, LogSubscription } from '../../protocol/messages.ts';
import { type Client, ConnectError, type ConnectOptions, connect } from './client.ts';
import { EarlierLog } from './earlier-log.ts';
import { findDaemon } from './find-daemon.ts';
import {
  type LogHandlers,
  ONLY_RATED,
  type PastPoint,
  type Source,
  type SourceEvents,
  type Subscription,
} from './source.ts';

/** Milliseconds until the first attempt after a loss; each next delay doubles. Guessed. */
const FIRST_DELAY = 100;
const LAST_DELAY = 3000;

/** Seconds of history to load before the first screen: of the traffic counters for its charts, of all counters for
 * sparklines and the shortest average. */
const RECALLED = 1000;
const RECALLED_WHOLE = 17;

interface PastHandlers {
  counters(info: CounterInfo[]): void;
  /** `values` in the order of the last counters. */
  sample(at: number, values: bigint[]): void;
}

interface OpenLog {
  sub: LogSubscription;
  readonly handlers: LogHandlers;
  /** The earlier log has been requested. */
  known: boolean;
}

export class LiveSource implements Source {
  readonly label: string;
  readonly local: boolean;
  private readonly options: ConnectOptions;
  private readonly logs = new Map<OpenLog, Subscription | null>();
  private events: SourceEvents | null = null;
  private client: Client | null = null;
  private counters: Subscription | null = null;
  private interval = 1;
  private timer: NodeJS.Timeout | null = null;
  private delay = FIRST_DELAY;
  /** Epoch seconds, by the daemon's clock, of the last sample of the counters; 0 before any. */
  private sampledAt = 0;
  /** Delivers the history of the traffic counters, before all counters are described. */
  private beforeCounters: (() => void) | null = null;
  /** Attempts since the connection was lost. */
  private attempt = 0;
  private closed = false;

  constructor(options: ConnectOptions) {
    this.options = options;
    this.local = options.address === undefined;
    this.label = options.address ?? findDaemon(options.dir).dir;
  }

  /** Whether the daemon can replay its log. */
  get canReplay(): boolean {
    return this.client?.keepsHistory === true;
  }

  start(events: SourceEvents): void {
    this.events = events;
    void this.connect(events);
  }

  async command(line: string): Promise<CommandReply> {
    try {
      if (this.client === null) throw new ConnectError('closed', 'not connected');
      return await this.client.command(line);
    } catch (error) {
      return { status: 0, body: error instanceof Error ? error.message : String(error) };
    }
  }

  log(sub: LogSubscription, handlers: LogHandlers): Subscription {
    const log: OpenLog = { sub, handlers, known: false };
    this.logs.set(log, this.client === null ? null : this.subscribe(this.client, log));
    return {
      close: () => {
        const live = this.logs.get(log);
        this.logs.delete(log);
        live?.close();
      },
    };
  }

  history(request: HistoryRequest): Promise<readonly PastPoint[]> {
    const { client } = this;
    const points: PastPoint[] = [];
    if (client === null || !client.keepsHistory) return Promise.resolve(points);
    let names: readonly string[] = [];
    let values = new Float64Array();
    return new Promise((resolve) =>
      client.history(request, {
        counters: (info) => {
          names = info.map((row) => row.name);
          values = new Float64Array(names.length);
        },
        past: (samples) => {
          for (const [at, ...changes] of samples) {
            for (let i = 0; i < changes.length; i += 2) values[changes[i] as number] = Number(changes[i + 1]);
            points.push({ at, names, values: values.slice() });
          }
        },
        end: () => resolve(points),
      }),
    );
  }

  setInterval(seconds: number): void {
    this.interval = seconds;
    this.subscribeCounters();
  }

  sampleNow(): void {
    this.subscribeCounters();
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.client?.close();
  }

  private async connect(events: SourceEvents): Promise<void> {
    this.timer = null;
    try {
      const client = await connect({ ...this.options, interactive: true });
      if (this.closed) return client.close();
      const again = this.attempt > 0;
      this.client = client;
      this.attempt = 0;
      this.delay = FIRST_DELAY;
      client.onEvent = ({ event, text, at, kind }) =>
        events.event(event, text, at === undefined || kind === undefined ? undefined : { at, kind });
      client.onClose = (error) => this.lose(events, error);
      for (const log of this.logs.keys()) {
        // The log before this moment is known, or was lost with the connection.
        if (again) log.sub = { ...log.sub, from: 'tail' };
        this.logs.set(log, this.subscribe(client, log));
      }
      this.recall(client);
      events.connection({ state: 'up', identity: client.identity, version: client.version });
    } catch (cause) {
      this.lose(
        events,
        cause instanceof ConnectError ? cause : new ConnectError('unreachable', String(cause), cause),
      );
    }
  }

  private lose(events: SourceEvents, error: ConnectError | null): void {
    this.client = null;
    this.counters = null;
    if (this.closed) return;
    events.connection({
      state: 'waiting',
      attempt: this.attempt++,
      retryAt: (Date.now() + this.delay) / 1000,
      reason: error?.message ?? 'connection is closed',
    });
    this.timer = setTimeout(() => void this.connect(events), this.delay);
    this.delay = Math.min(this.delay * 2, LAST_DELAY);
  }

  private subscribe(client: Client, log: OpenLog): Subscription {
    const { handlers } = log;
    let earlier: EarlierLog | null = null;
    const live = client.log(log.sub, {
      ready: (mark) => {
        if (this.logs.has(log)) handlers.ready?.();
        const begin = handlers.earlier;
        // The log before a lost connection is known.
        if (begin === undefined || mark === undefined || log.known || !this.logs.has(log)) return;
        log.known = true;
        earlier = new EarlierLog(client, log.sub, begin, (transactions) => handlers.batch(transactions));
        earlier.read(mark);
      },
      frame: (data) => {
        const frame = this.logs.has(log) ? decodeLogFrame(data) : null;
        if (frame !== null) handlers.batch(frame.transactions);
      },
      lost: (records, reason) => {
        if (this.logs.has(log)) handlers.lost(records, reason);
      },
      end: (error) => {
        // A subscription that is lost with its connection is renewed without a call to its owner.
        if (client.closed || !this.logs.delete(log)) return;
        if (error !== null) handlers.failed(error.detail ?? error.message);
        else handlers.ended?.();
      },
    });
    return {
      close: () => {
        live.close();
        earlier?.close();
      },
    };
  }

  /** Loads the missing history, then subscribes to the counters. */
  private recall(client: Client): void {
    if (!client.keepsHistory) {
      this.subscribeCounters();
      return;
    }
    const now = Date.now() / 1000;
    const end = (): void => this.subscribeCounters();
    // The gap of a lost connection is loaded for all counters: they are on screen.
    if (this.sampledAt > 0) {
      this.readPast(
        client,
        { from: Math.max(this.sampledAt, now - RECALLED), step: 1 },
        this.handlers(),
        end,
      );
      return;
    }
    const whole = now - RECALLED_WHOLE;
    const rated: (() => void)[] = [];
    const held: PastHandlers = {
      counters: (info) => rated.push(() => this.events?.counters(info)),
      sample: (at, values) => {
        if (at < whole) rated.push(() => this.onPast(at, values));
      },
    };
    // The traffic counters are held back until all are known: other counters would show as empty.
    this.beforeCounters = () => {
      for (const deliver of rated) deliver();
    };
    this.readPast(client, { from: now - RECALLED, step: 1, filters: ONLY_RATED }, held, () =>
      this.readPast(client, { from: whole, step: 1 }, this.handlers(), end),
    );
  }

  private handlers(): PastHandlers {
    return {
      counters: (info) => this.onCounters(info),
      sample: (at, values) => this.onPast(at, values),
    };
  }

  private onCounters(info: CounterInfo[]): void {
    this.beforeCounters?.();
    this.beforeCounters = null;
    this.events?.counters(info);
  }

  private onPast(at: number, values: bigint[]): void {
    this.sampledAt = at;
    this.events?.past(at, values);
  }

  /** Loads a part of the history, then calls `then` if the connection is still the same. */
  private readPast(client: Client, request: HistoryRequest, to: PastHandlers, then: () => void): void {
    const values: bigint[] = [];
    client.history(request, {
      counters: (info) => {
        values.length = 0;
        for (const _ of info) values.push(0n);
        to.counters(info);
      },
      past: (samples) => {
        for (const [at, ...changes] of samples) {
          for (let i = 0; i < changes.length; i += 2)
            values[changes[i] as number] = BigInt(changes[i + 1] as number | string);
          to.sample(at, [...values]);
        }
      },
      end: () => {
        if (this.client === client) then();
      },
    });
  }

  /** A new subscription replaces the former; its first values come at once. */
  private subscribeCounters(): void {
    const { client, events } = this;
    this.counters?.close();
    if (client === null || events === null) return;
    let open = true;
    const live = client.stat(
      { interval: this.interval },
      {
        counters: (info) => {
          if (open) this.onCounters(info);
        },
        values: (at, values) => {
          if (!open) return;
          this.sampledAt = at;
          events.values(at, values.map(BigInt));
        },
      },
    );
    this.counters = {
      close: () => {
        open = false;
        live.close();
      },
    };
  }
}
