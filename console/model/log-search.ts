// Looking through the kept log: for a text, and for the transaction of an id. Walks bytes; a text of small letters
// alone is found in any case, one with a capital as it is written.

import { type LogEntry, urlBytes } from './log-entry.ts';
import type { LogStore } from './log-store.ts';
import type { RowPlace } from './log-tree.ts';
import { decodeRecords } from './transaction.ts';

export interface Found {
  seq: number;
  place: RowPlace;
}

/** The next match after (or before) a place; null when there is none. */
export function findMatch(
  store: LogStore,
  seq: number,
  after: RowPlace,
  text: string,
  back: boolean,
): Found | null {
  const from = store.indexOf(seq);
  const step = back ? -1 : 1;
  for (let i = from; i >= 0 && i < store.size; i += step) {
    const entry = store.at(i) as LogEntry;
    const order = entry.transactions.map((_tx, n) => n);
    for (const tx of back ? order.reverse() : order) {
      if (!mayMatch(entry, tx, text)) continue;
      const hits = matchesOf(entry, tx, text);
      for (const record of back ? hits.reverse() : hits) {
        if (i !== from || beyond({ tx, record }, after, back))
          return { seq: entry.seq, place: { tx, record } };
      }
    }
  }
  return null;
}

function beyond(place: RowPlace, after: RowPlace, back: boolean): boolean {
  const order = place.tx - after.tx || place.record - after.record;
  return back ? order < 0 : order > 0;
}

/** A quick no for most: the bytes are looked through before any record is made a text. */
function mayMatch(entry: LogEntry, tx: number, text: string): boolean {
  const { records } = entry.transactions[tx] as LogEntry['transactions'][number];
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  if (anyCase(text))
    return bytes.toString('latin1').toLowerCase().includes(Buffer.from(text).toString('latin1'));
  return bytes.includes(text, 0, 'utf8');
}

function matchesOf(entry: LogEntry, tx: number, text: string): number[] {
  const { records } = entry.transactions[tx] as LogEntry['transactions'][number];
  const insensitive = anyCase(text);
  return decodeRecords(records).flatMap((r, i) =>
    (insensitive ? r.text.toLowerCase() : r.text).includes(text) ? [i] : [],
  );
}

export function anyCase(text: string): boolean {
  return text === text.toLowerCase();
}

/** Where the transaction with this id is, the newest first; null when it is not kept. */
export function findTransaction(store: LogStore, vxid: number): Found | null {
  for (let i = store.size - 1; i >= 0; i--) {
    const entry = store.at(i) as LogEntry;
    const tx = entry.transactions.findIndex((t) => t.vxid === vxid);
    if (tx >= 0) return { seq: entry.seq, place: { tx, record: -1 } };
  }
  return null;
}

/** Groups of the same URL and host before this one, the newest first. */
export function earlierOf(store: LogStore, entry: LogEntry, limit: number): LogEntry[] {
  const out: LogEntry[] = [];
  const url = urlBytes(entry);
  if (url.length === 0) return out;
  for (let i = store.indexOf(entry.seq) - 1; i >= 0 && out.length < limit; i--) {
    const other = store.at(i) as LogEntry;
    if (other.isUrl(url)) out.push(other);
  }
  return out;
}
