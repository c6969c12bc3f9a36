// What threads say to each other: plain messages over a port for each pair. What is said within one callback goes out
// together at its end, so that a thread is woken once for many.

import type { MessagePort } from 'node:worker_threads';
import { bitOf } from './interest.ts';

/** A message, whose kind says who takes it. */
export interface Said {
  readonly kind: string;
}

export type Listener = (message: never, from: number) => void;

export class Talk {
  readonly thread: number;
  readonly count: number;
  private readonly ports: readonly (MessagePort | null)[];
  private readonly outgoing: Said[][];
  private readonly listeners = new Map<string, Listener>();
  private scheduled = false;
  /** Goes up each time that messages go out. */
  round = 0;

  /** @param ports by thread; null for this one */
  constructor(thread: number, ports: readonly (MessagePort | null)[]) {
    this.thread = thread;
    this.count = ports.length;
    this.ports = ports;
    this.outgoing = ports.map(() => []);
    ports.forEach((port, from) => {
      port?.on('message', (messages: Said[]) => {
        for (const message of messages) this.listeners.get(message.kind)?.(message as never, from);
      });
      port?.unref();
    });
  }

  /** Calls back with each message of a kind. */
  on<T extends Said>(kind: T['kind'], listener: (message: T, from: number) => void): void {
    this.listeners.set(kind, listener as Listener);
  }

  say<T extends Said>(to: number, message: T): void {
    if (to === this.thread) return;
    (this.outgoing[to] as Said[]).push(message);
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => this.flush());
  }

  sayToAll<T extends Said>(message: T): void {
    for (let to = 0; to < this.count; to++) this.say(to, message);
  }

  /** To the threads that have these bits. */
  sayToBits<T extends Said>(bits: number, message: T): void {
    for (let to = 0; to < this.count; to++) if ((bits & bitOf(to)) !== 0) this.say(to, message);
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
