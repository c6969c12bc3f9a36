// A lock in shared memory, for work on what several threads have in common. A thread that waits spins for a moment, and
// then sleeps until it is woken.
//
// It counts how often its own thread has entered, so that work under the lock may call other work under the lock.
// Whatever must not run under it (callbacks of readers, writes to sockets) is put off with after(). Caution: waiting
// stops the thread's event loop, so what is done under a lock is bounded work in memory, or one write to a file.

/** Words of a lock: its state, and the thread that has it plus one. */
export const LOCK_WORDS = 2;

const FREE = 0;
const TAKEN = 1;
/** Taken, and somebody may sleep. */
const AWAITED = 2;

/** Looks at the lock before a thread sleeps (chosen: about two microseconds, as long as most work under it). */
const SPINS = 100;
/** Milliseconds without anybody being woken after which a lock counts as lost: no work under it takes a hundredth of
 * that. They count in parts, so that a process that was stopped for longer does not take its own sleep for a loss. */
const LOST = 10_000;
const PARTS = 10;
/** For a lock that is held during a write to a disk, which may take any time: whoever waits for it is as well off as whoever
 * writes. A thread that waits too long is one that hangs (heartbeats.ts). */
export const NEVER_LOST = Number.POSITIVE_INFINITY;

/** What the parts of the cache ask of a lock. */
export interface Lock {
  enter(): void;
  /** Enters if that needs no waiting; whether it has. */
  tryEnter(): boolean;
  leave(): void;
  /** Runs something once this thread no longer has the lock: at once when it has not. */
  after(run: () => void): void;
}

/** For one thread alone. */
export const NO_LOCK: Lock = {
  enter: () => undefined,
  tryEnter: () => true,
  leave: () => undefined,
  after: (run) => run(),
};

/** Milliseconds, and how many waits were longer than a spin: for the figures of a thread. */
export interface LockFigures {
  waits: number;
}

export class SharedLock implements Lock {
  readonly figures: LockFigures = { waits: 0 };
  private readonly words: Int32Array;
  private readonly at: number;
  private readonly thread: number;
  private readonly lost: number;
  /** Called each time the lock was taken: to learn what others have changed. */
  entered: () => void = () => undefined;
  private depth = 0;
  private later: (() => void)[] = [];
  /** Called inside each critical section: a test makes a delay of it. */
  delay: (() => void) | null = null;

  /**
   * @param words LOCK_WORDS words of shared memory at `at`, zero at first
   * @param lost milliseconds after which it counts as lost
   */
  constructor(words: Int32Array, at: number, thread: number, lost = LOST) {
    this.lost = lost;
    this.words = words;
    this.at = at;
    this.thread = thread;
  }

  enter(): void {
    if (this.depth++ > 0) return;
    const { words, at } = this;
    if (Atomics.compareExchange(words, at, FREE, TAKEN) !== FREE) this.wait();
    this.begin();
  }

  tryEnter(): boolean {
    const { words, at } = this;
    if (this.depth === 0 && Atomics.compareExchange(words, at, FREE, TAKEN) !== FREE) return false;
    if (this.depth++ > 0) return true;
    this.begin();
    return true;
  }

  leave(): void {
    if (--this.depth > 0) return;
    try {
      this.delay?.();
    } finally {
      this.release();
    }
    if (this.later.length > 0) this.runLater();
  }

  after(run: () => void): void {
    if (this.depth === 0) run();
    else this.later.push(run);
  }

  /** Whether this thread has it. */
  get isHeld(): boolean {
    return this.depth > 0;
  }

  /** Whoever calls enter() does not have it when that throws. */
  private begin(): void {
    this.words[this.at + 1] = this.thread + 1;
    try {
      this.delay?.();
      this.entered();
    } catch (cause) {
      this.depth--;
      this.release();
      throw cause;
    }
  }

  private release(): void {
    const { words, at } = this;
    words[at + 1] = 0;
    if (Atomics.exchange(words, at, FREE) === AWAITED) Atomics.notify(words, at, 1);
  }

  /** All of them, whatever one throws: each is somebody who waits. */
  private runLater(): void {
    let failure: { readonly cause: unknown } | null = null;
    while (this.later.length > 0 && this.depth === 0) {
      const { later } = this;
      this.later = [];
      for (const run of later) {
        try {
          run();
        } catch (cause) {
          failure ??= { cause };
        }
      }
    }
    if (failure !== null) throw failure.cause;
  }

  private wait(): void {
    const { words, at } = this;
    for (let i = 0; i < SPINS; i++) {
      if (Atomics.load(words, at) === FREE && Atomics.compareExchange(words, at, FREE, TAKEN) === FREE)
        return;
    }
    this.figures.waits++;
    let timeouts = 0;
    while (Atomics.exchange(words, at, AWAITED) !== FREE) {
      if (Atomics.wait(words, at, AWAITED, this.lost / PARTS) !== 'timed-out') timeouts = 0;
      else if (++timeouts === PARTS) this.giveUp();
    }
  }

  private giveUp(): never {
    this.depth--;
    const holder = (this.words[this.at + 1] as number) - 1;
    throw new Error(`A lock was not released within ${this.lost / 1000} s; thread ${holder} has it`);
  }
}
