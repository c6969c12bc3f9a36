// Branded numbers for what gets confused most often: durations, points in time, transaction ids.

declare const unit: unique symbol;
type Branded<B extends string> = number & { readonly [unit]?: B };

/** A duration in seconds, fractions allowed. */
export type Seconds = Branded<'Seconds'>;
/** A point in time in seconds since 1970-01-01T00:00:00Z, fractions allowed. */
export type EpochSeconds = Branded<'EpochSeconds'>;
/** A transaction id as vsl(7) numbers them; 0 is "no transaction". */
export type Vxid = Branded<'Vxid'>;

/** Exhaustiveness check for switches over discriminated unions. */
export function unreachable(x: never): never {
  throw new Error(`unreachable: ${JSON.stringify(x)}`);
}
