// The strict window: no period, wherever it begins, ever has more than the number of calls. Each call leaves its time
// in a ring with one place for each call of a period, so that memory is bounded; a place is free again when its time is
// a period ago. Threads take the next place by moving the head, one word, by compare-exchange, and write the time
// afterwards.
//
// The difficult case is a thread that pauses, or dies, between the two. A time carries the lap it belongs to, so other
// threads see that it is missing, and write their own, later one: too few calls may pass, never too many.

import type { CallWindow } from './fixed-window.ts';
import { MOST_IN_WORD, numberOf, stampedWord, timeOf } from './stamped-word.ts';

/** As in the fixed window. */
const ROUNDED = 1;

export class SlidingWindow implements CallWindow {
  private readonly words: BigInt64Array;
  private readonly at: number;
  /** Index of the first place of the ring. */
  private readonly ring: number;
  private readonly calls: number;
  private readonly period: number;
  private readonly now: () => number;
  /** The first place of the last take(). */
  private taken = 0;

  /** The head is the word at `at`, the ring begins at `ring`; all initially zero. The period is in milliseconds. */
  constructor(
    words: BigInt64Array,
    at: number,
    ring: number,
    calls: number,
    period: number,
    now: () => number,
  ) {
    this.words = words;
    this.at = at;
    this.ring = ring;
    this.calls = calls;
    this.period = period;
    this.now = now;
  }

  take(calls: number): number {
    for (;;) {
      const seen = Atomics.load(this.words, this.at);
      const head = Number(seen);
      const wait = this.longestWait(head, calls);
      if (wait === undefined) continue;
      if (wait > 0) return wait;
      if (Atomics.compareExchange(this.words, this.at, seen, BigInt(head + calls)) !== seen) continue;
      // Read the clock again: this thread may have paused, and the calls are made after this time.
      const now = this.now();
      for (let place = head; place < head + calls; place++) this.stamp(place, now);
      this.taken = head;
      return 0;
    }
  }

  wait(calls: number): number {
    for (;;) {
      const wait = this.longestWait(Number(Atomics.load(this.words, this.at)), calls);
      if (wait !== undefined) return wait;
    }
  }

  /** The places are free when the head reaches them again. Until then no call can use them. */
  undo(calls: number): void {
    const { taken, words } = this;
    const past = Math.floor(this.now() - this.period);
    for (let place = taken; place < taken + calls; place++)
      Atomics.store(words, this.slot(place), stampedWord(past, this.lap(place)));
  }

  used(): number {
    const head = Number(Atomics.load(this.words, this.at));
    const since = this.now() - this.period;
    let used = 0;
    for (let place = Math.max(0, head - this.calls); place < head; place++)
      if (timeOf(Atomics.load(this.words, this.slot(place))) > since) used++;
    return used;
  }

  /** Milliseconds until all of the places are free; undefined when the head has moved. */
  private longestWait(head: number, calls: number): number | undefined {
    let longest = 0;
    for (let place = head; place < head + calls; place++) {
      // This place has never been used.
      if (place < this.calls) continue;
      const wait = this.placeWait(place);
      if (wait === undefined) return undefined;
      if (wait > longest) longest = wait;
    }
    return longest;
  }

  private placeWait(place: number): number | undefined {
    const slot = this.slot(place);
    const before = this.lap(place - this.calls);
    for (;;) {
      const seen = Atomics.load(this.words, slot);
      const ahead = (numberOf(seen) - before) & MOST_IN_WORD;
      if (ahead !== 0 && ahead <= MOST_IN_WORD / 2) return undefined;
      const now = this.now();
      if (ahead === 0) {
        const wait = timeOf(seen) + this.period - now;
        if (wait <= this.period + ROUNDED) return Math.max(0, wait);
      }
      // Not written yet, or written by a thread whose clock is far ahead.
      Atomics.compareExchange(this.words, slot, seen, stampedWord(now, before));
    }
  }

  /** Writes the time of a call, unless another thread has written one. */
  private stamp(place: number, now: number): void {
    const slot = this.slot(place);
    const lap = this.lap(place);
    const seen = Atomics.load(this.words, slot);
    const behind = (lap - numberOf(seen)) & MOST_IN_WORD;
    if (behind === 0 || behind > MOST_IN_WORD / 2) return;
    Atomics.compareExchange(this.words, slot, seen, stampedWord(now, lap));
  }

  private slot(place: number): number {
    return this.ring + (place % this.calls);
  }

  /** Counts from 1, because 0 marks a place that was never used. */
  private lap(place: number): number {
    return (Math.floor(place / this.calls) + 1) & MOST_IN_WORD;
  }
}
