// The live source: the reconnecting WebSocket client behind the console's Source interface. It adds what
// screens need on top: values as 64-bit integers, decoded log frames, and no exceptions.

import { decodeLogFrame } from '../../protocol/log-frame.ts';
import type { LogSubscription } from '../../protocol/messages.ts';
import type { ConnectOptions } from '../client/client.ts';
import { findDaemon } from '../client/find-daemon.ts';
import { ReconnectingClient } from '../client/reconnecting-client.ts';
import type { CommandReply, LogHandlers, Source, SourceEvents, Subscription } from './source.ts';

export class ClientSource implements Source {
  readonly label: string;
  readonly local: boolean;
  private readonly client: ReconnectingClient;
  private events: SourceEvents | null = null;
  private stat: Subscription | null = null;
  private interval = 1;
  private attempt = 0;

  constructor(options: ConnectOptions) {
    this.client = new ReconnectingClient(options);
    this.local = options.address === undefined;
    this.label = options.address ?? findDaemon(options.dir).dir;
  }

  start(events: SourceEvents): void {
    this.events = events;
    this.client.onState = (state) => {
      switch (state.kind) {
        case 'connecting':
          return events.connection({ state: 'connecting', attempt: this.attempt });
        case 'connected':
          this.attempt = 0;
          return events.connection({
            state: 'up',
            identity: state.client.identity,
            version: state.client.version,
          });
        case 'lost':
          return events.connection({
            state: 'waiting',
            attempt: this.attempt++,
            retryAt: state.retryAt / 1000,
            reason: state.error.message,
          });
      }
    };
    this.client.onEvent = (event) => events.event(event.event, event.text);
    this.subscribeCounters();
    this.client.start();
  }

  async command(line: string): Promise<CommandReply> {
    try {
      return await this.client.command(line);
    } catch (error) {
      return { status: 0, body: error instanceof Error ? error.message : String(error) };
    }
  }

  log(sub: LogSubscription, handlers: LogHandlers): Subscription {
    let open = true;
    const live = this.client.log(sub, {
      frame: (data) => {
        const frame = open ? decodeLogFrame(data) : null;
        if (frame !== null) handlers.batch(frame.transactions);
      },
      lost: (records, reason) => {
        if (open) handlers.lost(records, reason);
      },
      end: (error) => {
        if (!open) return;
        if (error !== null) handlers.failed(error.detail ?? error.message);
        else handlers.ended?.();
      },
    });
    return {
      close: () => {
        open = false;
        live.end();
      },
    };
  }

  setInterval(seconds: number): void {
    this.interval = seconds;
    this.subscribeCounters();
  }

  sampleNow(): void {
    this.subscribeCounters();
  }

  close(): void {
    this.client.close();
  }

  /** A new subscription replaces the former; its first values come at once. */
  private subscribeCounters(): void {
    this.stat?.close();
    const { events } = this;
    if (events === null) return;
    let open = true;
    const live = this.client.stat(
      { interval: this.interval },
      {
        counters: (info) => {
          if (open) events.counters(info);
        },
        values: (at, values) => {
          if (open) events.values(at, values.map(BigInt));
        },
      },
    );
    this.stat = {
      close: () => {
        open = false;
        live.end();
      },
    };
  }
}
