// Units: branded numbers that prevent mix-ups (durations, points in time, transaction ids), and the table of time
// units.

declare const unit: unique symbol;
type Branded<B extends string> = number & { readonly [unit]?: B };

/** A duration in seconds, fractions allowed. */
export type Seconds = Branded<'Seconds'>;
/** A point in time in seconds since 1970-01-01T00:00:00Z, fractions allowed. */
export type EpochSeconds = Branded<'EpochSeconds'>;
/** A transaction id as in vsl(7); 0 is "no transaction". */
export type Vxid = Branded<'Vxid'>;

/** Seconds. */
export const MINUTE = 60;
export const HOUR = 3600;
export const DAY = 86_400;

/** Seconds of each unit of a duration, wherever one is written: programs, parameters, bans, options (vcl(7)). */
export const TIME_UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 0.001],
  ['s', 1],
  ['m', MINUTE],
  ['h', HOUR],
  ['d', DAY],
  ['w', 7 * DAY],
  ['y', 365 * DAY],
]);

/** Their names as alternatives of a regular expression. */
export const TIME_UNIT_NAMES = [...TIME_UNITS.keys()].join('|');

/** Exhaustiveness check for switches over discriminated unions. */
export function unreachable(x: never): never {
  throw new Error(`unreachable: ${JSON.stringify(x)}`);
}
