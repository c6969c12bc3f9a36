// Searches in the stored log: for a text, for errors, for a transaction by id. Text is searched in the distinct
// records of a block first; only blocks with a match are unpacked. All-lowercase text matches any case.

import type { LogTransaction } from '../../../protocol/messages.ts';
import type { LogBlock } from '../../model/log/log-block.ts';
import type { LogEntry } from '../../model/log/log-entry.ts';
import type { LogReader, LogStore } from '../../model/log/log-store.ts';
import { decodeRecords } from '../../model/log/transaction.ts';
import type { RowPlace } from './log-tree.ts';

export interface Found {
  seq: number;
  place: RowPlace;
}

/** The next match after (or before) a place, or null. */
export function findMatch(
  store: LogReader,
  seq: number,
  after: RowPlace,
  text: string,
  back: boolean,
): Found | null {
  const from = store.indexOf(seq);
  const maybe = mayMatch(text);
  const step = back ? -1 : 1;
  for (let i = store.find(from, back, maybe); i >= 0; i = store.find(i + step, back, maybe)) {
    const entry = store.at(i) as LogEntry;
    const order = back ? entry.order.toReversed() : entry.order;
    for (const tx of order) {
      const hits = matchesOf(entry, tx, text);
      for (const record of back ? hits.reverse() : hits) {
        if (i !== from || beyond(entry, { tx, record }, after, back))
          return { seq: entry.seq, place: { tx, record } };
      }
    }
  }
  return null;
}

/** Number of groups shown that have a match. */
export function countMatches(store: LogReader, text: string): number {
  const maybe = mayMatch(text);
  let groups = 0;
  const large = (block: LogBlock, n: number): boolean => {
    if (!maybe(block, n)) return false;
    if (block.whole !== null) return true;
    groups++;
    return false;
  };
  for (let i = store.find(0, false, large); i >= 0; i = store.find(i + 1, false, large)) {
    const entry = store.at(i) as LogEntry;
    if (entry.order.some((tx) => matchesOf(entry, tx, text).length > 0)) groups++;
  }
  return groups;
}

/** Tests whether a group of a block may have a record with the text; true for groups too large to be packed. */
function mayMatch(text: string): (block: LogBlock, n: number) => boolean {
  let searched: LogBlock | null = null;
  let places: ReadonlySet<number> = new Set();
  return (block, n) => {
    if (block !== searched) places = block.whole === null ? matchingRecords(block, text) : new Set();
    searched = block;
    return block.whole !== null || (places.size > 0 && block.hasAny(n, places));
  };
}

function beyond(entry: LogEntry, place: RowPlace, after: RowPlace, back: boolean): boolean {
  const { order: shown } = entry;
  const order = shown.indexOf(place.tx) - shown.indexOf(after.tx) || place.record - after.record;
  return back ? order < 0 : order > 0;
}

/** Offsets of a block's records whose payload may contain the text. */
function matchingRecords(block: LogBlock, text: string): Set<number> {
  const places = new Set<number>();
  const end = block.filled * 4;
  // One character per byte keeps offsets; only ASCII is case-folded.
  const ascii = /^[\x20-\x7e]*$/.test(text);
  const folded = anyCase(text);
  const all = folded && !ascii ? '' : block.bytes.toString('latin1', 0, end);
  const hay = folded ? all.toLowerCase() : all;
  const needle = ascii ? text : Buffer.from(text).toString('latin1');
  let hit = all === '' ? 0 : hay.indexOf(needle);
  for (let place = 0; place < block.filled && hit >= 0; ) {
    const from = place * 4 + 4;
    const to = from + ((block.words[place] as number) & 0xffff);
    if (all === '') {
      if (block.bytes.toString('utf8', from, to).toLowerCase().includes(text)) places.add(place);
    } else {
      while (hit >= 0 && hit < from) hit = hay.indexOf(needle, from);
      if (hit >= 0 && hit < to) places.add(place);
    }
    place = (to + 3) >> 2;
  }
  return places;
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

/** Index of the next failed group after (or before) this one, or -1. */
export function nextError(store: LogReader, from: number, back: boolean): number {
  const step = back ? -1 : 1;
  const failed = (block: LogBlock, n: number): boolean => block.hasFailed(n);
  for (let i = store.find(from + step, back, failed); i >= 0; i = store.find(i + step, back, failed))
    if (store.at(i)?.failed === true) return i;
  return -1;
}

/** Position of the transaction with this id, newest first; null if it is not stored. */
export function findTransaction(store: LogReader, vxid: number): Found | null {
  let tx = -1;
  const found = store.find(store.size - 1, true, (block, n) => {
    tx = block.indexOf(n, vxid);
    return tx >= 0;
  });
  return found < 0 ? null : { seq: (store.at(found) as LogEntry).seq, place: { tx, record: -1 } };
}

/** Groups before this one that purged by surrogate key or added a ban, newest first. */
export function invalidatedBefore(
  store: LogStore,
  entry: LogEntry,
  limit: number,
): (readonly LogTransaction[])[] {
  const out: (readonly LogTransaction[])[] = [];
  for (let i = store.indexOf(entry.seq); out.length < limit; ) {
    i = store.find(i - 1, true, (block, n) => block.hasInvalidated(n));
    if (i < 0) break;
    out.push((store.at(i) as LogEntry).transactions);
  }
  return out;
}

/** Groups of the same URL and host before this one, newest first. */
export function earlierOf(store: LogStore, entry: LogEntry, limit: number): LogEntry[] {
  const out: LogEntry[] = [];
  const { url } = entry;
  if (url.length === 0) return out;
  const hash = store.urlHash(url);
  const same = (block: LogBlock, n: number): boolean => block.mayHaveUrl(n, hash);
  for (let i = store.indexOf(entry.seq); out.length < limit; ) {
    i = store.find(i - 1, true, same);
    if (i < 0) break;
    const other = store.at(i) as LogEntry;
    if (Buffer.compare(other.url, url) === 0) out.push(other);
  }
  return out;
}
