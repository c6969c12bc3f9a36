// How long a thread was ready to run and had no processor, from the scheduler's own account (proc(5), schedstat).

import { readFileSync } from 'node:fs';

const FILE = '/proc/thread-self/schedstat';

/** Returns a function for the calling thread: milliseconds since its last call, 0 where the system does not account for them. */
export function runDelay(read: () => string = () => readFileSync(FILE, 'latin1')): () => number {
  const total = (): number => {
    try {
      // Nanoseconds on a processor, nanoseconds ready for one, number of times.
      return Number(read().split(' ')[1]) / 1e6;
    } catch {
      return Number.NaN;
    }
  };
  let before = total();
  return () => {
    const now = total();
    const waited = now - before;
    before = now;
    return Number.isNaN(waited) ? 0 : waited;
  };
}
