// Messages between threads, over a port per pair. Messages sent within one callback are posted together at its end, so that a
// thread is woken once for many.

import type { MessagePort } from 'node:worker_threads';
import { bitOf } from './subscriptions.ts';

export interface ThreadMessage {
  /** Selects the listener. */
  readonly kind: string;
}

type Listener = (message: never, from: number) => void;

export class Channel {
  readonly thread: number;
  readonly count: number;
  private readonly ports: readonly (MessagePort | null)[];
  private readonly outgoing: ThreadMessage[][];
  private readonly listeners = new Map<string, Listener>();
  private scheduled = false;
  /** Incremented each time that messages are posted. */
  round = 0;

  /** @param ports by thread; null for this one */
  constructor(thread: number, ports: readonly (MessagePort | null)[]) {
    this.thread = thread;
    this.count = ports.length;
    this.ports = ports;
    this.outgoing = ports.map(() => []);
    ports.forEach((port, from) => {
      port?.on('message', (messages: ThreadMessage[]) => {
        for (const message of messages) this.listeners.get(message.kind)?.(message as never, from);
      });
      port?.unref();
    });
  }

  /** Sets the listener of a kind of messages. */
  on<T extends ThreadMessage>(kind: T['kind'], listener: (message: T, from: number) => void): void {
    this.listeners.set(kind, listener as Listener);
  }

  /** Sends to a thread; nothing when it is this one. */
  send<T extends ThreadMessage>(to: number, message: T): void {
    if (to === this.thread) return;
    (this.outgoing[to] as ThreadMessage[]).push(message);
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => this.flush());
  }

  sendToAll<T extends ThreadMessage>(message: T): void {
    for (let to = 0; to < this.count; to++) this.send(to, message);
  }

  /** To the threads with these bits of Subscriptions. */
  sendToBits<T extends ThreadMessage>(bits: number, message: T): void {
    for (let to = 0; to < this.count; to++) if ((bits & bitOf(to)) !== 0) this.send(to, message);
  }

  private flush(): void {
    this.scheduled = false;
    this.round++;
    this.outgoing.forEach((messages, to) => {
      if (messages.length === 0) return;
      this.outgoing[to] = [];
      this.ports[to]?.postMessage(messages);
    });
  }
}
