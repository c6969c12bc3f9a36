// Releases groups of a recording at the original pace or a multiple of it. Without a factor everything passes at
// once.

import { RecordCursor } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';

export class Pacer {
  private readonly sink: (group: LogTransaction[]) => void;
  /** Speed: 1 is the original one; 0 means at once. */
  private readonly factor: () => number;
  private readonly queue: LogTransaction[][] = [];
  private waiting: (() => void) | null = null;
  /** The current time within the recording, in seconds; NaN at its start. */
  private reached = Number.NaN;

  constructor(sink: (group: LogTransaction[]) => void, factor: () => number) {
    this.sink = sink;
    this.factor = factor;
  }

  /** False if some are deferred: drain() resolves when they have passed. */
  push(groups: readonly LogTransaction[][]): boolean {
    const idle = this.queue.length === 0;
    this.queue.push(...groups);
    if (idle) this.pass();
    return this.queue.length === 0;
  }

  drain(then: () => void): void {
    if (this.queue.length === 0) then();
    else this.waiting = then;
  }

  private pass(): void {
    for (;;) {
      const group = this.queue[0];
      if (group === undefined) break;
      const factor = this.factor();
      const time = factor > 0 ? timeOf(group) : Number.NaN;
      const ahead = time - this.reached;
      if (!Number.isNaN(time))
        this.reached = Number.isNaN(this.reached) ? time : Math.max(time, this.reached);
      if (ahead > 0) {
        setTimeout(
          () => {
            this.shift();
            this.pass();
          },
          (ahead / factor) * 1000,
        );
        return;
      }
      this.shift();
    }
    this.waiting?.();
    this.waiting = null;
  }

  private shift(): void {
    const group = this.queue.shift();
    if (group !== undefined) this.sink(group);
  }
}

/** The last time in a group, in epoch seconds. */
function timeOf(group: readonly LogTransaction[]): number {
  let last = Number.NaN;
  for (const tx of group) {
    const cursor = new RecordCursor(tx.records);
    while (cursor.next()) {
      if (cursor.tag !== Tag.Timestamp) continue;
      const time = Number.parseFloat(cursor.text.split(' ')[1] ?? '');
      if (!Number.isNaN(time) && !(time < last)) last = time;
    }
  }
  return last;
}
