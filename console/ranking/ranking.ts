// Counts occurrences of log records, by tag and text, and ranks them. Counts can decay, so that a live view shows a
// period. Equal counts are in the order of varnishtop, which compares sums of bytes, tags, lengths, bytes.

import { RecordCursor } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { TAGS } from '../../protocol/tables/tags.ts';

export interface Entry {
  tag: string;
  /** The tag's number. */
  id: number;
  /** latin1. */
  text: string;
  count: number;
  /** Order of entries with equal counts. */
  readonly weight: number;
}

const BINARY: ReadonlySet<number> = new Set(
  TAGS.flatMap((row, i) => ((row.flags as readonly string[]).includes('binary') ? [i + 1] : [])),
);

export class Ranking {
  private readonly firstField: boolean;
  private readonly entries = new Map<string, Entry>();

  /** `firstField`: counts only the text before the first blank or colon of a record. */
  constructor(firstField: boolean) {
    this.firstField = firstField;
  }

  /** Entries held. */
  get size(): number {
    return this.entries.size;
  }

  add(groups: readonly LogTransaction[][]): void {
    for (const group of groups) for (const tx of group) this.addTransaction(tx);
  }

  /** All entries, most frequent first. */
  sorted(): Entry[] {
    return [...this.entries.values()].sort(compare);
  }

  /** Advances one second: counts approach those of `period` seconds; drops entries outranked by `keep` others. */
  fade(period: number, keep: number): void {
    for (const entry of this.entries.values()) entry.count -= entry.count / Math.max(period, 1);
    if (this.entries.size <= keep) return;
    const sorted = this.sorted();
    const least = (sorted[keep - 1] as Entry).count / 10;
    for (const entry of sorted.slice(keep)) {
      if (entry.count < least || this.entries.size > keep * 10)
        this.entries.delete(`${entry.tag} ${entry.text}`);
    }
  }

  private addTransaction(tx: LogTransaction): void {
    const cursor = new RecordCursor(tx.records);
    while (cursor.next()) {
      const { tag } = cursor;
      if (BINARY.has(tag)) continue;
      const name = TAGS[tag - 1]?.name;
      if (name === undefined) continue;
      let text = cursor.text.replace(/\0.*$/s, '');
      if (this.firstField) text = text.replace(/[\s:].*$/s, '');
      if (text === '') continue;
      const key = `${name} ${text}`;
      const entry = this.entries.get(key);
      if (entry !== undefined) entry.count++;
      else this.entries.set(key, { tag: name, id: tag, text, count: 1, weight: weightOf(text) });
    }
  }
}

function compare(a: Entry, b: Entry): number {
  if (Math.abs(a.count - b.count) > 1e-3) return b.count - a.count;
  if (a.weight !== b.weight) return a.weight - b.weight;
  if (a.id !== b.id) return a.id - b.id;
  if (a.text.length !== b.text.length) return a.text.length - b.text.length;
  return a.text < b.text ? -1 : 1;
}

/** Bytes are signed. */
function weightOf(text: string): number {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum += (text.charCodeAt(i) << 24) >> 24;
  return sum;
}
