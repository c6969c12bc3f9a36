// Memory shared by several threads: named pieces, of which more are made while the threads run.
//
// A piece is made under the lock of its structure, and sent to all other threads before anything refers to it. They receive
// it in sync(), synchronously, when the count of announcements has changed. Caution: a thread reaches a new piece only
// through a word that it read before sync(). Where a piece replaces another, it is filled first, then the word that names it
// is written, then announce() is called: other threads call sync() without a lock, at any moment in between.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type Lock, NO_LOCK } from './shared-lock.ts';

/** Passed to a new thread. */
export interface MemoryOffer {
  readonly pieces: ReadonlyMap<string, SharedArrayBuffer>;
  /** One word: the number of announcements. */
  readonly news: SharedArrayBuffer;
}

export class SharedMemory {
  private readonly pieces: Map<string, SharedArrayBuffer>;
  private readonly news: Int32Array;
  /** Announcements that this thread has processed. */
  private seen = -1;
  private readonly ports: readonly MessagePort[];
  private readonly listeners: (() => void)[] = [];
  /** Called where threads interact without a lock: tests insert delays. */
  delay: (() => void) | null = null;

  /** @param ports to all other threads; read synchronously */
  constructor(offer?: MemoryOffer, ports: readonly MessagePort[] = []) {
    this.pieces = new Map(offer?.pieces ?? []);
    this.news = new Int32Array(offer?.news ?? new SharedArrayBuffer(4));
    this.ports = ports;
  }

  /** For a new thread, before any thread runs. */
  offer(): MemoryOffer {
    return { pieces: this.pieces, news: this.news.buffer as SharedArrayBuffer };
  }

  /** The piece of this name; created, all zero, if necessary: under the lock of its structure, or before other threads run. */
  piece(name: string, bytes: number): SharedArrayBuffer {
    this.sync();
    const there = this.pieces.get(name);
    if (there !== undefined) return there;
    const memory = new SharedArrayBuffer(bytes);
    this.place(name, memory);
    return memory;
  }

  /** Shares existing memory under a new name; to be called like piece(). */
  place(name: string, memory: SharedArrayBuffer): void {
    this.pieces.set(name, memory);
    for (const port of this.ports) port.postMessage({ name, memory });
    this.announce();
  }

  /** Makes all threads call their listeners: a word that names a piece has changed. */
  announce(): void {
    this.delay?.();
    Atomics.add(this.news, 0, 1);
    this.delay?.();
  }

  /** Whether there are other threads. */
  get isShared(): boolean {
    return this.ports.length > 0;
  }

  /** Drops an unused piece; only without other threads, which may still have views of it. */
  drop(name: string): void {
    this.pieces.delete(name);
  }

  /** The piece of this name, if this thread has received it. */
  find(name: string): SharedArrayBuffer | undefined {
    return this.pieces.get(name);
  }

  /** Adds a listener for announcements. It must not make pieces: it may run without a lock. */
  onGrowth(attach: () => void): void {
    this.listeners.push(attach);
  }

  /** Receives pieces that other threads have made. */
  sync(): void {
    const news = Atomics.load(this.news, 0);
    if (news === this.seen) return;
    this.seen = news;
    if (this.ports.length === 0) return;
    this.receive();
    for (const attach of this.listeners) attach();
  }

  private receive(): void {
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

/** The pieces of one structure, under names with a common prefix. */
export class MemoryPart {
  private readonly memory: SharedMemory;
  private readonly prefix: string;
  /** The lock under which the structure is changed. */
  private readonly lock: Lock;

  constructor(memory: SharedMemory, prefix: string, lock: Lock = NO_LOCK) {
    this.memory = memory;
    this.prefix = prefix;
    this.lock = lock;
  }

  part(name: string): MemoryPart {
    return new MemoryPart(this.memory, `${this.prefix}${name}.`, this.lock);
  }

  /** The same part, whose structures assert that this lock is held when they are changed. */
  guardedBy(lock: Lock): MemoryPart {
    return new MemoryPart(this.memory, this.prefix, lock);
  }

  /** Throws unless this thread may change the structure. */
  assertHeld(): void {
    this.lock.assertHeld();
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

  /** Words of a structure itself, initially zero. */
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

  /** Marks where threads interact without a lock, see SharedMemory.delay. */
  point(): void {
    this.memory.delay?.();
  }

  onGrowth(attach: () => void): void {
    this.memory.onGrowth(attach);
  }
}

/** Memory private to one thread. */
export function ownMemory(): MemoryPart {
  return new MemoryPart(new SharedMemory(), '');
}
