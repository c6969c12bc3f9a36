// How long a process may take that others wait for: by its processor time, and by the time in which it does nothing. On a
// busy machine it waits for its turns, which is not its fault.

import { readFileSync } from 'node:fs';

/** What is busy uses at least so much of its time, whatever else runs. */
const LEAST_SHARE = 1 / 100;

/** Tells a process that hangs or computes without end from one that waits for a busy machine. */
export class Patience {
  private readonly limit: number;
  /** When it was last seen to do something, and its processor time then; in ms. */
  private since: number;
  private used = 0;

  /** @param limit ms, of processor time and of doing nothing */
  constructor(limit: number, now: number) {
    this.limit = limit;
    this.since = now;
  }

  /** @param used its processor time, in ms */
  isOver(used: number, now: number): boolean {
    if (used - this.used > (now - this.since) * LEAST_SHARE) {
      this.since = now;
      this.used = used;
    }
    return used > this.limit || now - this.since > this.limit;
  }
}

/** Processor time of all threads of a process in ms, to a hundredth of a second; 0 where it cannot be known. */
export function processorMs(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}
