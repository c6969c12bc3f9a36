// A number that all threads of a worker add to: what is under way in all of them together.

export class SharedCount {
  private readonly words: Int32Array;

  /** @param words one of shared memory; of this thread alone when absent */
  constructor(words: Int32Array = new Int32Array(1)) {
    this.words = words;
  }

  get now(): number {
    return Atomics.load(this.words, 0);
  }

  add(by: number): void {
    Atomics.add(this.words, 0, by);
  }
}
