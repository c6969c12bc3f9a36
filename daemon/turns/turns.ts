// The turns of this thread's event loop. Whatever one input costs in one turn, all other clients of the thread wait for.
// So work that may be long asks between its items whether it may go on, and gives the rest to a later turn when it may
// not. All long work of a turn shares one budget; work that waits is resumed in the order in which it came, and each
// piece of it does at least one item before it asks, so that it ends whatever the budget is.
//
// Special case: the world changes between two turns. Whoever resumes looks again at what it holds: the client may have
// gone, the object may be purged, the program discarded.

/** Milliseconds (chosen): eighty hits, and a fifth of what one client may cost the others. */
const BUDGET = 2;
/** Asks between two looks at the clock, which take 40 ns. */
const STRIDE = 8;

interface Waiting {
  readonly run: () => void;
  /** It goes on in a microtask, after the one who called it: nothing else runs before. */
  readonly isLast: boolean;
}

export class Turns {
  readonly #now: () => number;
  readonly #defer: (run: () => void) => void;
  readonly #next = (): void => this.#serve();
  #budget = (): number => BUDGET;
  #queue: Waiting[] = [];
  #scheduled = false;
  /** Whether somebody has asked in this turn, and until when its budget lasts. */
  #begun = false;
  #until = 0;
  /** Asks until the clock is read again. */
  #left = 0;

  /** @param now milliseconds of a steady clock @param defer runs something in the next turn of the event loop */
  constructor(
    now: () => number = performance.now.bind(performance),
    defer: (run: () => void) => void = setImmediate,
  ) {
    this.#now = now;
    this.#defer = defer;
  }

  /** @param budget of a turn from now on, in milliseconds (turn_budget) */
  follow(budget: () => number): void {
    this.#budget = budget;
  }

  /** Whether this turn has time for another item. Ask after each that takes a microsecond or more. */
  mayGoOn(): boolean {
    if (this.#left > 1) {
      this.#left--;
      return true;
    }
    return this.#look();
  }

  /** The item that was done last is one of those that may take a tenth of the budget: the next ask reads the clock. */
  tookLong(): void {
    this.#left = 0;
  }

  /** Runs the rest of some work in a later turn, after what came before it. */
  later(run: () => void): void {
    this.#queue.push({ run, isLast: false });
    this.#schedule();
  }

  /** The same for a function that awaits. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push({ run: resolve, isLast: true });
      this.#schedule();
    });
  }

  /** Calls `each` for all items, as many in a turn as its budget allows. */
  async over<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
    for (const item of items) {
      each(item);
      if (!this.mayGoOn()) await this.next();
    }
  }

  /** Goes through steps, which yield where they may be interrupted, and gives what they return; undefined once nobody wants
   * the rest of them. The first are taken at once. One that may take a tenth of the budget yields true. */
  async through<T>(
    steps: Generator<unknown, T>,
    isWanted: () => boolean = () => true,
  ): Promise<T | undefined> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (value === true) this.tookLong();
      if (!this.mayGoOn()) await this.next();
      if (!isWanted()) return undefined;
    }
  }

  #look(): boolean {
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

  /** A new turn: those who wait go on while its budget lasts, and whoever waits again is served in the next one. */
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
        if (isLast || !this.mayGoOn()) break;
      }
    } finally {
      // What one throws must not keep the others.
      queue.splice(0, served);
      if (queue.length > 0) this.#schedule();
    }
  }
}

/** Those of this thread, or of a process that has but one. */
export const turns = new Turns();
