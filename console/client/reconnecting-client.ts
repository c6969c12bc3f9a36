// A client that comes back: it keeps subscriptions and renews them after each reconnection, with backoff.
//
// Commands are never repeated (one may have been carried out before the connection broke): they fail while
// there is no connection. A renewed log subscription starts at the tail; `gap` tells that something is missing.

import type { CounterSubscription, LogSubscription } from '../../protocol/messages.ts';
import {
  type Client,
  type CommandReply,
  ConnectError,
  type ConnectOptions,
  connect,
  type DaemonEvent,
  type LogHandlers,
  type StatHandlers,
  type Subscription,
} from './client.ts';

export type ConnectionState =
  | { kind: 'connecting' }
  | { kind: 'connected'; client: Client }
  /** `since` and `retryAt` in milliseconds since the epoch. */
  | { kind: 'lost'; error: ConnectError; since: number; retryAt: number };

type Kept =
  | { kind: 'log'; sub: LogSubscription; handlers: LogHandlers & { gap?(): void }; live: Subscription | null }
  | { kind: 'stat'; sub: CounterSubscription; handlers: StatHandlers; live: Subscription | null };

const FIRST_DELAY = 100;
const LAST_DELAY = 3000;

export class ReconnectingClient {
  onState: ((state: ConnectionState) => void) | null = null;
  onEvent: ((event: DaemonEvent) => void) | null = null;
  state: ConnectionState = { kind: 'connecting' };
  private readonly options: ConnectOptions;
  private readonly kept = new Map<number, Kept>();
  private client: Client | null = null;
  private timer: NodeJS.Timeout | null = null;
  private delay = FIRST_DELAY;
  private lostSince = 0;
  private nextId = 1;
  private stopped = false;

  constructor(options: ConnectOptions) {
    this.options = options;
  }

  /** Starts connecting; state changes come through onState. */
  start(): void {
    void this.tryConnect();
  }

  command(line: string): Promise<CommandReply> {
    if (this.client === null) return Promise.reject(new ConnectError('closed', 'not connected'));
    return this.client.command(line);
  }

  /** `gap` is called when the subscription was renewed and records in between are missing. */
  log(sub: LogSubscription, handlers: LogHandlers & { gap?(): void }): Subscription {
    return this.keep({ kind: 'log', sub, handlers, live: null });
  }

  stat(sub: CounterSubscription, handlers: StatHandlers): Subscription {
    return this.keep({ kind: 'stat', sub, handlers, live: null });
  }

  close(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.client?.close();
  }

  private keep(kept: Kept): Subscription {
    const id = this.nextId++;
    this.kept.set(id, kept);
    if (this.client !== null) this.subscribe(id, kept, this.client);
    return {
      id,
      end: () => {
        this.kept.delete(id);
        kept.live?.end();
      },
      flush: () => kept.live?.flush(),
    };
  }

  private subscribe(id: number, kept: Kept, client: Client): void {
    const end = (error: Parameters<NonNullable<LogHandlers['end']>>[0]): void => {
      kept.live = null;
      // Lost with the connection: it is renewed, so its owner hears nothing.
      if (client.closed && this.kept.has(id)) return;
      this.kept.delete(id);
      kept.handlers.end?.(error);
    };
    if (kept.kind === 'log') {
      const { frame, ready, lost } = kept.handlers;
      const handlers: LogHandlers = { frame: frame.bind(kept.handlers), end };
      if (ready !== undefined) handlers.ready = ready.bind(kept.handlers);
      if (lost !== undefined) handlers.lost = lost.bind(kept.handlers);
      kept.live = client.log(kept.sub, handlers);
      return;
    }
    const { counters, values, ready } = kept.handlers;
    const handlers: StatHandlers = {
      counters: counters.bind(kept.handlers),
      values: values.bind(kept.handlers),
      end,
    };
    if (ready !== undefined) handlers.ready = ready.bind(kept.handlers);
    kept.live = client.stat(kept.sub, handlers);
  }

  private async tryConnect(): Promise<void> {
    this.timer = null;
    try {
      const client = await connect(this.options);
      if (this.stopped) {
        client.close();
        return;
      }
      const again = this.lostSince !== 0;
      this.client = client;
      this.delay = FIRST_DELAY;
      this.lostSince = 0;
      client.onEvent = (event) => this.onEvent?.(event);
      client.onClose = (error) => this.lose(error);
      for (const [id, kept] of this.kept) {
        if (kept.kind === 'log' && again) {
          kept.sub = { ...kept.sub, from: 'tail' };
          kept.handlers.gap?.();
        }
        this.subscribe(id, kept, client);
      }
      this.change({ kind: 'connected', client });
    } catch (cause) {
      this.lose(
        cause instanceof ConnectError ? cause : new ConnectError('unreachable', String(cause), cause),
      );
    }
  }

  private lose(error: ConnectError | null): void {
    this.client = null;
    if (this.stopped) return;
    const now = Date.now();
    if (this.lostSince === 0) this.lostSince = now;
    const reason = error ?? new ConnectError('closed', 'connection is closed');
    this.change({ kind: 'lost', error: reason, since: this.lostSince, retryAt: now + this.delay });
    this.timer = setTimeout(() => void this.tryConnect(), this.delay);
    this.delay = Math.min(this.delay * 2, LAST_DELAY);
  }

  private change(state: ConnectionState): void {
    this.state = state;
    this.onState?.(state);
  }
}
