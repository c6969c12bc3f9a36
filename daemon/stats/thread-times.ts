// Times of a thread on and without a processor, from the scheduler’s account (proc(5), schedstat).

import { readFileSync } from 'node:fs';
import type { ThreadTimes } from '../turns/turn-watch.ts';

const FILE = '/proc/thread-self/schedstat';
const NEITHER: ThreadTimes = { ran: Number.NaN, waited: Number.NaN };

/** Returns a function for the calling thread: its times since the last call, NaN where the system does not account for them. */
export function threadTimes(read: () => string = () => readFileSync(FILE, 'latin1')): () => ThreadTimes {
  const total = (): ThreadTimes => {
    try {
      // Nanoseconds on a processor, nanoseconds ready for one, number of times.
      const [ran, waited] = read().split(' ');
      return { ran: Number(ran || Number.NaN) / 1e6, waited: Number(waited) / 1e6 };
    } catch {
      return NEITHER;
    }
  };
  let before = total();
  return () => {
    const now = total();
    const since = { ran: now.ran - before.ran, waited: now.waited - before.waited };
    before = now;
    return since;
  };
}
