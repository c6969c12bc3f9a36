// A counter that is incremented whenever the health of any backend or director of this worker changes: results derived
// from many of them stay valid while it does not. One counter for all, since changes are rare compared with choices of
// backends.
//
// Several threads share it, so that a change by one thread is seen by the next choice of the others: health is written
// before the epoch is incremented, and the epoch is read before health.

export class HealthEpoch {
  #words: Int32Array = new Int32Array(1);
  #at = 0;

  get now(): number {
    return Atomics.load(this.#words, this.#at);
  }

  /** Call after each change of the result of `healthy()`, and of a director's members. */
  changed(): void {
    Atomics.add(this.#words, this.#at, 1);
  }

  /** Uses a word of memory that is shared with other threads. */
  share(words: Int32Array, at: number): void {
    this.#words = words;
    this.#at = at;
  }
}

/** The counter of this thread. */
export const healthEpoch = new HealthEpoch();
