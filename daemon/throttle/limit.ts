// The interface of a limit: calls take their turn at a gate, or wait for it in a queue. All shared state is in the
// gate's memory; the queue belongs to this thread, so first come first served holds within a thread.

import { threadId } from 'node:worker_threads';
import { CallerQueue, type Release } from './caller-queue.ts';
import { Gate } from './gate.ts';
import { checkedCount, figuresOf, type LimitOptions, limitMemory, shown } from './limit-options.ts';
import type { HeldSlot } from './slots.ts';
import { type LimitClock, neverBack, THREADS_CLOCK } from './steady-clock.ts';

/** The state of a limit, over all threads unless noted. */
export interface LimitSnapshot {
  readonly calls: number;
  /** Seconds. */
  readonly period: number;
  readonly strict: boolean;
  readonly concurrency: number | undefined;
  /** Calls that count against the limit. */
  readonly used: number;
  readonly left: number;
  /** Milliseconds until a call may be made, slots aside; 0 for at once. */
  readonly wait: number;
  /** Milliseconds left of a penalty. */
  readonly penalty: number;
  /** Running calls with `concurrency`; otherwise 0. */
  readonly running: number;
  /** Callers of this thread that wait. */
  readonly waiting: number;
}

/** The part of a worker thread that is needed here. */
export interface EndingThread {
  readonly threadId: number;
  once(event: 'exit', listener: () => void): unknown;
}

/** A year, in milliseconds. */
const LONGEST_PENALTY = 366 * 86_400_000;
/** Releases a call without a slot. */
const NOTHING: Release = () => {};

export class Limit {
  /** Used by limit-group.ts, like the next two fields, checked() and end(). */
  readonly clock: LimitClock;
  readonly gate: Gate;
  readonly queue: CallerQueue<number>;
  private readonly memory: SharedArrayBuffer;

  constructor(options: LimitOptions) {
    const figures = figuresOf(options);
    const clock = neverBack(options.clock ?? THREADS_CLOCK);
    this.clock = clock;
    const words = limitMemory(figures, options.shared);
    this.memory = words.buffer as SharedArrayBuffer;
    this.gate = new Gate(words, figures, threadId, () => clock.now());
    if (options.shared !== undefined) this.gate.slots?.share();
    this.queue = new CallerQueue((calls) => this.attempt(calls), clock);
  }

  /** The memory of the limit, for other threads. */
  get shared(): SharedArrayBuffer {
    this.gate.slots?.share();
    return this.memory;
  }

  /**
   * Waits until this number of calls may be made, all at once, in order of arrival. They use one slot of `concurrency`
   * until the returned function is called. Rejects with the signal's reason.
   */
  async take(calls = 1, signal?: AbortSignal): Promise<Release> {
    return this.queue.take(this.checked('take()', calls), signal);
  }

  /** Like take(), but without waiting: undefined when there is no turn, also when other callers wait. */
  tryTake(calls = 1): Release | undefined {
    return this.queue.tryTake(this.checked('tryTake()', calls));
  }

  /** Wraps a function so that each call waits for its turn. */
  sleepAndRetry<A extends unknown[], R>(
    fn: (...args: A) => R | Promise<R>,
    signal?: AbortSignal,
  ): (...args: A) => Promise<R> {
    return inTurn(fn, () => this.take(1, signal));
  }

  /** Blocks calls for this many milliseconds, as after a Retry-After. A longer penalty stays; it never shortens a
   * wait. */
  penalize(ms: number): void {
    if (typeof ms !== 'number' || !(ms >= 0 && ms <= LONGEST_PENALTY))
      throw new RangeError(
        `penalize(): the time is ${shown(ms)}; give milliseconds from 0 to ${LONGEST_PENALTY}`,
      );
    this.gate.penalize(ms);
  }

  snapshot(): LimitSnapshot {
    const { calls, period, strict, concurrency } = this.gate.figures;
    const used = this.gate.used();
    return {
      calls,
      period: period / 1000,
      strict: strict === 1,
      concurrency: concurrency === 0 ? undefined : concurrency,
      used,
      left: Math.max(0, calls - used),
      wait: this.gate.wait(1),
      penalty: this.gate.penalty(),
      running: this.gate.slots?.taken() ?? 0,
      waiting: this.queue.size,
    };
  }

  /** Frees the worker thread's slots as soon as it ends, instead of when its lease does. */
  watch(worker: EndingThread): void {
    const thread = worker.threadId;
    if (!(thread > 0))
      throw new TypeError(
        `watch(): the thread's number is ${shown(thread)}; give a worker thread that has not ended`,
      );
    // Waiting calls find the slots at their next attempt.
    worker.once('exit', () => this.gate.slots?.free(thread));
  }

  checked(what: string, calls: unknown): number {
    return checkedCount(
      `${what}: the number of calls`,
      calls,
      this.gate.figures.calls,
      'as many as the limit can ever give at once',
    );
  }

  private attempt(calls: number): Release | number {
    const held = this.gate.attempt(calls);
    if (typeof held === 'number') return held || NOTHING;
    return () => this.end(held);
  }

  /** Ends a call that held a slot. */
  end(held: HeldSlot): void {
    this.gate.slots?.release(held);
    this.queue.wake();
  }
}

/** Wraps a function so that each call waits for its turn. */
export function inTurn<A extends unknown[], R>(
  fn: (...args: A) => R | Promise<R>,
  take: () => Promise<Release>,
): (...args: A) => Promise<R> {
  if (typeof fn !== 'function')
    throw new TypeError(
      `sleepAndRetry(): its argument is ${shown(fn)}; give the function that is to be limited`,
    );
  return async (...args) => {
    const release = await take();
    try {
      return await fn(...args);
    } finally {
      release();
    }
  };
}
