// Buckets of ten seconds for the last half hour.

/** Seconds of a bucket, and how many seconds are kept: twice the longest window. */
const STEP = 10;
const KEPT = 1900;

export class TimeBuckets<B> {
  readonly #make: () => B;
  /** By start time, in steps since the epoch. */
  readonly #buckets = new Map<number, B>();
  #newest = 0;

  constructor(make: () => B) {
    this.#make = make;
  }

  /** Start of the oldest bucket that is kept, in epoch seconds; negative without any. */
  get oldest(): number {
    return this.#newest * STEP - KEPT;
  }

  /** The bucket of a moment in epoch seconds; null if it is older than what is kept. */
  at(seconds: number): B | null {
    const step = Math.floor(seconds / STEP);
    if (step < this.#newest - KEPT / STEP) return null;
    const known = this.#buckets.get(step);
    if (known !== undefined) return known;
    const bucket = this.#make();
    this.#buckets.set(step, bucket);
    if (step > this.#newest) {
      this.#newest = step;
      for (const old of this.#buckets.keys()) if (old < step - KEPT / STEP) this.#buckets.delete(old);
    }
    return bucket;
  }

  /** Between two moments, in epoch seconds. */
  *between(from: number, to: number): Generator<B> {
    for (let step = Math.ceil(from / STEP); step < Math.ceil(to / STEP); step++) {
      const bucket = this.#buckets.get(step);
      if (bucket !== undefined) yield bucket;
    }
  }

  clear(): void {
    this.#buckets.clear();
    this.#newest = 0;
  }
}
