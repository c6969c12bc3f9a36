// Requests that wait for a busy object of their key, and the order in which they are woken.
//
// A waiter is woken once and looks up again; if it must wait again it parks again, at the end. An ordinary
// result wakes in waves, each rush_exponent times the last, so that the first ones can find the object before
// the rest come; failures and uncacheable results are one wave for everybody. Wakes never run inside the
// caller's step, a wave gives up its turn to others when it has had its time, and every parked waiter is woken or
// cancelled: no wave depends on what the last one did.

import type { Turns } from '../turns/turns.ts';
import type { Oh } from './key-index.ts';

export interface Waiter {
  /** Called once. `alone`: the object waited for cannot be shared (it failed or is uncacheable), so the next
   * lookup should not wait for another fetch. */
  wake(alone: boolean): void;
}

/** Those who wait for one key at one time. */
interface Queue {
  /** Those who have left among them. */
  parked: Parked[];
  /** Who has not left. */
  left: number;
}

interface Parked {
  readonly waiter: Waiter;
  readonly queue: Queue;
  gone: boolean;
}

/** Entries of those who have left that are never worth the work of taking them out (chosen). */
const FEW = 32;

export class WaitingList {
  private readonly queues = new Map<Oh, Queue>();
  private readonly turns: Turns;
  private readonly exponent: () => number;
  /** Called when the last waiter left; after a rush the caller knows by itself. */
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

  /** Keys that somebody waits for. */
  get size(): number {
    return this.queues.size;
  }

  /** Whether anybody waits for this key: the objhead must then stay. */
  has(oh: Oh): boolean {
    return this.queues.has(oh);
  }

  park(oh: Oh, waiter: Waiter): () => void {
    let queue = this.queues.get(oh);
    if (queue === undefined) {
      queue = { parked: [], left: 0 };
      this.queues.set(oh, queue);
    }
    const parked: Parked = { waiter, queue, gone: false };
    queue.parked.push(parked);
    queue.left++;
    return () => {
      if (parked.gone) return;
      parked.gone = true;
      this.leave(oh, queue);
    };
  }

  /** Wakes those who wait at this moment, in waves or all in one. */
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
    const goOn = (): void => {
      while (at < end) {
        const parked = queue[at++] as Parked;
        if (parked.gone) continue;
        parked.gone = true;
        parked.waiter.wake(alone);
        turns.tookLong();
        if (at < end && !turns.mayGoOn()) {
          turns.later(goOn);
          return;
        }
      }
      if (end < queue.length) this.wave(queue, end, count * Math.max(2, step), step, alone);
    };
    turns.later(goOn);
  }

  private leave(oh: Oh, queue: Queue): void {
    // After a rush nobody counts who of them is left.
    if (this.queues.get(oh) !== queue) return;
    queue.left--;
    if (queue.left === 0) {
      this.queues.delete(oh);
      this.onEmpty(oh);
    } else if (queue.parked.length > 2 * queue.left + FEW) {
      queue.parked = queue.parked.filter((parked) => !parked.gone);
    }
  }
}
