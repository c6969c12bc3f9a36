// The queue of waiting calls, first come first served: no call overtakes another, even if it asks for less or comes
// when a turn is free. There is one timer, for the first in the queue; without waiting calls there is none. A caller
// that leaves, through its signal, makes way for the next.

import type { LimitClock } from './steady-clock.ts';

/** Ends a call, so that another may run in its place. Call once; further calls have no effect. */
export type Release = () => void;

/** Returns milliseconds until another attempt is worthwhile; Infinity when wake() will be called. */
export type Attempt<N> = (asked: N) => Release | number;

interface Caller<N> {
  asked: N;
  resolve(release: Release): void;
  reject(reason: unknown): void;
  signal: AbortSignal | undefined;
  leave: () => void;
  before: Caller<N> | null;
  after: Caller<N> | null;
}

export class CallerQueue<N> {
  private readonly attempt: Attempt<N>;
  private readonly clock: LimitClock;
  /** In order of arrival. Not a Set: iterating one steps over the holes that served callers leave at its front. */
  private first: Caller<N> | null = null;
  private last: Caller<N> | null = null;
  private count = 0;
  private cancel: (() => void) | undefined;
  private serving = false;
  private readonly watchers = new Set<() => void>();

  constructor(attempt: Attempt<N>, clock: LimitClock) {
    this.attempt = attempt;
    this.clock = clock;
  }

  get size(): number {
    return this.count;
  }

  /** Registers a callback for each time a call ends, or the queue becomes empty. Returns the function that removes
   * it. */
  watch(call: () => void): () => void {
    this.watchers.add(call);
    return () => this.watchers.delete(call);
  }

  tryTake(asked: N): Release | undefined {
    if (this.count > 0) return undefined;
    const turn = this.attempt(asked);
    return typeof turn === 'number' ? undefined : turn;
  }

  async take(asked: N, signal: AbortSignal | undefined): Promise<Release> {
    signal?.throwIfAborted();
    const turn = this.tryTake(asked);
    if (turn !== undefined) return turn;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.remove(caller);
        reject(signal?.reason);
        this.wake();
      };
      const caller: Caller<N> = { asked, resolve, reject, signal, leave, before: this.last, after: null };
      signal?.addEventListener('abort', leave);
      if (this.last === null) this.first = caller;
      else this.last.after = caller;
      this.last = caller;
      this.count++;
      if (this.count === 1) this.wake();
    });
  }

  /** Serves the callers that can be served now. */
  wake(): void {
    // Reentrant call: a turn was given back while the next caller is served.
    if (this.serving) return;
    this.serving = true;
    this.cancel?.();
    this.cancel = undefined;
    let wait = 0;
    while (this.first !== null && wait === 0) wait = this.serve(this.first);
    this.serving = false;
    if (wait > 0 && wait !== Number.POSITIVE_INFINITY)
      this.cancel = this.clock.after(wait, () => this.wake());
    if (this.count === 0) for (const call of this.watchers) call();
  }

  /** Returns 0 when the caller was served. */
  private serve(caller: Caller<N>): number {
    try {
      const turn = this.attempt(caller.asked);
      if (typeof turn === 'number') return turn;
      this.remove(caller);
      caller.resolve(turn);
    } catch (error) {
      this.remove(caller);
      caller.reject(error);
    }
    return 0;
  }

  private remove(caller: Caller<N>): void {
    const { before, after } = caller;
    if (before === null) this.first = after;
    else before.after = after;
    if (after === null) this.last = before;
    else after.before = before;
    this.count--;
    caller.signal?.removeEventListener('abort', caller.leave);
  }
}
