// Serial numbers in 32-bit words: they wrap, and are compared by their distance, which must stay below 2^31. Bans that are
// in the list, and purges within one fetch, are never that far apart.

/** The number after this one; never 0, which stands for none. */
export function nextSerial(number: number): number {
  return (number + 1) | 0 || 1;
}

export function isNewer(a: number, b: number): boolean {
  return ((a - b) | 0) > 0;
}
