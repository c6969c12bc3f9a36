// A recursive mutex in shared memory. A thread that cannot take it spins briefly, then sleeps on a futex.
//
// Callbacks of readers and writes to sockets must not run under a lock: after() defers them until it is released. Caution:
// waiting blocks the thread's event loop, so work under a lock is bounded work in memory, or one write to a file.

/** Words of a lock: its state, and the number of the holding thread plus one. */
export const LOCK_WORDS = 2;

const FREE = 0;
const TAKEN = 1;
/** Taken, and other threads may be asleep. */
const AWAITED = 2;

/** Attempts before a thread sleeps (chosen: about two microseconds, as long as most work under it). */
const SPINS = 100;
/** Milliseconds without a wake-up after which a lock counts as lost: no work under it takes a hundredth of that. Waited for
 * in PARTS, so that a process that was stopped for longer does not mistake its own sleep for a loss. */
const LOST = 10_000;
const PARTS = 10;
/** For a lock that is held during a write to a disk, which may take any time: waiting threads are no worse off than the
 * writer. A thread that waits too long counts as hung (heartbeats.ts). */
export const NEVER_LOST = Number.POSITIVE_INFINITY;

export interface Lock {
  /** Runs `work` under the lock and releases it, also when `work` throws. */
  hold<T>(work: () => T): T;
  /** For hot code, where hold() would allocate: `enter(); try { … } finally { leave(); }`, which test/structure checks. */
  enter(): void;
  /** Takes the lock if it is free; false otherwise. */
  tryEnter(): boolean;
  leave(): void;
  /** Runs something as soon as this thread does not hold the lock; now, if it does not. */
  after(run: () => void): void;
  /** Throws unless this thread holds the lock: called by what changes the data that the lock protects. */
  assertHeld(): void;
}

/** For a single thread. */
export const NO_LOCK: Lock = {
  hold: (work) => work(),
  enter: () => undefined,
  tryEnter: () => true,
  leave: () => undefined,
  after: (run) => run(),
  assertHeld: () => undefined,
};

export class SharedLock implements Lock {
  /** How often this thread has slept for it. */
  waits = 0;
  private readonly words: Int32Array;
  private readonly at: number;
  private readonly thread: number;
  private readonly lost: number;
  /** Called each time the lock was taken, to pick up changes of other threads. */
  entered: () => void = () => undefined;
  private depth = 0;
  private later: (() => void)[] = [];
  /** Called inside each critical section: tests insert delays. */
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

  hold<T>(work: () => T): T {
    this.enter();
    try {
      return work();
    } finally {
      this.leave();
    }
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

  /** Whether this thread holds it. */
  get isHeld(): boolean {
    return this.depth > 0;
  }

  assertHeld(): void {
    if (this.depth === 0) throw new Error('Shared data is changed without its lock');
  }

  /** The lock is not held when this throws. */
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

  /** All of them, also when one throws: each may resume a request. */
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
    this.waits++;
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
