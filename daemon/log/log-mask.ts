// vsl_mask: the tags that are logged. One byte per tag, so that the hot path tests one array element.

import { MASKED_BY_DEFAULT, TAGS } from '../../protocol/tables/tags.ts';

export class LogMask {
  /** 1 for tags that are logged; indexed by tag number. */
  readonly on = new Uint8Array(256).fill(1);
  /** Grows with every change; prepared records compare it. */
  epoch = 1;

  constructor() {
    this.leaveOut(MASKED_BY_DEFAULT);
  }

  /** Masks these tags and logs all others. */
  leaveOut(names: readonly string[]): void {
    const left = new Set(names);
    TAGS.forEach((row, i) => {
      this.on[i + 1] = left.has(row.name) ? 0 : 1;
    });
    this.epoch++;
  }
}
