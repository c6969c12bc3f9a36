// A time and a small number in one 64-bit word, so that both change together by one compare-exchange: all state that
// threads share for a limit consists of these. The time is whole milliseconds in the upper 44 bits, the number fills
// the lower 20. Times are rounded up when written, so that a period is never shorter than specified.

const NUMBER_BITS = 20n;
const NUMBER_MASK = (1n << NUMBER_BITS) - 1n;

/** The largest number that fits. */
export const MOST_IN_WORD = Number(NUMBER_MASK);

export function stampedWord(ms: number, number: number): bigint {
  return (BigInt(Math.ceil(ms)) << NUMBER_BITS) | BigInt(number);
}

/** Milliseconds. */
export function timeOf(word: bigint): number {
  return Number(word >> NUMBER_BITS);
}

export function numberOf(word: bigint): number {
  return Number(word & NUMBER_MASK);
}
