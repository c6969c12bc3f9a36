// Hold-down: addresses that just refused or could not be reached are not tried for a while, by any thread, program or
// backend. It knows keys and times only. Bounded: the oldest entries are evicted.

import type { SharedState, SharedTable } from '../contract/shared-state.ts';

/** Addresses, and bytes of their keys (chosen: more than the origins of any proxy). */
const MOST = 4096;
const BYTES = 1024 * 1024;

export class HoldDown {
  /** Epoch seconds at which the hold-down ends. */
  private readonly ends: SharedTable;

  constructor(state: SharedState) {
    this.ends = state.table('backend.hold-down', {
      numbers: 1,
      entries: MOST,
      bytes: BYTES,
      forgetsOldest: true,
    });
  }

  /** Whether `key` is in hold-down. */
  holds(key: string, now: number): boolean {
    const end = this.ends.read(key)?.numbers[0];
    if (end === undefined) return false;
    if (now < end) return true;
    this.ends.remove(key);
    return false;
  }

  /** @param seconds 0 for no hold-down */
  hold(key: string, seconds: number, now: number): void {
    if (seconds <= 0) return;
    this.ends.update(key, ({ numbers }) => {
      numbers[0] = now + seconds;
    });
  }
}
