// Whether what was logged before a subscription is still being read: it comes in runs, and between two of them nothing is under
// way. Of two instances as one both have runs.

import type { EarlierRun } from '../../client/source.ts';

export class ReadingBack {
  /** Runs that are under way, and those that will begin. */
  private open = 0;
  private due = 0;

  get active(): boolean {
    return this.open + this.due > 0;
  }

  /** Such a run, which begins now. */
  watch(run: EarlierRun): EarlierRun {
    if (this.due > 0) this.due--;
    this.open++;
    return {
      batch: (transactions) => run.batch(transactions),
      done: (more) => {
        this.open--;
        const wanted = run.done(more);
        if (wanted && more) this.due++;
        return wanted;
      },
    };
  }
}
