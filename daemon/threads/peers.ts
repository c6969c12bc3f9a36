// One thread's view of the threads of a worker: its number, its ports to the others, and shared memory and locks. The first
// thread makes the slots of all, and passes each of the others its slot when it starts.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Channel } from './channel.ts';
import { Heartbeats } from './heartbeats.ts';
import { LOCK_WORDS, SharedLock } from './shared-lock.ts';
import { type MemoryOffer, MemoryPart, SharedMemory } from './shared-memory.ts';
import { ThreadSignals } from './thread-signals.ts';

/** Passed to a thread when it starts; transferable. */
export interface ThreadSlot {
  readonly thread: number;
  /** By thread; null for itself. */
  readonly memoryPorts: (MessagePort | null)[];
  readonly channelPorts: (MessagePort | null)[];
}

export class Peers {
  readonly thread: number;
  /** Number of threads, this one included. */
  readonly count: number;
  readonly memory: SharedMemory;
  readonly channel: Channel;
  /** The lock of the cache. */
  readonly lock: SharedLock;
  readonly signals: ThreadSignals;
  readonly heartbeats: Heartbeats;
  private readonly locks: SharedLock[] = [];

  /** @param offer from the first thread; absent for the first thread itself */
  constructor(slot: ThreadSlot, offer?: MemoryOffer) {
    this.thread = slot.thread;
    this.count = slot.channelPorts.length;
    const ports = slot.memoryPorts.filter((port) => port !== null);
    this.memory = new SharedMemory(offer, ports);
    this.channel = new Channel(slot.thread, slot.channelPorts);
    const own = new MemoryPart(this.memory, 'threads.');
    this.lock = this.makeLock('cache');
    this.signals = new ThreadSignals(this.channel, own);
    this.heartbeats = new Heartbeats(this.part('beats').words(this.count), slot.thread);
  }

  /** A lock by name. @param lost see SharedLock */
  makeLock(name: string, lost?: number): SharedLock {
    const words = new MemoryPart(this.memory, `lock.${name}.`).words(LOCK_WORDS);
    const lock = new SharedLock(words, 0, this.thread, lost);
    this.locks.push(lock);
    return lock;
  }

  /** How often this thread has slept for a lock. */
  get lockWaits(): number {
    return this.locks.reduce((sum, { waits }) => sum + waits, 0);
  }

  part(name: string): MemoryPart {
    return new MemoryPart(this.memory, `${name}.`);
  }
}

/** Node's names of processors that read and write an aligned double whole. */
const WHOLE_DOUBLES: readonly string[] = ['x64', 'arm64', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el'];

/** Throws for several threads on a 32-bit processor: threads read doubles of shared tables without a lock, and there could see
 * half of one value and half of another. */
export function makeSlots(count: number, arch: string = process.arch): ThreadSlot[] {
  if (count > 1 && !WHOLE_DOUBLES.includes(arch))
    throw new Error(
      `Several worker threads need a 64-bit processor, and this is ${arch}: set worker_threads to 1`,
    );
  const memory = pairPorts(count);
  const channel = pairPorts(count);
  return Array.from({ length: count }, (_, thread) => ({
    thread,
    memoryPorts: memory[thread] as (MessagePort | null)[],
    channelPorts: channel[thread] as (MessagePort | null)[],
  }));
}

/** The ports of a slot, to be transferred to its thread. */
export function portsOf(slot: ThreadSlot): MessagePort[] {
  return [...slot.memoryPorts, ...slot.channelPorts].filter((port) => port !== null);
}

/** A port for each pair of threads: those of thread i are in row i. */
function pairPorts(count: number): (MessagePort | null)[][] {
  const rows = Array.from({ length: count }, () => new Array<MessagePort | null>(count).fill(null));
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) {
      const { port1, port2 } = new MessageChannel();
      (rows[a] as (MessagePort | null)[])[b] = port1;
      (rows[b] as (MessagePort | null)[])[a] = port2;
    }
  }
  return rows;
}
