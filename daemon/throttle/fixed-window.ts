// The fixed window: it is opened by the first call, lets so many calls through, and the first call after its end opens
// the next. One word is all its state, its start and the calls counted in it, and threads swap that by compare-exchange:
// none ever waits for another, and a thread that dies leaves nothing half done. Around the border of two windows twice
// the number may pass within a period; where that matters, sliding-window.ts is the other kind.

import { numberOf, stampedWord, timeOf } from './stamped-word.ts';

/** How the calls of a limit are counted. */
export interface CallWindow {
  /** Takes so many calls, all or none: 0, or the milliseconds until it is worth another try. */
  take(calls: number): number;
  /** What take() would return. */
  wait(calls: number): number;
  /** Gives back the calls of the last take(), which must have been just now. */
  undo(calls: number): void;
  /** Calls counted now. */
  used(): number;
}

/** A start this far ahead is one that was rounded up, and no sign of a clock that went back (milliseconds). */
const ROUNDED = 1;

export class FixedWindow implements CallWindow {
  private readonly words: BigInt64Array;
  private readonly at: number;
  private readonly calls: number;
  private readonly period: number;
  private readonly now: () => number;
  /** The start of the window of the last take(). */
  private taken = 0;

  /** Its word is that at `at`, zero in the beginning; the period is in milliseconds. */
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
        // Threads whose clocks differ: the window begins again at the earlier hour, with its calls.
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
      // Of a window that has ended nothing can be given back.
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
