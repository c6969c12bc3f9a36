// A time and a small number in one word of 64 bits, so that both change together by one compare-exchange: all that
// threads share of a limit is made of these. The time is whole milliseconds in the upper 44 bits, the number fills the
// lower 20. Times are rounded up when they are written, so that a period is never shorter than it is said to be.

const NUMBER_BITS = 20n;
const NUMBER_MASK = (1n << NUMBER_BITS) - 1n;

/** The largest number that fits beside a time. */
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
