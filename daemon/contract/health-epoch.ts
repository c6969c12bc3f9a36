// When the health of any backend or director of this worker changed last, as a number: whoever has looked at many of them
// need not look again while it stays. One number for all, since changes are rare beside the choices among backends.
//
// With several threads it is a word that they share, so that what one of them writes is seen by the next choice of the
// others: health is written before the epoch goes on, and the epoch is read before health.

export class HealthEpoch {
  #words: Int32Array = new Int32Array(1);
  #at = 0;

  get now(): number {
    return Atomics.load(this.#words, this.#at);
  }

  /** Call it after each change of what `healthy()` says, and of who belongs to a director. */
  changed(): void {
    Atomics.add(this.#words, this.#at, 1);
  }

  /** Has it in common with other threads: a word of memory that all of them have. */
  share(words: Int32Array, at: number): void {
    this.#words = words;
    this.#at = at;
  }
}

/** That of this thread. */
export const healthEpoch = new HealthEpoch();
