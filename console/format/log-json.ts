// Log transactions as NDJSON: one transaction per line, records in order, as specified in
// protocol/log-line.schema.json. Payloads are text: UTF-8 if valid, else one character per byte; binary tags are
// quoted as in the text output. Within a version only members are added.

import { RecordCursor } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { tagRow } from '../../protocol/tables/tags.ts';
import { payloadText } from './log-text.ts';

/** The version in every line. */
const LOG_LINE_VERSION = 1;

/** The lines of one group. */
export function groupJson(group: readonly LogTransaction[]): string {
  const root = group[0]?.vxid ?? 0;
  return group.map((tx) => transactionJson(tx, root)).join('');
}

/** One line; `group` is the id of the group's first transaction. */
function transactionJson(tx: LogTransaction, group: number): string {
  const bytes = Buffer.from(tx.records.buffer, tx.records.byteOffset, tx.records.byteLength);
  const records: { tag: string; side: string; data: string; vxid?: number }[] = [];
  const cursor = new RecordCursor(bytes);
  while (cursor.next()) {
    const { at, tag, side, vxid } = cursor;
    const record = {
      tag: tagRow(tag)?.name ?? String(tag),
      side,
      data: textOf(payloadText(bytes, at)),
    };
    records.push(tx.level === 0 ? { ...record, vxid } : record);
  }
  const { level, type, reason, vxid, parent } = tx;
  return `${JSON.stringify({ version: LOG_LINE_VERSION, group, type, vxid, parent, level, reason, records })}\n`;
}

/** Bytes of a record as text: UTF-8 if they are, else a character each. */
export function textOf(latin1: string): string {
  if (!/[\x80-\xff]/.test(latin1)) return latin1;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return latin1;
  }
}
