// The other threads of one cache: who waits for what is in shared memory (interest.ts), and what has come is said over
// the ports (talk.ts). The methods are those of `Peers` in daemon/cache/peers.ts.

import { INTEREST_WORDS, Interest } from './interest.ts';
import type { MemoryPart } from './shared-memory.ts';
import type { Talk } from './talk.ts';

interface RushSaid {
  readonly kind: 'rush';
  readonly oh: number;
  readonly alone: boolean;
}

interface ProgressSaid {
  readonly kind: 'progress';
  readonly oc: number;
}

/** Who takes in what others say. */
export interface PeerListener {
  rush(oh: number, alone: boolean): void;
  progress(oc: number): void;
}

/** The thread that does the cache's maintenance. */
const MAINTAINER = 0;

export class ThreadPeers {
  private readonly talk: Talk;
  private readonly waiting: Interest;
  private readonly reading: Interest;
  /** Objects that this callback has said something of already. */
  private readonly told = new Set<number>();

  constructor(talk: Talk, memory: MemoryPart) {
    this.talk = talk;
    const words = (name: string): Int32Array => new Int32Array(memory.piece(name, INTEREST_WORDS * 4));
    this.waiting = new Interest(words('waiting'), talk.thread);
    this.reading = new Interest(words('reading'), talk.thread);
  }

  listen(listener: PeerListener, wake: () => void): void {
    this.talk.on<RushSaid>('rush', ({ oh, alone }) => listener.rush(oh, alone));
    this.talk.on<ProgressSaid>('progress', ({ oc }) => listener.progress(oc));
    this.talk.on('wake', wake);
  }

  waits(oh: number): void {
    this.waiting.add(oh);
  }

  waitsNoMore(oh: number): void {
    this.waiting.remove(oh);
  }

  othersWait(oh: number): boolean {
    return this.waiting.others(oh) !== 0;
  }

  rush(oh: number, alone: boolean): void {
    const bits = this.waiting.others(oh);
    if (bits !== 0) this.talk.sayToBits<RushSaid>(bits, { kind: 'rush', oh, alone });
  }

  reads(oc: number): void {
    this.reading.add(oc);
  }

  readsNoMore(oc: number): void {
    this.reading.remove(oc);
  }

  progress(oc: number): void {
    const bits = this.reading.others(oc);
    if (bits === 0 || this.told.has(oc)) return;
    if (this.told.size === 0) queueMicrotask(() => this.told.clear());
    this.told.add(oc);
    this.talk.sayToBits<ProgressSaid>(bits, { kind: 'progress', oc });
  }

  wakeMaintenance(): void {
    this.talk.say(MAINTAINER, { kind: 'wake' });
  }
}
