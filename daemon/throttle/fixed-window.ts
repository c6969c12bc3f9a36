// The fixed window: the first call opens it, a number of calls pass, and the first call after its end opens the next
// one. Its state is one word, start and count, which threads change by compare-exchange: no thread waits for another,
// and one that dies leaves nothing half done. Around the border of two windows twice the number may pass within a
// period; where that matters, use sliding-window.ts.

import { numberOf, stampedWord, timeOf } from './stamped-word.ts';

/** A way to count the calls of a limit. */
export interface CallWindow {
  /** Takes this number of calls, all or none. Returns 0, or milliseconds until another attempt is worthwhile. */
  take(calls: number): number;
  /** The value that take() would return. */
  wait(calls: number): number;
  /** Gives back the calls of the last take(), which must have just returned. */
  undo(calls: number): void;
  /** Calls counted at the moment. */
  used(): number;
}

/** A start up to this far ahead is due to rounding and no sign of a clock set back (milliseconds). */
const ROUNDED = 1;

export class FixedWindow implements CallWindow {
  private readonly words: BigInt64Array;
  private readonly at: number;
  private readonly calls: number;
  private readonly period: number;
  private readonly now: () => number;
  /** The start of the window of the last take(). */
  private taken = 0;

  /** Its word is the one at `at`, initially zero; the period is in milliseconds. */
  constructor(words: BigInt64Array, at: number, calls: number, period: number, now: () => number) {
    this.words = words;
    this.at = at;
    this.calls = calls;
    this.period = period;
    this.now = now;
  }

  take(calls: number): number {
    const { words, at } = this;
    for (;;) {
      const seen = Atomics.load(words, at);
      const now = this.now();
      let start = timeOf(seen);
      let used = numberOf(seen);
      if (used === 0 || start + this.period - now <= 0) {
        start = Math.ceil(now);
        used = 0;
      } else if (start - now > ROUNDED) {
        // The threads' clocks differ: the window starts over at the earlier time, and keeps its count.
        start = Math.ceil(now);
      }
      if (used + calls > this.calls) {
        if (start < timeOf(seen)) Atomics.compareExchange(words, at, seen, stampedWord(start, used));
        return start + this.period - now;
      }
      const next = stampedWord(start, used + calls);
      if (Atomics.compareExchange(words, at, seen, next) === seen) {
        this.taken = start;
        return 0;
      }
    }
  }

  wait(calls: number): number {
    const seen = Atomics.load(this.words, this.at);
    const left = timeOf(seen) + this.period - this.now();
    return left > 0 && numberOf(seen) + calls > this.calls ? Math.min(this.period + ROUNDED, left) : 0;
  }

  undo(calls: number): void {
    for (;;) {
      const seen = Atomics.load(this.words, this.at);
      // The window has ended: nothing to give back.
      if (timeOf(seen) !== this.taken) return;
      const next = stampedWord(this.taken, Math.max(0, numberOf(seen) - calls));
      if (Atomics.compareExchange(this.words, this.at, seen, next) === seen) return;
    }
  }

  used(): number {
    const seen = Atomics.load(this.words, this.at);
    return timeOf(seen) + this.period - this.now() <= 0 ? 0 : numberOf(seen);
  }
}
