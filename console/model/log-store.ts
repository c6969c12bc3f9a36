// The console's own memory of the log: groups in arrival order, bounded by bytes and by count, outside
// React. The oldest groups go first and are counted, never silently. Every group has a sequence number that
// stays valid as a position while others fall out; text is made only for the rows on screen.

import type { LogTransaction } from '../../protocol/messages.ts';
import { LogEntry } from './log-entry.ts';

export interface LogBounds {
  maxBytes: number;
  maxEntries: number;
}

export class LogStore {
  private readonly bounds: LogBounds;
  private entries: (LogEntry | undefined)[] = [];
  /** Index of the oldest entry in `entries`; the array is compacted now and then. */
  private first = 0;
  private nextSeq = 1;
  bytes = 0;
  /** Groups that fell out at the old end. */
  dropped = 0;
  /** Records the daemon could not deliver. */
  lost = 0;
  /** Groups received in all. */
  received = 0;
  /** Raised with every change: what a view compares. */
  version = 0;

  constructor(bounds: LogBounds) {
    this.bounds = bounds;
  }

  get size(): number {
    return this.entries.length - this.first;
  }

  /** The i-th oldest entry. */
  at(i: number): LogEntry | undefined {
    return i < 0 ? undefined : this.entries[this.first + i];
  }

  /** Index of a sequence number, or of the oldest entry when that one fell out; -1 when empty. */
  indexOf(seq: number): number {
    const oldest = this.at(0);
    if (oldest === undefined) return -1;
    return Math.max(0, Math.min(this.size - 1, seq - oldest.seq));
  }

  /** Splits a batch into groups where the daemon says that one begins, and keeps them. A batch that does not say
   * it is split at the outermost level: a group may begin deeper, and restarts stand at the level of their first. */
  add(transactions: readonly LogTransaction[]): void {
    let group: LogTransaction[] = [];
    for (const tx of transactions) {
      if ((tx.first ?? tx.level <= 1) && group.length > 0) {
        this.push(group, '');
        group = [];
      }
      group.push(tx);
    }
    if (group.length > 0) this.push(group, '');
  }

  /** Puts a mark where the log has a hole. */
  addGap(text: string): void {
    this.push([], text);
  }

  addLoss(records: number, reason: string): void {
    this.lost += records;
    const last = this.at(this.size - 1);
    // Losses in a row are one mark that counts up: a slow terminal must not fill its own log with marks.
    if (last === undefined || last.lost === 0) this.push([], '');
    const mark = this.at(this.size - 1) as LogEntry;
    mark.lost += records;
    mark.gap = `${mark.lost} records lost (${reason})`;
    this.version++;
  }

  clear(): void {
    this.entries = [];
    this.first = 0;
    this.bytes = 0;
    this.dropped = 0;
    this.lost = 0;
    this.version++;
  }

  private push(transactions: readonly LogTransaction[], gap: string): void {
    // A copy of its exact length: an array that grew by pushes keeps room for sixteen more.
    const entry = new LogEntry(this.nextSeq++, transactions.slice(), gap);
    this.entries.push(entry);
    this.bytes += entry.bytes;
    if (transactions.length > 0) this.received++;
    this.version++;
    this.evict();
  }

  private evict(): void {
    while (this.size > 1 && (this.size > this.bounds.maxEntries || this.bytes > this.bounds.maxBytes)) {
      const old = this.entries[this.first] as LogEntry;
      this.entries[this.first++] = undefined;
      this.bytes -= old.bytes;
      if (old.transactions.length > 0) this.dropped++;
    }
    // Compaction moves what is left once the dead prefix is larger than the living part: amortised one
    // move an entry.
    if (this.first > 1024 && this.first > this.size) {
      this.entries = this.entries.slice(this.first);
      this.first = 0;
    }
  }
}
