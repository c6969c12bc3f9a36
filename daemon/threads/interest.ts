// Who is to be told: which threads wait for something about a number (a key's place, an object's row). A bit a thread in
// one of many words, so that a thread that has something to say wakes nobody for nothing most of the time.
//
// Numbers share words, and threads beyond the thirty-first share a bit, which stays once it is set: somebody may be
// woken without a reason, and nobody is forgotten.

/** Words; a power of two. */
export const INTEREST_WORDS = 4096;
/** Threads with a bit of their own. */
const OWN_BITS = 31;
const COMMON = 1 << OWN_BITS;

export class Interest {
  private readonly words: Int32Array;
  private readonly bit: number;
  /** Of the bits in a word, those that may stand for other threads. */
  private readonly ofOthers: number;
  /** This thread's own, by word. */
  private readonly counts = new Int32Array(INTEREST_WORDS);

  /** @param words INTEREST_WORDS of shared memory */
  constructor(words: Int32Array, thread: number) {
    this.words = words;
    this.bit = bitOf(thread);
    this.ofOthers = this.bit === COMMON ? -1 : ~this.bit;
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
    if (count === 0 && this.bit !== COMMON) Atomics.and(this.words, at, ~this.bit);
  }

  /** The bits of the other threads that may wait for this; 0 for nobody. */
  others(number: number): number {
    return Atomics.load(this.words, placeOf(number)) & this.ofOthers;
  }
}

/** The bit that stands for a thread. */
export function bitOf(thread: number): number {
  return thread < OWN_BITS ? 1 << thread : COMMON;
}

function placeOf(number: number): number {
  return (Math.imul(number, 0x9e3779b1) >>> 16) & (INTEREST_WORDS - 1);
}
