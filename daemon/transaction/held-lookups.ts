// Lookups of objects from before a gap, which wait until it is known which of them are outdated: a node of a fleet was away
// and has not yet applied what it missed. What was fetched since is served meanwhile.

import { CLOCKS_APART } from '../clock.ts';
import { turns } from '../turns/turns.ts';

export class HeldLookups {
  /** Objects up to this time are held back (epoch seconds); 0 when none are. */
  since = 0;
  private waiting = new Set<() => void>();

  hold(now: number): void {
    // An object that another thread, whose clock is ahead, has fetched before must not look as if it came after.
    this.since = now + CLOCKS_APART;
  }

  /** Calls back once the objects are released, perhaps in a later turn: check again then, since they may be held again.
   * Returns a function that cancels the wait. */
  wait(wake: () => void): () => void {
    const { waiting } = this;
    waiting.add(wake);
    return () => waiting.delete(wake);
  }

  /** They may be served again. Waiting requests resume over as many turns as they need, in the order in which they came. */
  letGo(): void {
    this.since = 0;
    const woken = this.waiting;
    this.waiting = new Set();
    void turns.over(woken, (wake) => {
      woken.delete(wake);
      wake();
      // The request may take long when it resumes.
      turns.tookLong();
    });
  }
}
