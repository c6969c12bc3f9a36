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

interface ReaderLeftSaid {
  readonly kind: 'reader left';
  readonly oc: number;
}

/** Who takes in what others say. */
export interface PeerListener {
  rush(oh: number, alone: boolean): void;
  progress(oc: number): void;
  readerLeft(oc: number): void;
}

/** The thread that does the cache's maintenance. */
const MAINTAINER = 0;

export class ThreadPeers {
  readonly thread: number;
  private readonly talk: Talk;
  private readonly waiting: Interest;
  private readonly reading: Interest;
  /** Objects that something was said of in the messages that have not gone out yet, and to whom. */
  private readonly told = new Map<number, number>();
  private round = 0;

  constructor(talk: Talk, memory: MemoryPart) {
    this.talk = talk;
    this.thread = talk.thread;
    const words = (name: string): Int32Array => new Int32Array(memory.piece(name, INTEREST_WORDS * 4));
    this.waiting = new Interest(words('waiting'), talk.thread);
    this.reading = new Interest(words('reading'), talk.thread);
  }

  listen(listener: PeerListener, wake: () => void): void {
    this.talk.on<RushSaid>('rush', ({ oh, alone }) => listener.rush(oh, alone));
    this.talk.on<ProgressSaid>('progress', ({ oc }) => listener.progress(oc));
    this.talk.on<ReaderLeftSaid>('reader left', ({ oc }) => listener.readerLeft(oc));
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
    if (bits === 0) return;
    const { told, talk } = this;
    if (this.round !== talk.round) {
      this.round = talk.round;
      told.clear();
    }
    const before = told.get(oc) ?? 0;
    const left = bits & ~before;
    if (left === 0) return;
    told.set(oc, before | bits);
    talk.sayToBits<ProgressSaid>(left, { kind: 'progress', oc });
  }

  readerLeft(thread: number, oc: number): void {
    // Its number was read beside the lock: it may be none.
    if (thread >= 0 && thread < this.talk.count)
      this.talk.say<ReaderLeftSaid>(thread, { kind: 'reader left', oc });
  }

  wakeMaintenance(): void {
    this.talk.say(MAINTAINER, { kind: 'wake' });
  }
}
