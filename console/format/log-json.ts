// Log transactions as NDJSON: one transaction a line, its records in order. Payloads are text: UTF-8 where
// they are valid UTF-8, else one character a byte; those of binary tags are quoted as in the text output.

import { RECORD_HEAD, recordSide, recordSize, recordTag, recordVxid } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { tagRow } from '../../protocol/tables/tags.ts';
import { payloadText } from './log-text.ts';

export function transactionJson(tx: LogTransaction): string {
  const bytes = Buffer.from(tx.records.buffer, tx.records.byteOffset, tx.records.byteLength);
  const records: { tag: string; side: string; data: string; vxid?: number }[] = [];
  for (let at = 0; at + RECORD_HEAD <= bytes.length; at += recordSize(bytes, at)) {
    const tag = recordTag(bytes, at);
    const record = {
      tag: tagRow(tag)?.name ?? String(tag),
      side: recordSide(bytes, at),
      data: decode(payloadText(bytes, at)),
    };
    records.push(tx.level === 0 ? { ...record, vxid: recordVxid(bytes, at) } : record);
  }
  const { level, type, reason, vxid, parent } = tx;
  return `${JSON.stringify({ type, vxid, parent, level, reason, records })}\n`;
}

function decode(latin1: string): string {
  if (!/[\x80-\xff]/.test(latin1)) return latin1;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return latin1;
  }
}
