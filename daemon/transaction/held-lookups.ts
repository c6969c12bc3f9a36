// Lookups of objects from before a gap, which wait until it is known which of them are outdated: a node of a fleet was away
// and has not yet applied what it missed. What was fetched since is served meanwhile.

import { CLOCKS_APART } from '../clock.ts';

export class HeldLookups {
  /** Objects up to this time are held back (epoch seconds); 0 when none are. */
  since = 0;
  private readonly waiting = new Set<() => void>();

  hold(now: number): void {
    // What another thread, whose clock is ahead, has fetched before is not to look as if it came after.
    this.since = now + CLOCKS_APART;
  }

  /** Calls back when the objects are let go; gives the way to leave before that. */
  wait(wake: () => void): () => void {
    this.waiting.add(wake);
    return () => this.waiting.delete(wake);
  }

  /** They may be served again. */
  letGo(): void {
    this.since = 0;
    const woken = [...this.waiting];
    this.waiting.clear();
    for (const wake of woken) wake();
  }
}
