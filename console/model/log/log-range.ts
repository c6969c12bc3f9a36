// Whether the log shown for a row has all that the row had counted. The daemon's ring may have wrapped since, and the
// console keeps a bounded part. Both times are the daemon's: the end of the oldest counted request, and the oldest
// record left when the log was requested. It never reports a record as missing that is there; losses while the ring is
// read go unnoticed.

import { RecordCursor } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { Source, Subscription } from '../../client/source.ts';
import type { LogStore } from './log-store.ts';

/** Epoch seconds: of the oldest counted request, and from which on the log has them. */
export interface Shortfall {
  counted: number;
  there: number;
}

export class LogRange {
  private readonly source: Source;
  private readonly changed: () => void;
  /** Epoch seconds at which the oldest request ended that the row counted; 0: nothing was counted. */
  counted = 0;
  /** Epoch seconds of the oldest that the log could begin with; 0 when unknown. */
  private oldest = 0;
  /** Epoch seconds of the first subscription: a source that cannot replay has nothing from before it. */
  private followed = 0;
  private question: Subscription | null = null;

  constructor(source: Source, changed: () => void) {
    this.source = source;
    this.changed = changed;
  }

  /** Called at a subscription, with the time of the oldest counted request. */
  begin(counted: number, now: number): void {
    this.end();
    this.counted = counted;
    if (this.followed === 0) this.followed = now;
    if (this.source.canReplay !== true) this.oldest = this.followed;
    else if (counted > 0) this.ask();
  }

  /** Reports nothing until the next begin(). */
  end(): void {
    this.question?.close();
    this.question = null;
    this.counted = 0;
    this.oldest = 0;
  }

  /** Null when all is there, or nothing is known to be missing. */
  shortfall(kept: LogStore): Shortfall | null {
    const { counted } = this;
    if (counted === 0) return null;
    const there = Math.max(this.oldest, kept.hasRoom ? 0 : oldestOf(kept));
    return there > counted ? { counted, there } : null;
  }

  private ask(): void {
    this.question = this.source.log(
      { grouping: 'raw', query: 'Timestamp', from: 'head', once: true, max: 1 },
      {
        // Two merged instances answer one after the other.
        batch: (transactions) => {
          this.oldest = Math.max(this.oldest, firstTime(transactions));
          this.changed();
        },
        lost: () => undefined,
        failed: () => undefined,
      },
    );
  }
}

/** Epoch seconds of the oldest kept group; marks have no time. */
function oldestOf(kept: LogStore): number {
  for (let i = 0; i < kept.size; i++) {
    const entry = kept.at(i);
    if (entry !== undefined && entry.gap === '') return entry.summary.at;
  }
  return 0;
}

function firstTime(transactions: readonly LogTransaction[]): number {
  for (const { records } of transactions) {
    const cursor = new RecordCursor(records);
    while (cursor.next()) if (cursor.tag === Tag.Timestamp) return Number(cursor.text.split(' ')[1]) || 0;
  }
  return 0;
}
