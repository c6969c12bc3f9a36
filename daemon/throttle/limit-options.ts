// The options of a limit, and the memory that threads share for it: sixteen words, the slots, and the ring of the
// strict kind. The memory carries the limit's figures, so that threads with other options get an error. Its creator
// fills in the head before any other thread can see it.

import { MOST_IN_WORD } from './stamped-word.ts';
import type { LimitClock } from './steady-clock.ts';

export interface LimitOptions {
  /** Calls per period: 1 to 1048575. */
  calls: number;
  /** Seconds, fractions allowed: 0.001 to 31622400 (366 days). */
  period: number;
  /** No period, wherever it begins, has more than `calls`. Otherwise periods are windows opened by a first call. */
  strict?: boolean | undefined;
  /** Calls that may run at once: 1 to 4096. Unlimited by default. */
  concurrency?: number | undefined;
  /** Used instead of the clock that the threads of the process share. */
  clock?: LimitClock | undefined;
  /** The `shared` of the same limit in another thread. */
  shared?: SharedArrayBuffer | undefined;
  /** Seconds after which the slots of a silent thread are free; 10 by default. */
  lease?: number | undefined;
}

/** Indexes of the words in the shared memory. */
export const WORD = {
  format: 0,
  calls: 1,
  period: 2,
  strict: 3,
  concurrency: 4,
  lease: 5,
  /** End of the penalty in milliseconds. */
  penalty: 6,
  /** The state of the window. */
  window: 8,
  slots: 16,
} as const;

/** "throttle" in ASCII; another layout gets another value. */
const FORMAT = 0x7468726f74746c65n;
const LONGEST_PERIOD = 366 * 86_400;
const MOST_CONCURRENCY = 4096;
/** Seconds: longer than a thread usually computes without a pause (chosen). */
const LEASE = 10;
/** Earlier than any time: no penalty. */
export const NEVER = -(2n ** 62n);

/** The options as stored in memory: whole numbers, times in milliseconds. */
export interface LimitFigures {
  readonly calls: number;
  readonly period: number;
  readonly strict: number;
  readonly concurrency: number;
  readonly lease: number;
}

/** Checks the options. Throws a RangeError or TypeError with the fault and the remedy. */
export function figuresOf(options: LimitOptions): LimitFigures {
  const { calls, period, strict = false, concurrency, lease = LEASE } = options;
  if (typeof strict !== 'boolean')
    throw new TypeError(`limit(): strict is ${shown(strict)}; give true or false`);
  return {
    calls: checkedCount('limit(): calls', calls, MOST_IN_WORD, 'how many calls a period allows'),
    period: milliseconds('period', period, 'how long a period is'),
    strict: strict ? 1 : 0,
    concurrency:
      concurrency === undefined
        ? 0
        : checkedCount(
            'limit(): concurrency',
            concurrency,
            MOST_CONCURRENCY,
            'how many calls may run at once; leave it out for no such limit',
          ),
    lease: milliseconds('lease', lease, "after what silence a thread's slots are free"),
  };
}

/** Memory for a new limit, or that of the same limit in another thread. */
export function limitMemory(figures: LimitFigures, shared: SharedArrayBuffer | undefined): BigInt64Array {
  const { calls, strict, concurrency } = figures;
  const size = 8 * (WORD.slots + concurrency + strict * calls);
  const names = ['calls', 'period', 'strict', 'concurrency', 'lease'] as const;
  if (shared === undefined) {
    const words = new BigInt64Array(new SharedArrayBuffer(size));
    for (const name of names) words[WORD[name]] = BigInt(figures[name]);
    words[WORD.penalty] = NEVER;
    words[WORD.format] = FORMAT;
    return words;
  }
  if (!(shared instanceof SharedArrayBuffer) || shared.byteLength < 8 * WORD.slots || shared.byteLength % 8)
    throw new TypeError(`limit(): shared is ${shown(shared)}; give what \`shared\` is of a limit`);
  const words = new BigInt64Array(shared);
  if (words[WORD.format] !== FORMAT)
    throw new TypeError(
      'limit(): shared is not the memory of a limit of this version; give what `shared` is of a limit',
    );
  for (const name of names) {
    const there = Number(words[WORD[name]]);
    if (there !== figures[name])
      throw new RangeError(
        `limit(): ${name} is ${written(name, figures[name])} here, but ${written(name, there)} where the memory was made; give all threads the same`,
      );
  }
  return words;
}

/** A whole number from 1. */
export function checkedCount(what: string, value: unknown, most: number, meaning: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new RangeError(`${what} is ${shown(value)}; give a whole number from 1 to ${most}: ${meaning}`);
}

function milliseconds(name: string, seconds: unknown, meaning: string): number {
  if (typeof seconds === 'number' && seconds >= 0.001 && seconds <= LONGEST_PERIOD)
    return Math.ceil(seconds * 1000 - 1e-6);
  throw new RangeError(
    `limit(): ${name} is ${shown(seconds)}; give seconds from 0.001 to ${LONGEST_PERIOD}: ${meaning}`,
  );
}

function written(name: keyof LimitFigures, value: number): string {
  if (name === 'strict') return String(value === 1);
  if (name === 'concurrency' && value === 0) return 'not limited';
  return name === 'period' || name === 'lease' ? `${value / 1000} s` : String(value);
}

/** Describes a value in an error message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `the text '${value.slice(0, 40)}'`;
  if (value !== null && typeof value === 'object') return `an object (${value.constructor?.name ?? 'plain'})`;
  if (typeof value === 'function') return 'a function';
  return String(value);
}
