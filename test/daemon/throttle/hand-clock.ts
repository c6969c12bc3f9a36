// A clock that a test moves by hand: what is due is called at its own time, one after the other, with all that follows
// from it before the next.
import type { LimitClock } from '../../../daemon/throttle/throttle.ts';

export class HandClock implements LimitClock {
  time: number;
  private readonly timers = new Set<{ due: number; call: () => void }>();

  constructor(time = 0) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { due: this.time + ms, call };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  get pending(): number {
    return this.timers.size;
  }

  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await settled();
      const [next] = [...this.timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
      if (next === undefined) break;
      this.timers.delete(next);
      this.time = Math.max(this.time, next.due);
      next.call();
    }
    this.time = end;
  }
}

/** After all that promises which are settled set off. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
