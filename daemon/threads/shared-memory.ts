// Memory that several threads have in common: pieces of it under names, of which more are made while the threads run.
//
// A piece is made under the lock of what it belongs to, and sent to all other threads before anything names it. They
// take what was sent in when sync() sees that there is more; nothing is polled, and nothing waits for a turn of the
// event loop. Caution: a thread sees a place in a new piece only through a word that was read before sync(). Where a
// piece takes the place of another, it is filled first, then the word that names it is written, then announce() has the
// others look: they call sync() without any lock, and see each moment in between.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/** What a new thread is given. */
export interface MemoryOffer {
  readonly pieces: ReadonlyMap<string, SharedArrayBuffer>;
  /** One word: how often there was something new to look at. */
  readonly news: SharedArrayBuffer;
}

export class SharedMemory {
  private readonly pieces: Map<string, SharedArrayBuffer>;
  private readonly news: Int32Array;
  /** The news that this thread has looked at. */
  private seen = -1;
  private readonly ports: readonly MessagePort[];
  private readonly listeners: (() => void)[] = [];
  /** Called where threads meet without a lock: a test makes a delay of it. */
  delay: (() => void) | null = null;

  /** @param ports to every other thread; not listened to but read when there is more */
  constructor(offer?: MemoryOffer, ports: readonly MessagePort[] = []) {
    this.pieces = new Map(offer?.pieces ?? []);
    this.news = new Int32Array(offer?.news ?? new SharedArrayBuffer(4));
    this.ports = ports;
  }

  /** For a new thread, before any thread runs. */
  offer(): MemoryOffer {
    return { pieces: this.pieces, news: this.news.buffer as SharedArrayBuffer };
  }

  /** The piece of this name; made, all zero, when there is none: under the lock of what it is for, or before any other
   * thread runs. */
  piece(name: string, bytes: number): SharedArrayBuffer {
    this.sync();
    const there = this.pieces.get(name);
    if (there !== undefined) return there;
    const memory = new SharedArrayBuffer(bytes);
    this.place(name, memory);
    return memory;
  }

  /** Gives memory that exists to all threads under a name that has none: as piece() is called. */
  place(name: string, memory: SharedArrayBuffer): void {
    this.pieces.set(name, memory);
    for (const port of this.ports) port.postMessage({ name, memory });
    this.announce();
  }

  /** Has all threads look again: a word that names a piece has changed. */
  announce(): void {
    this.delay?.();
    Atomics.add(this.news, 0, 1);
    this.delay?.();
  }

  /** Whether there are other threads. */
  get isShared(): boolean {
    return this.ports.length > 0;
  }

  /** Forgets a piece that nothing names any more; only without other threads, which might still look at it. */
  drop(name: string): void {
    this.pieces.delete(name);
  }

  /** The piece of this name, if this thread knows of it. */
  find(name: string): SharedArrayBuffer | undefined {
    return this.pieces.get(name);
  }

  /** Has something called whenever there are news. It must not make pieces: it may run without any lock. */
  onGrowth(look: () => void): void {
    this.listeners.push(look);
  }

  /** Takes in what others have made. */
  sync(): void {
    const news = Atomics.load(this.news, 0);
    if (news === this.seen) return;
    this.seen = news;
    if (this.ports.length === 0) return;
    this.takeIn();
    for (const look of this.listeners) look();
  }

  private takeIn(): void {
    for (const port of this.ports) {
      for (;;) {
        const received = receiveMessageOnPort(port) as
          | { message: { name: string; memory: SharedArrayBuffer } }
          | undefined;
        if (received === undefined) break;
        const { name, memory } = received.message;
        if (!this.pieces.has(name)) this.pieces.set(name, memory);
      }
    }
  }
}

/** The pieces of one structure, whose names begin alike. */
export class MemoryPart {
  private readonly memory: SharedMemory;
  private readonly prefix: string;

  constructor(memory: SharedMemory, prefix: string) {
    this.memory = memory;
    this.prefix = prefix;
  }

  part(name: string): MemoryPart {
    return new MemoryPart(this.memory, `${this.prefix}${name}.`);
  }

  piece(name: string, bytes: number): SharedArrayBuffer {
    return this.memory.piece(this.prefix + name, bytes);
  }

  place(name: string, memory: SharedArrayBuffer): void {
    this.memory.place(this.prefix + name, memory);
  }

  find(name: string): SharedArrayBuffer | undefined {
    return this.memory.find(this.prefix + name);
  }

  drop(name: string): void {
    this.memory.drop(this.prefix + name);
  }

  /** Numbers that a structure keeps beside its pieces, zero at first. */
  words(count: number): Int32Array {
    return new Int32Array(this.piece('words', count * 4), 0, count);
  }

  get isShared(): boolean {
    return this.memory.isShared;
  }

  sync(): void {
    this.memory.sync();
  }

  announce(): void {
    this.memory.announce();
  }

  /** A place where threads meet without a lock. */
  point(): void {
    this.memory.delay?.();
  }

  onGrowth(look: () => void): void {
    this.memory.onGrowth(look);
  }
}

/** Memory of one thread alone. */
export function ownMemory(): MemoryPart {
  return new MemoryPart(new SharedMemory(), '');
}
