// Transaction ids, counted by all threads of a worker together.

/** Two bits of the log's id word mark the side. */
const LAST = (1 << 30) - 1;
/** Distance between the first ids of successive workers of a daemon (chosen), and the workers after which it
 * repeats. */
const APART = 1_000_000;
const WORKERS = 1000;

export class Vxids {
  private readonly words: Int32Array;

  /** @param words one word that all threads share */
  constructor(words: Int32Array) {
    this.words = words;
  }

  /** Call in the first thread, before any other call. */
  begin(generation: number): void {
    this.words[0] = 1 + (generation % WORKERS) * APART;
  }

  next(): number {
    const id = Atomics.add(this.words, 0, 1);
    if (id < LAST) return id;
    // The first thread past the end starts over; ids beyond the last one are not used.
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
