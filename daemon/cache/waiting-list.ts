// Requests that wait for a busy object of their key, and the order in which they are woken.
//
// A waiter is woken once and looks up again; if it must wait again, it parks at the end. Waiters are woken in waves, each
// rush_exponent times the last, so that the first ones can find the object before the rest; after a failure or an
// uncacheable response in a single wave. Wakes never run inside the caller's step, and a wave continues in a later turn when
// its budget is used up. Every parked waiter is woken or cancelled: no wave depends on the previous one.

import type { Turns } from '../turns/turns.ts';
import type { Oh } from './key-index.ts';

export interface Waiter {
  /** Called once. `alone`: the object waited for cannot be shared (it failed or is uncacheable), so the next
   * lookup should not wait for another fetch. */
  wake(alone: boolean): void;
}

/** The waiters of one key between two rushes. */
interface Queue {
  /** Includes cancelled ones. */
  parked: Parked[];
  /** Waiters that are not cancelled. */
  count: number;
}

interface Parked {
  readonly waiter: Waiter;
  readonly queue: Queue;
  gone: boolean;
}

/** Cancelled entries that are not worth removing (chosen). */
const FEW = 32;

export class WaitingList {
  private readonly queues = new Map<Oh, Queue>();
  private readonly turns: Turns;
  private readonly exponent: () => number;
  /** Called when the last waiter was cancelled; not after a rush. */
  private readonly onEmpty: (oh: Oh) => void;

  constructor(o: {
    turns: Turns;
    exponent: () => number;
    onEmpty: (oh: Oh) => void;
  }) {
    this.turns = o.turns;
    this.exponent = o.exponent;
    this.onEmpty = o.onEmpty;
  }

  /** Keys with waiters. */
  get size(): number {
    return this.queues.size;
  }

  has(oh: Oh): boolean {
    return this.queues.has(oh);
  }

  park(oh: Oh, waiter: Waiter): () => void {
    let queue = this.queues.get(oh);
    if (queue === undefined) {
      queue = { parked: [], count: 0 };
      this.queues.set(oh, queue);
    }
    const parked: Parked = { waiter, queue, gone: false };
    queue.parked.push(parked);
    queue.count++;
    return () => {
      if (parked.gone) return;
      parked.gone = true;
      this.cancelled(oh, queue);
    };
  }

  /** Wakes the present waiters, in waves or all in one. */
  rush(oh: Oh, all: boolean): void {
    const queue = this.queues.get(oh);
    if (queue === undefined) return;
    this.queues.delete(oh);
    const { parked } = queue;
    const step = Math.max(1, this.exponent());
    this.wave(parked, 0, all ? parked.length : step, step, all);
  }

  private wave(queue: readonly Parked[], from: number, count: number, step: number, alone: boolean): void {
    const { turns } = this;
    const end = Math.min(queue.length, from + count);
    let at = from;
    const resume = (): void => {
      while (at < end) {
        const parked = queue[at++] as Parked;
        if (parked.gone) continue;
        parked.gone = true;
        parked.waiter.wake(alone);
        turns.tookLong();
        if (at < end && !turns.mayContinue()) {
          turns.later(resume);
          return;
        }
      }
      if (end < queue.length) this.wave(queue, end, count * Math.max(2, step), step, alone);
    };
    turns.later(resume);
  }

  private cancelled(oh: Oh, queue: Queue): void {
    // After a rush waiters are no longer counted.
    if (this.queues.get(oh) !== queue) return;
    queue.count--;
    if (queue.count === 0) {
      this.queues.delete(oh);
      this.onEmpty(oh);
    } else if (queue.parked.length > 2 * queue.count + FEW) {
      queue.parked = queue.parked.filter((parked) => !parked.gone);
    }
  }
}
