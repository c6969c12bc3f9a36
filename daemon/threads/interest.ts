// Who is to be told: which threads wait for something about a number (a key's place, an object's row). A bit a thread in
// one of many words, so that a thread that has something to say wakes nobody for nothing most of the time.
//
// Numbers share words, and threads beyond the thirty-second share bits: somebody may be woken without a reason, and
// nobody is forgotten.

/** Words; a power of two. */
export const INTEREST_WORDS = 4096;
const BITS = 32;

export class Interest {
  private readonly words: Int32Array;
  private readonly bit: number;
  /** This thread's own, by word. */
  private readonly counts = new Int32Array(INTEREST_WORDS);

  /** @param words INTEREST_WORDS of shared memory */
  constructor(words: Int32Array, thread: number) {
    this.words = words;
    this.bit = bitOf(thread);
  }

  add(number: number): void {
    const at = placeOf(number);
    const count = this.counts[at] as number;
    this.counts[at] = count + 1;
    if (count === 0) Atomics.or(this.words, at, this.bit);
  }

  remove(number: number): void {
    const at = placeOf(number);
    const count = (this.counts[at] as number) - 1;
    this.counts[at] = count;
    if (count === 0) Atomics.and(this.words, at, ~this.bit);
  }

  /** The bits of the other threads that may wait for this; 0 for nobody. */
  others(number: number): number {
    return Atomics.load(this.words, placeOf(number)) & ~this.bit;
  }
}

/** The bit that stands for a thread. */
export function bitOf(thread: number): number {
  return 1 << (thread % BITS);
}

function placeOf(number: number): number {
  return (Math.imul(number, 0x9e3779b1) >>> 16) & (INTEREST_WORDS - 1);
}
