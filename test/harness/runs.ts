// How many random cases a test plays: all of them where PROXYD_RUNS is `full`, as in the tiers that run whole, and a fifth
// of them in the quick tier, which everybody waits for. A number that is set by hand, to look for more, is not changed.

/** A property that cannot fail in this many cases is too weak anyway. */
const FEWEST = 10;

export const isFull = process.env.PROXYD_RUNS === 'full';

/** The cases to play, out of `all`: each of them, or every fifth from the first on and the last. */
export function sampled<Case>(all: readonly Case[]): Case[] {
  return all.filter((_, at) => isFull || at % 5 === 0 || at === all.length - 1);
}

/** The number of cases to play, out of `all`. */
export function runs(all: number): number {
  return isFull ? all : Math.min(all, Math.max(FEWEST, Math.ceil(all / 5)));
}
