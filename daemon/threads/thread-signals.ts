// The signals of one cache's threads (CacheSignals in daemon/cache/signals.ts): subscriptions are in shared memory, and
// signals are messages to the threads that subscribed.

import type { Channel } from './channel.ts';
import type { MemoryPart } from './shared-memory.ts';
import { SUBSCRIPTION_WORDS, Subscriptions } from './subscriptions.ts';

interface RushSignal {
  readonly kind: 'rush';
  readonly oh: number;
  readonly alone: boolean;
}

interface ProgressSignal {
  readonly kind: 'progress';
  readonly oc: number;
}

interface ReaderLeftSignal {
  readonly kind: 'reader left';
  readonly oc: number;
}

/** Receives the signals of other threads. */
export interface SignalListener {
  rush(oh: number, alone: boolean): void;
  progress(oc: number): void;
  readerLeft(oc: number): void;
}

/** The thread that runs the cache's maintenance. */
const MAINTAINER = 0;

export class ThreadSignals {
  readonly thread: number;
  private readonly channel: Channel;
  private readonly waiting: Subscriptions;
  private readonly reading: Subscriptions;
  /** Progress signals in messages that are not posted yet: bits of the threads they go to, by object. */
  private readonly queued = new Map<number, number>();
  private round = 0;

  constructor(channel: Channel, memory: MemoryPart) {
    this.channel = channel;
    this.thread = channel.thread;
    const words = (name: string): Int32Array => new Int32Array(memory.piece(name, SUBSCRIPTION_WORDS * 4));
    this.waiting = new Subscriptions(words('waiting'), channel.thread);
    this.reading = new Subscriptions(words('reading'), channel.thread);
  }

  listen(listener: SignalListener, wake: () => void): void {
    this.channel.on<RushSignal>('rush', ({ oh, alone }) => listener.rush(oh, alone));
    this.channel.on<ProgressSignal>('progress', ({ oc }) => listener.progress(oc));
    this.channel.on<ReaderLeftSignal>('reader left', ({ oc }) => listener.readerLeft(oc));
    this.channel.on('wake', wake);
  }

  addWaiter(oh: number): void {
    this.waiting.add(oh);
  }

  removeWaiter(oh: number): void {
    this.waiting.remove(oh);
  }

  hasRemoteWaiters(oh: number): boolean {
    return this.waiting.others(oh) !== 0;
  }

  rush(oh: number, alone: boolean): void {
    const bits = this.waiting.others(oh);
    if (bits !== 0) this.channel.sendToBits<RushSignal>(bits, { kind: 'rush', oh, alone });
  }

  addReader(oc: number): void {
    this.reading.add(oc);
  }

  removeReader(oc: number): void {
    this.reading.remove(oc);
  }

  progress(oc: number): void {
    const bits = this.reading.others(oc);
    if (bits === 0) return;
    const { queued, channel } = this;
    if (this.round !== channel.round) {
      this.round = channel.round;
      queued.clear();
    }
    const before = queued.get(oc) ?? 0;
    const left = bits & ~before;
    if (left === 0) return;
    queued.set(oc, before | bits);
    channel.sendToBits<ProgressSignal>(left, { kind: 'progress', oc });
  }

  readerLeft(thread: number, oc: number): void {
    // The number was read without the lock, and may be stale.
    if (thread >= 0 && thread < this.channel.count)
      this.channel.send<ReaderLeftSignal>(thread, { kind: 'reader left', oc });
  }

  wakeMaintenance(): void {
    this.channel.send(MAINTAINER, { kind: 'wake' });
  }
}
