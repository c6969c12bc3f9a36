// A limit without its queue, as one thread sees it: window, penalty and slots. An attempt takes everything that a call
// needs or nothing. The slot comes first: a call counted in one window must not wait for a slot and run in the next.

import { type CallWindow, FixedWindow } from './fixed-window.ts';
import { type LimitFigures, NEVER, WORD } from './limit-options.ts';
import { SlidingWindow } from './sliding-window.ts';
import { type HeldSlot, Slots } from './slots.ts';

/** Milliseconds between attempts to get a slot that another thread may free (chosen). */
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
   * Takes the calls and, with slots, one of them, which it returns; 0 without slots. Otherwise returns milliseconds
   * until another attempt is worthwhile: Infinity when a slot of this thread must be freed first.
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

  /** Milliseconds left of penalty and window; 0 when neither blocks the calls. */
  wait(calls: number): number {
    return Math.max(this.penalty(), this.window.wait(calls));
  }

  /** Gives back the result of the last attempt(). */
  undo(calls: number, held: HeldSlot | number): void {
    this.window.undo(calls);
    if (typeof held !== 'number') this.slots?.release(held);
  }

  /** Blocks all calls for this many milliseconds; a longer penalty stays. */
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
