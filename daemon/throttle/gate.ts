// A limit as one thread sees it, without those who wait: the window of its calls, the penalty, the slots. An attempt
// takes all that a call needs or nothing. The slot comes first: a call counted in one window must not wait for a slot
// and run in the next.

import { type CallWindow, FixedWindow } from './fixed-window.ts';
import { type LimitFigures, NEVER, WORD } from './limit-options.ts';
import { SlidingWindow } from './sliding-window.ts';
import { type HeldSlot, Slots } from './slots.ts';

/** Until a slot is looked for again that another thread may free (milliseconds, chosen). */
const LOOK_AGAIN = 10;

export class Gate {
  readonly figures: LimitFigures;
  readonly slots: Slots | undefined;
  private readonly words: BigInt64Array;
  private readonly window: CallWindow;
  private readonly now: () => number;

  constructor(words: BigInt64Array, figures: LimitFigures, thread: number, now: () => number) {
    const { calls, period, strict, concurrency, lease } = figures;
    this.figures = figures;
    this.words = words;
    this.now = now;
    this.window =
      strict === 1
        ? new SlidingWindow(words, WORD.window, WORD.slots + concurrency, calls, period, now)
        : new FixedWindow(words, WORD.window, calls, period, now);
    this.slots = concurrency > 0 ? new Slots(words, WORD.slots, concurrency, thread, lease) : undefined;
  }

  /**
   * Takes the calls and, where there are slots, one of them, which it returns; 0 where there are none. Otherwise the
   * milliseconds until it is worth another try: Infinity for a slot's end in this thread.
   */
  attempt(calls: number): HeldSlot | number {
    const { slots, window } = this;
    if (slots === undefined) return this.penalty() || window.take(calls);
    const wait = this.wait(calls);
    if (wait > 0) return wait;
    const slot = slots.acquire();
    if (slot === undefined) return slots.shared ? LOOK_AGAIN : Number.POSITIVE_INFINITY;
    const late = window.take(calls);
    if (late === 0) return slot;
    slots.release(slot);
    return late;
  }

  /** Of penalty and window; 0 when neither is in the way. */
  wait(calls: number): number {
    return Math.max(this.penalty(), this.window.wait(calls));
  }

  /** Takes back what attempt() has just given. */
  undo(calls: number, held: HeldSlot | number): void {
    this.window.undo(calls);
    if (typeof held !== 'number') this.slots?.release(held);
  }

  /** No call within so many milliseconds; a longer penalty stays. */
  penalize(ms: number): void {
    const until = BigInt(Math.ceil(this.now() + ms));
    for (;;) {
      const seen = Atomics.load(this.words, WORD.penalty);
      if (seen >= until) return;
      if (Atomics.compareExchange(this.words, WORD.penalty, seen, until) === seen) return;
    }
  }

  /** Milliseconds left of the penalty. */
  penalty(): number {
    const until = Atomics.load(this.words, WORD.penalty);
    return until === NEVER ? 0 : Math.max(0, Number(until) - this.now());
  }

  used(): number {
    return this.window.used();
  }
}
