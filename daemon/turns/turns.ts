// Turns of this thread's event loop. All other clients of the thread wait while one input is processed, so work that
// may take long checks between its items whether it may continue, and defers the rest to a later turn when it may not.
// All such work of a turn shares one budget. Deferred work resumes in order, and each piece does at least one item
// before it checks, so that it ends whatever the budget is.
//
// Special case: state changes between two turns. Resumed work must check what it holds again: the client may be gone,
// the object purged, the program discarded.

/** Milliseconds (chosen): eighty hits, and a fifth of what one client may cost the others. */
const BUDGET = 2;
/** Checks between two clock readings, which take 40 ns. */
const STRIDE = 8;

interface Waiting {
  readonly run: () => void;
  /** It continues in a microtask, after its caller returns: nothing else may run before. */
  readonly isLast: boolean;
}

export class Turns {
  readonly #now: () => number;
  readonly #defer: (run: () => void) => void;
  readonly #next = (): void => this.#serve();
  #budget = (): number => BUDGET;
  #queue: Waiting[] = [];
  #scheduled = false;
  /** Whether this turn's budget has been started, and when it ends. */
  #begun = false;
  #until = 0;
  /** Checks until the next clock reading. */
  #left = 0;

  /** @param now milliseconds of a steady clock @param defer runs a function in the next turn of the event loop */
  constructor(
    now: () => number = performance.now.bind(performance),
    defer: (run: () => void) => void = setImmediate,
  ) {
    this.#now = now;
    this.#defer = defer;
  }

  /** @param budget returns the budget of a turn in milliseconds (turn_budget) */
  follow(budget: () => number): void {
    this.#budget = budget;
  }

  /** Whether this turn has time for another item. Call after each item that takes a microsecond or more. */
  mayContinue(): boolean {
    if (this.#left > 1) {
      this.#left--;
      return true;
    }
    return this.#check();
  }

  /** The last item may have taken a tenth of the budget: the next check reads the clock. */
  tookLong(): void {
    this.#left = 0;
  }

  /** Runs the rest of some work in a later turn, in order of the calls. */
  later(run: () => void): void {
    this.#queue.push({ run, isLast: false });
    this.#schedule();
  }

  /** Resolves in a later turn, in order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push({ run: resolve, isLast: true });
      this.#schedule();
    });
  }

  /** Calls `each` for all items, as many per turn as the budget allows. */
  async over<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
    for (const item of items) {
      each(item);
      if (!this.mayContinue()) await this.next();
    }
  }

  /** Runs a generator's steps, which yield where they may be interrupted, and returns its result; undefined once it is
   * no longer wanted. The first steps run at once. A step that may take a tenth of the budget yields true. */
  async through<T>(
    steps: Generator<unknown, T>,
    isWanted: () => boolean = () => true,
  ): Promise<T | undefined> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (value === true) this.tookLong();
      if (!this.mayContinue()) await this.next();
      if (!isWanted()) return undefined;
    }
  }

  #check(): boolean {
    const now = this.#now();
    if (!this.#begun) {
      this.#begun = true;
      this.#until = now + this.#budget();
      this.#schedule();
    } else if (now >= this.#until) {
      this.#left = 0;
      return false;
    }
    this.#left = STRIDE;
    return true;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#defer(this.#next);
  }

  /** Starts a turn: deferred work resumes while the budget lasts; work deferred again runs in the next turn. */
  #serve(): void {
    this.#scheduled = false;
    this.#begun = false;
    this.#left = 0;
    const queue = this.#queue;
    const waiting = queue.length;
    let served = 0;
    try {
      while (served < waiting) {
        const { run, isLast } = queue[served++] as Waiting;
        run();
        this.#left = 0;
        if (isLast || !this.mayContinue()) break;
      }
    } finally {
      // An exception of one piece must not drop the others.
      queue.splice(0, served);
      if (queue.length > 0) this.#schedule();
    }
  }
}

/** The turns of this thread. */
export const turns = new Turns();
