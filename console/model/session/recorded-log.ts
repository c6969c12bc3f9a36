// Reads a log from a file, as request groups: the binary file of proxylog -w, or the lines of proxylog --json. All
// readable records are shown: those of no request in the file are groups of their own. Caution: a recording made with
// filters may lack the links between transactions. A backend transaction then has no request; one without Begin
// records, which some writers omit under tag filters, is read by the ids of its records.

import { encodeRecord, RecordCursor } from '../../../protocol/log-record.ts';
import type { Grouping, LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { LogFileDecoder } from '../../../queries/binary-log.ts';
import { Grouper } from '../../../queries/group.ts';

/** Transactions that may be open at a time: raw recordings interleave many. */
const OPEN = 100_000;
const MOST_PAYLOAD = 0xfffe;
/** First byte of a session's Begin. */
const SESSION = 0x73;

/** Null when these are not the bytes of a log file. */
export function groupsOfFile(bytes: Uint8Array): LogTransaction[][] | null {
  const decoder = new LogFileDecoder();
  const records = decoder.push(bytes);
  return records === null || !decoder.valid ? null : groupsOf(records);
}

function groupsOf(records: Uint8Array): LogTransaction[][] {
  const groups = grouped(records, 'request', () => true);
  const known = new Set(groups.flatMap((group) => group.map((tx) => tx.vxid)));
  if (begun(records) > known.size)
    groups.push(...grouped(records, 'vxid', (tx) => tx.type !== 'session' && !known.has(tx.vxid)));
  return groups.length > 0 ? groups : byId(records);
}

/** Number of client and backend requests that begin in these records. */
function begun(records: Uint8Array): number {
  let count = 0;
  const cursor = new RecordCursor(records);
  while (cursor.next()) if (cursor.tag === Tag.Begin && records[cursor.from] !== SESSION) count++;
  return count;
}

function grouped(
  records: Uint8Array,
  grouping: Grouping,
  wanted: (first: LogTransaction) => boolean,
): LogTransaction[][] {
  const groups: LogTransaction[][] = [];
  const grouper = new Grouper({ grouping, limit: OPEN }, (group) => {
    if (!wanted(group[0] as LogTransaction)) return;
    // Copied out of the growing buffers.
    groups.push(group.map((tx) => ({ ...tx, records: new Uint8Array(tx.records) })));
  });
  grouper.push(records, 0);
  grouper.flush();
  return groups;
}

/** Consecutive records of one id are a transaction: the best guess without Begin records. */
function byId(records: Uint8Array): LogTransaction[][] {
  const groups: LogTransaction[][] = [];
  const cursor = new RecordCursor(records);
  let more = cursor.next();
  while (more) {
    const { at, tag, vxid, side } = cursor;
    let { end } = cursor;
    for (more = cursor.next(); more && cursor.vxid === vxid; more = cursor.next()) end = cursor.end;
    // Without an id: messages of the daemon.
    if (vxid === 0 || tag === 0) continue;
    const type = side === 'c' ? 'request' : side === 'b' ? 'bereq' : 'unknown';
    groups.push([{ level: 1, type, reason: '', vxid, parent: 0, records: records.slice(at, end) }]);
  }
  return groups;
}

interface Line {
  group: number;
  type: LogTransaction['type'];
  vxid: number;
  parent: number;
  level: number;
  reason: string;
  records: { tag: string; side: 'c' | 'b' | '-'; data: string; vxid?: number }[];
}

/** Null when the first line is not of proxylog; a truncated last line is ignored. */
export function groupsOfLines(text: string): LogTransaction[][] | null {
  const groups: LogTransaction[][] = [];
  const raw: Uint8Array[] = [];
  let group = -1;
  for (const one of text.split('\n')) {
    const line = one === '' ? null : readLine(one);
    if (line === null) {
      if (groups.length + raw.length === 0) return null;
      continue;
    }
    // Raw records are not grouped yet.
    if (line.level === 0) {
      raw.push(recordsOf(line));
      continue;
    }
    if (line.group !== group) groups.push([]);
    group = line.group;
    const { type, vxid, parent, level, reason } = line;
    groups.at(-1)?.push({ type, vxid, parent, level, reason, records: recordsOf(line) });
  }
  return raw.length === 0 ? groups : [...groups, ...groupsOf(Buffer.concat(raw))];
}

function readLine(text: string): Line | null {
  try {
    const value = JSON.parse(text) as Partial<Line> & { version?: unknown };
    return value.version === 1 && Array.isArray(value.records) && typeof value.vxid === 'number'
      ? (value as Line)
      : null;
  } catch {
    return null;
  }
}

function recordsOf({ vxid, records }: Line): Uint8Array {
  const encoded = records.map((r) => {
    const payload = Buffer.from(r.data).subarray(0, MOST_PAYLOAD);
    const tag = (Tag as Record<string, number>)[r.tag] ?? (Number(r.tag) || 0);
    return encodeRecord(tag, r.vxid ?? vxid, r.side, Buffer.concat([payload, Buffer.alloc(1)]));
  });
  return new Uint8Array(Buffer.concat(encoded));
}
