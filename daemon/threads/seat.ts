// A thread's place among those that serve together: its number, its ports to the others, and what all have in common.
// The first thread makes the seats of all, takes its own, and gives each of the others theirs when it is started.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Heartbeats } from './heartbeats.ts';
import { LOCK_WORDS, SharedLock } from './shared-lock.ts';
import { type MemoryOffer, MemoryPart, SharedMemory } from './shared-memory.ts';
import { Talk } from './talk.ts';
import { ThreadPeers } from './thread-peers.ts';

/** What a thread is started with; all of it can be sent to it. */
export interface Seat {
  readonly thread: number;
  /** By thread; null for itself. */
  readonly memoryPorts: (MessagePort | null)[];
  readonly talkPorts: (MessagePort | null)[];
}

export class Companions {
  readonly thread: number;
  /** Threads, this one included. */
  readonly count: number;
  readonly memory: SharedMemory;
  readonly talk: Talk;
  /** For all that belongs to the cache. */
  readonly lock: SharedLock;
  readonly peers: ThreadPeers;
  readonly heartbeats: Heartbeats;
  private readonly locks: SharedLock[] = [];

  /** @param offer of the first thread, for all others */
  constructor(seat: Seat, offer?: MemoryOffer) {
    this.thread = seat.thread;
    this.count = seat.talkPorts.length;
    const ports = seat.memoryPorts.filter((port) => port !== null);
    this.memory = new SharedMemory(offer, ports);
    this.talk = new Talk(seat.thread, seat.talkPorts);
    const own = new MemoryPart(this.memory, 'threads.');
    this.lock = this.makeLock('cache');
    this.peers = new ThreadPeers(this.talk, own);
    this.heartbeats = new Heartbeats(this.part('beats').words(this.count), seat.thread);
  }

  /** A lock by its name. @param lost as of SharedLock */
  makeLock(name: string, lost?: number): SharedLock {
    const words = new MemoryPart(this.memory, `lock.${name}.`).words(LOCK_WORDS);
    const lock = new SharedLock(words, 0, this.thread, lost);
    this.locks.push(lock);
    return lock;
  }

  /** How often this thread has slept for one of its locks. */
  get lockWaits(): number {
    return this.locks.reduce((sum, { figures }) => sum + figures.waits, 0);
  }

  part(name: string): MemoryPart {
    return new MemoryPart(this.memory, `${name}.`);
  }
}

/** The seats of so many threads. */
export function makeSeats(count: number): Seat[] {
  const memory = pairPorts(count);
  const talk = pairPorts(count);
  return Array.from({ length: count }, (_, thread) => ({
    thread,
    memoryPorts: memory[thread] as (MessagePort | null)[],
    talkPorts: talk[thread] as (MessagePort | null)[],
  }));
}

/** The ports of a seat, which go over to its thread. */
export function portsOf(seat: Seat): MessagePort[] {
  return [...seat.memoryPorts, ...seat.talkPorts].filter((port) => port !== null);
}

/** A port for each pair of so many threads: those of thread i are in row i. */
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
