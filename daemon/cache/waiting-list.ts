// Requests that wait for a busy object of their key, and the order in which they are woken.
//
// A waiter is woken once and looks up again; if it must wait again it parks again, at the end. An ordinary
// result wakes in waves, each rush_exponent times the last, so that the first ones can find the object before
// the rest come; failures and uncacheable results wake everybody at once. Wakes never run inside the
// caller's step, and every parked waiter is woken or cancelled: no wave depends on what the last one did.

import type { Oh } from './key-index.ts';

export interface Waiter {
  /** Called once. `alone`: the object waited for cannot be shared (it failed or is uncacheable), so the next
   * lookup should not wait for another fetch. */
  wake(alone: boolean): void;
}

interface Parked {
  waiter: Waiter;
  gone: boolean;
}

export class WaitingList {
  private readonly queues = new Map<Oh, Parked[]>();
  private readonly defer: (run: () => void) => void;
  private readonly exponent: () => number;
  /** Called when the last waiter left; after a rush the caller knows by itself. */
  private readonly onEmpty: (oh: Oh) => void;

  constructor(o: {
    defer: (run: () => void) => void;
    exponent: () => number;
    onEmpty: (oh: Oh) => void;
  }) {
    this.defer = o.defer;
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
    const parked: Parked = { waiter, gone: false };
    const queue = this.queues.get(oh);
    if (queue === undefined) this.queues.set(oh, [parked]);
    else queue.push(parked);
    return () => {
      if (parked.gone) return;
      parked.gone = true;
      this.leave(oh, parked);
    };
  }

  /** Wakes those who wait at this moment, in waves or all at once. */
  rush(oh: Oh, all: boolean): void {
    const queue = this.queues.get(oh);
    if (queue === undefined) return;
    this.queues.delete(oh);
    const step = Math.max(1, this.exponent());
    this.wave(queue, 0, all ? queue.length : step, step, all);
  }

  private wave(queue: Parked[], from: number, count: number, step: number, alone: boolean): void {
    this.defer(() => {
      const end = Math.min(queue.length, from + count);
      for (let i = from; i < end; i++) {
        const parked = queue[i] as Parked;
        if (parked.gone) continue;
        parked.gone = true;
        parked.waiter.wake(alone);
      }
      if (end < queue.length) this.wave(queue, end, count * Math.max(2, step), step, alone);
    });
  }

  private leave(oh: Oh, parked: Parked): void {
    const queue = this.queues.get(oh);
    const at = queue === undefined ? -1 : queue.indexOf(parked);
    if (queue === undefined || at < 0) return;
    queue.splice(at, 1);
    if (queue.length > 0) return;
    this.queues.delete(oh);
    this.onEmpty(oh);
  }
}
