// The console's own memory of the log: groups in arrival order, bounded by bytes and by count, outside
// React. The oldest groups go first and are counted, never silently. Every group has a sequence number that
// stays valid as a position while others fall out; text is made only for the rows on screen.

import type { LogTransaction } from '../../protocol/messages.ts';
import { type Summary, summarise } from './transaction.ts';

export interface LogEntry {
  seq: number;
  /** The transactions of one group, the outermost first; empty for a gap. */
  transactions: LogTransaction[];
  /** Of the group's main request. */
  summary: Summary;
  /** Why a fetch of the group failed, '' when none did. */
  fetchError: string;
  bytes: number;
  /** A mark instead of data: the daemon restarted, records were lost. */
  gap: string;
  /** Records lost at this mark; absent from all else. */
  lost?: number;
}

export interface LogBounds {
  maxBytes: number;
  maxEntries: number;
}

const OVERHEAD = 320;

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
    const sum = records + (last?.lost ?? 0);
    const text = `${sum} records lost (${reason})`;
    if (last?.lost === undefined) this.push([], text);
    else this.entries[this.entries.length - 1] = { ...last, gap: text };
    (this.at(this.size - 1) as LogEntry).lost = sum;
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

  private push(transactions: LogTransaction[], gap: string): void {
    let bytes = OVERHEAD;
    for (const tx of transactions) {
      bytes += tx.records.byteLength + 64;
    }
    const main = transactions.find((tx) => tx.type === 'request') ?? transactions[0];
    const summary = main === undefined ? EMPTY : summarise(main);
    const fetchError = main === undefined || summary.status < 500 ? '' : fetchErrorOf(transactions);
    this.entries.push({ seq: this.nextSeq++, transactions, summary, fetchError, bytes, gap });
    this.bytes += bytes;
    if (gap === '') this.received++;
    this.version++;
    this.evict();
  }

  private evict(): void {
    while (this.size > 1 && (this.size > this.bounds.maxEntries || this.bytes > this.bounds.maxBytes)) {
      const old = this.entries[this.first] as LogEntry;
      this.entries[this.first++] = undefined;
      this.bytes -= old.bytes;
      if (old.gap === '') this.dropped++;
    }
    // Compaction moves what is left once the dead prefix is larger than the living part: amortised one
    // move an entry.
    if (this.first > 1024 && this.first > this.size) {
      this.entries = this.entries.slice(this.first);
      this.first = 0;
    }
  }
}

function fetchErrorOf(transactions: readonly LogTransaction[]): string {
  for (const tx of transactions) {
    if (tx.type !== 'bereq') continue;
    const { error } = summarise(tx);
    if (error !== '') return error;
  }
  return '';
}

const EMPTY: Summary = {
  method: '',
  url: '',
  status: 0,
  handling: '',
  seconds: Number.NaN,
  at: 0,
  body: 0,
  error: '',
};
