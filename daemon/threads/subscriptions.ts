// Subscriptions of threads to numbers (an objhead, an object's row): a bitmap in shared memory, one bit per thread, per hash
// slot. A sender then rarely wakes a thread without need.
//
// Numbers share slots, and threads from the thirty-second on share a bit, which is never cleared: false positives are
// possible, false negatives are not.

/** Words; a power of two. */
export const SUBSCRIPTION_WORDS = 4096;
/** Threads with a bit of their own. */
const OWN_BITS = 31;
const COMMON = 1 << OWN_BITS;

export class Subscriptions {
  private readonly words: Int32Array;
  private readonly bit: number;
  /** Mask of the bits of other threads. */
  private readonly ofOthers: number;
  /** This thread's subscriptions, by word. */
  private readonly counts = new Int32Array(SUBSCRIPTION_WORDS);

  /** @param words SUBSCRIPTION_WORDS of shared memory */
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

  /** The bits of other threads that may have subscribed; 0 for none. */
  others(number: number): number {
    return Atomics.load(this.words, placeOf(number)) & this.ofOthers;
  }
}

/** The bit of a thread. */
export function bitOf(thread: number): number {
  return thread < OWN_BITS ? 1 << thread : COMMON;
}

function placeOf(number: number): number {
  return (Math.imul(number, 0x9e3779b1) >>> 16) & (SUBSCRIPTION_WORDS - 1);
}
