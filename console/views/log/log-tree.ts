// A log group as rows of a tree: the summary, its transactions, their records. Only unfolded parts have rows; record
// counts are taken on demand, so that a folded group costs nothing.

import { countRecords } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { LogEntry } from '../../model/log/log-entry.ts';
import { decodeRecords } from '../../model/log/transaction.ts';

export interface Folds {
  /** Groups and their transactions are unfolded unless toggled; otherwise folded unless toggled. */
  unfoldAll: boolean;
  /** Groups that differ from `unfoldAll`, by sequence number. */
  toggled: ReadonlySet<number>;
  /** Transactions that differ from it, as `seq/index`. */
  opened: ReadonlySet<string>;
}

/** A row within an entry: `tx` -1 is the summary, `record` -1 the head of a transaction. */
export interface RowPlace {
  tx: number;
  record: number;
}

export function isUnfolded(folds: Folds, entry: LogEntry): boolean {
  return entry.gap === '' && folds.unfoldAll !== folds.toggled.has(entry.seq);
}

/** Are a transaction's records shown when its group is unfolded? Always if it is the only one. */
export function isOpen(folds: Folds, entry: LogEntry, tx: number): boolean {
  const byDefault = folds.unfoldAll || entry.transactions.length === 1;
  return byDefault !== folds.opened.has(`${entry.seq}/${tx}`);
}

function recordsOf(entry: LogEntry, tx: number): number {
  const transaction = entry.transactions[tx];
  return transaction === undefined ? 0 : countRecords(transaction.records);
}

/** Screen rows of an entry: the summary line and its unfolded rows. */
export function rowsOf(folds: Folds, entry: LogEntry): number {
  if (!isUnfolded(folds, entry)) return 1;
  let rows = 1;
  for (let tx = 0; tx < entry.transactions.length; tx++)
    rows += 1 + (isOpen(folds, entry, tx) ? recordsOf(entry, tx) : 0);
  return rows;
}

export function placeOf(folds: Folds, entry: LogEntry, row: number): RowPlace {
  if (row <= 0 || !isUnfolded(folds, entry)) return { tx: -1, record: -1 };
  let left = row - 1;
  for (const tx of entry.order) {
    if (left === 0) return { tx, record: -1 };
    left--;
    const records = isOpen(folds, entry, tx) ? recordsOf(entry, tx) : 0;
    if (left < records) return { tx, record: left };
    left -= records;
  }
  return { tx: -1, record: -1 };
}

/** The row of a place; 0 if it is folded. */
export function rowOf(folds: Folds, entry: LogEntry, place: RowPlace): number {
  if (place.tx < 0 || !isUnfolded(folds, entry)) return 0;
  let row = 1;
  for (const tx of entry.order) {
    if (tx === place.tx) break;
    row += 1 + (isOpen(folds, entry, tx) ? recordsOf(entry, tx) : 0);
  }
  return place.record < 0 || !isOpen(folds, entry, place.tx) ? row : row + 1 + place.record;
}

/** The folds with one transaction open or closed, and its group unfolded. */
export function withOpen<F extends Folds>(folds: F, entry: LogEntry, tx: number, open: boolean): F {
  const opened = new Set(folds.opened);
  const byDefault = folds.unfoldAll || entry.transactions.length === 1;
  if (byDefault !== open) opened.add(`${entry.seq}/${tx}`);
  else opened.delete(`${entry.seq}/${tx}`);
  return { ...folds, opened };
}

export function withUnfolded<F extends Folds>(folds: F, entry: LogEntry, unfolded: boolean): F {
  const toggled = new Set(folds.toggled);
  if (folds.unfoldAll !== unfolded) toggled.add(entry.seq);
  else toggled.delete(entry.seq);
  return { ...folds, toggled };
}

/** Drops the folds of groups that left the store. */
export function pruned<F extends Folds>(folds: F, oldest: number): F {
  if (folds.toggled.size + folds.opened.size < 64) return folds;
  return {
    ...folds,
    toggled: new Set([...folds.toggled].filter((seq) => seq >= oldest)),
    opened: new Set([...folds.opened].filter((key) => Number.parseInt(key, 10) >= oldest)),
  };
}

export interface TransactionLink {
  kind:
    | 'backend request'
    | 'subrequest'
    | 'restart'
    | 'object'
    | 'hit-for-miss object'
    | 'hit-for-pass object';
  vxid: number;
}

/** Children first, then objects. */
export function linksOf(tx: LogTransaction): TransactionLink[] {
  const out: TransactionLink[] = [];
  for (const { tag, text } of decodeRecords(tx.records)) {
    const [first = '', second = '', third = ''] = text.split(' ');
    if (tag === Tag.Link)
      out.push({
        kind: first === 'bereq' ? 'backend request' : third.startsWith('restart') ? 'restart' : 'subrequest',
        vxid: Number(second),
      });
    else if (tag === Tag.Hit) out.push({ kind: 'object', vxid: Number(first) });
    else if (tag === Tag.HitMiss) out.push({ kind: 'hit-for-miss object', vxid: Number(first) });
    else if (tag === Tag.HitPass) out.push({ kind: 'hit-for-pass object', vxid: Number(first) });
  }
  return out.filter((l) => l.vxid > 0);
}
