// Memory that several threads have in common: pieces of it under names, of which more are made while the threads run.
//
// A piece is made under the lock of what it belongs to, and sent to all other threads before anything names it. They
// take what was sent in when sync() sees that there is more; nothing is polled, and nothing waits for a turn of the
// event loop. Caution: a thread sees a place in a new piece only through a word that was read before sync().

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/** What a new thread is given. */
export interface MemoryOffer {
  readonly pieces: ReadonlyMap<string, SharedArrayBuffer>;
  /** One word: how many pieces were made. */
  readonly made: SharedArrayBuffer;
}

export class SharedMemory {
  private readonly pieces: Map<string, SharedArrayBuffer>;
  private readonly made: Int32Array;
  private readonly ports: readonly MessagePort[];
  private readonly listeners: (() => void)[] = [];

  /** @param ports to every other thread; not listened to but read when there is more */
  constructor(offer?: MemoryOffer, ports: readonly MessagePort[] = []) {
    this.pieces = new Map(offer?.pieces ?? []);
    this.made = new Int32Array(offer?.made ?? new SharedArrayBuffer(4));
    this.ports = ports;
  }

  /** For a new thread, before any thread runs. */
  offer(): MemoryOffer {
    return { pieces: this.pieces, made: this.made.buffer as SharedArrayBuffer };
  }

  /** The piece of this name; made, all zero, when there is none: under the lock of what it is for, or before any other
   * thread runs. */
  piece(name: string, bytes: number): SharedArrayBuffer {
    const there = this.find(name);
    if (there !== undefined) return there;
    const memory = new SharedArrayBuffer(bytes);
    this.place(name, memory);
    return memory;
  }

  /** Gives memory that exists to all threads under a name that has none: as piece() is called. */
  place(name: string, memory: SharedArrayBuffer): void {
    this.pieces.set(name, memory);
    for (const port of this.ports) port.postMessage({ name, memory });
    Atomics.add(this.made, 0, 1);
  }

  /** Whether there are other threads. */
  get isShared(): boolean {
    return this.ports.length > 0;
  }

  /** Forgets a piece that nothing names any more; only without other threads, which might still look at it. */
  drop(name: string): void {
    this.pieces.delete(name);
  }

  /** The piece of this name, if it was made. */
  find(name: string): SharedArrayBuffer | undefined {
    this.sync();
    return this.pieces.get(name);
  }

  /** Has something called whenever others have made pieces. */
  onGrowth(look: () => void): void {
    this.listeners.push(look);
  }

  /** Takes in what others have made. */
  sync(): void {
    if (Atomics.load(this.made, 0) !== this.pieces.size) this.takeIn();
  }

  private takeIn(): void {
    let isNew = false;
    for (const port of this.ports) {
      for (;;) {
        const received = receiveMessageOnPort(port) as
          | { message: { name: string; memory: SharedArrayBuffer } }
          | undefined;
        if (received === undefined) break;
        const { name, memory } = received.message;
        if (this.pieces.has(name)) continue;
        this.pieces.set(name, memory);
        isNew = true;
      }
    }
    if (isNew) for (const look of this.listeners) look();
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

  onGrowth(look: () => void): void {
    this.memory.onGrowth(look);
  }
}

/** Memory of one thread alone. */
export function ownMemory(): MemoryPart {
  return new MemoryPart(new SharedMemory(), '');
}
