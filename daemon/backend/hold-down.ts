// Addresses that just refused or could not be reached: for a while nobody tries them again, whatever thread, program
// and backend asks. It knows keys and times only. Bounded: the oldest make room.

import type { SharedState, SharedTable } from '../contract/shared-state.ts';

/** Addresses, and bytes of their keys (chosen: more than the origins of any proxy). */
const MOST = 4096;
const BYTES = 1024 * 1024;

export class HoldDown {
  /** Epoch seconds until which nobody tries. */
  private readonly ends: SharedTable;

  constructor(state: SharedState) {
    this.ends = state.table('backend.hold-down', {
      numbers: 1,
      entries: MOST,
      bytes: BYTES,
      forgetsOldest: true,
    });
  }

  /** Whether `key` is still held down. */
  holds(key: string, now: number): boolean {
    const end = this.ends.read(key)?.numbers[0];
    if (end === undefined) return false;
    if (now < end) return true;
    this.ends.remove(key);
    return false;
  }

  /** @param seconds 0 holds nothing */
  hold(key: string, seconds: number, now: number): void {
    if (seconds <= 0) return;
    this.ends.update(key, ({ numbers }) => {
      numbers[0] = now + seconds;
    });
  }
}
