// The records of a buffer as objects, for tests to compare.

import { RecordCursor, type RecordSide } from '../../protocol/log-record.ts';

interface RecordRow {
  at: number;
  tag: number;
  vxid: number;
  side: RecordSide;
  text: string;
  /** The record as it stands in the buffer. */
  bytes: Uint8Array;
}

export function recordsOf(records: Uint8Array): RecordRow[] {
  const rows: RecordRow[] = [];
  const cursor = new RecordCursor(records);
  while (cursor.next()) {
    const { at, end, tag, vxid, side, text } = cursor;
    rows.push({ at, tag, vxid, side, text, bytes: records.subarray(at, end) });
  }
  return rows;
}

export function textsOf(records: Uint8Array): string[] {
  return recordsOf(records).map((row) => row.text);
}
