// Lifetimes as numbers, and as a soft purge leaves them: of objects in memory (lifetimes.ts) and of records on disk (object-tier.ts).
// Durations are seconds, times are seconds since the epoch.

/** `tOrigin` is seconds since the epoch. */
export interface Lives {
  tOrigin: number;
  ttl: number;
  grace: number;
  keep: number;
}

/** Lifetimes set by a soft purge: ttl from now, negative for how long ago it ended; a negative grace or keep is unchanged. */
export interface SoftPurge {
  ttl: number;
  grace: number;
  keep: number;
  /** They are upper bounds: nothing gets longer. */
  shortens?: boolean;
}

/** The smallest ttl that is set, in seconds: an object needs one to be stale. */
const LEAST = 0.001;

/**
 * The lifetimes that a soft purge at `at` leaves. Those of a stale object are set as well, and some may be longer than before,
 * unless they are upper bounds.
 */
export function softened({ tOrigin, ttl, grace, keep }: Lives, soft: SoftPurge, at: number): Lives {
  const shortens = soft.shortens === true;
  const left = (before: number, set: number): number =>
    set < 0 || (shortens && before <= set) ? before : set;
  const rest = { grace: left(grace, soft.grace), keep: left(keep, soft.keep) };
  const end = at + soft.ttl;
  if (shortens && tOrigin + ttl <= end) return { tOrigin, ttl, ...rest };
  // 0 is stale, negative is not found by lookups.
  return { ...(soft.ttl < 0 ? { tOrigin, ttl: end - tOrigin } : endingAt(tOrigin, end)), ...rest };
}

/** The ttl ends at `at`. */
export function endingAt(tOrigin: number, at: number): Pick<Lives, 'tOrigin' | 'ttl'> {
  if (at - tOrigin >= LEAST) return { tOrigin, ttl: at - tOrigin };
  // Made at that moment or later. With a ttl of 0 it would lose its grace, too.
  const before = at - LEAST;
  // Not LEAST: this difference is exact, and so is its sum with the origin.
  return { tOrigin: before, ttl: at - before };
}
