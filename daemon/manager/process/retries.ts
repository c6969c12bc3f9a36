// When a worker that died is started again: at once at first, then after growing delays, without end. Counts failures in a
// row; what a failure is, and when a worker has served well enough to forget them, the supervisor decides.

/** Failures in a row that are retried at once. */
const FREE_TRIES = 3;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

/** Schedules restarts: at once at first, then after growing delays, without end. */
export class Retries {
  readonly #launch: () => void;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(launch: () => void) {
    this.#launch = launch;
  }

  get pending(): boolean {
    return this.#timer !== null;
  }

  /** Resets the count of failures: a worker has served, or an operator asked for a start. */
  forget(): void {
    this.#failures = 0;
  }

  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Schedules the next start; returns a text that says when. */
  next(): string {
    this.cancel();
    const late = this.#failures++ - FREE_TRIES;
    const delay = late < 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** late, MAX_DELAY_MS);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#launch();
    }, delay);
    return delay === 0
      ? 'restarted at once'
      : `next try in ${delay / 1000} s, after ${this.#failures} quick failures`;
  }
}
