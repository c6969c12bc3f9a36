// A counter shared by all threads of a worker.

export class SharedCount {
  private readonly words: Int32Array;

  /** @param words one word of shared memory; private to this thread when absent */
  constructor(words: Int32Array = new Int32Array(1)) {
    this.words = words;
  }

  get now(): number {
    return Atomics.load(this.words, 0);
  }

  add(by: number): void {
    Atomics.add(this.words, 0, by);
  }

  /** Adds one unless the count has reached `most`; false then. 0 is no limit. */
  take(most: number): boolean {
    const { words } = this;
    for (let now = this.now; most === 0 || now < most; ) {
      const seen = Atomics.compareExchange(words, 0, now, now + 1);
      if (seen === now) return true;
      now = seen;
    }
    return false;
  }
}
