// When a worker that failed is tried again: at once at first, then later and later, for ever.

/** Failures in a row that are followed by a try at once. */
const FREE_TRIES = 3;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

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

  /** What failed has worked since, or somebody wants to see it tried. */
  forget(): void {
    this.#failures = 0;
  }

  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Sees to the next try; returns when that is, in words. */
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
