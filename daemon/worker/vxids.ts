// The numbers of transactions, counted by all threads of a worker together.

/** Two bits of the log's word mark the side. */
const LAST = (1 << 30) - 1;
/** Numbers between the first ones of two workers of a daemon (chosen), and how many workers differ. */
const APART = 1_000_000;
const WORKERS = 1000;

export class Vxids {
  private readonly words: Int32Array;

  /** @param words one that all threads have in common */
  constructor(words: Int32Array) {
    this.words = words;
  }

  /** In the first thread, before anybody asks. */
  begin(generation: number): void {
    this.words[0] = 1 + (generation % WORKERS) * APART;
  }

  next(): number {
    const id = Atomics.add(this.words, 0, 1);
    if (id < LAST) return id;
    // Whoever comes first begins again; numbers beyond the last one are nobody's.
    Atomics.compareExchange(this.words, 0, id + 1, 1);
    return id === LAST ? id : this.next();
  }

  last(): number {
    return (this.words[0] as number) - 1;
  }

  setNext(next: number): void {
    Atomics.store(this.words, 0, next);
  }
}
