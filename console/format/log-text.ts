// Log transactions as text, byte for byte as Varnish's log tools print them. Payloads are written as raw bytes; those
// of binary tags are quoted with %xx. A group consists of headers and records of its transactions and an empty line;
// raw records are single lines.

import { payloadLength, RECORD_HEAD, RecordCursor, recordTag } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { TAGS, tagRow } from '../../protocol/tables/tags.ts';

const TYPE_NAMES: Readonly<Record<LogTransaction['type'], string>> = {
  raw: 'Record',
  session: 'Session',
  request: 'Request',
  bereq: 'BeReq',
  unknown: 'Unknown',
};

const NAMES = TAGS.map((row) => row.name.padEnd(14));

/** The text of one group, latin1: one character per byte. */
export function groupText(group: readonly LogTransaction[], verbose: boolean): string {
  let out = '';
  for (const tx of group) {
    if (tx.level === 0) {
      out += recordLines(tx.records, '', true);
      continue;
    }
    out += headerLine(tx, verbose);
    out += recordLines(tx.records, marks(tx.level, '-'), verbose);
  }
  return (group[0]?.level ?? 0) === 0 ? out : `${out}\n`;
}

/** For example `* << Request >> 1001`. */
function headerLine(tx: LogTransaction, verbose: boolean): string {
  const name = TYPE_NAMES[tx.type].padEnd(8);
  const id = String(tx.vxid).padEnd(10);
  return verbose
    ? `${marks(tx.level, '*')}           << ${name} >>   ${id}\n`
    : `${marks(tx.level, '*')}<< ${name} >> ${id}\n`;
}

/** `-   `, `--  `, `--- `, `-4- `. */
function marks(level: number, c: string): string {
  return (level > 3 ? `${c}${level}${c}` : c.repeat(level)).padEnd(3).concat(' ');
}

/** Lines of all records, each with `prefix`. */
function recordLines(records: Uint8Array, prefix: string, verbose: boolean): string {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  let out = '';
  const cursor = new RecordCursor(bytes);
  while (cursor.next()) {
    const { at, tag, vxid, side } = cursor;
    const name = NAMES[tag - 1] ?? '(null)        ';
    out += verbose ? `${prefix}${String(vxid).padStart(10)} ${name} ${side} ` : `${prefix}${name} `;
    out += `${payloadText(bytes, at)}\n`;
  }
  return out;
}

/** The payload as printed: latin1 text up to its NUL, or quoted for binary tags. */
export function payloadText(bytes: Buffer, at: number): string {
  const from = at + RECORD_HEAD;
  const to = Math.min(bytes.length, from + payloadLength(bytes, at));
  const flags = tagRow(recordTag(bytes, at))?.flags as readonly string[] | undefined;
  if (flags?.includes('hex')) return `[${bytes.toString('hex', from, to)}]`;
  if (flags?.includes('binary')) {
    let out = '"';
    for (let i = from; i < to; i++) {
      const c = bytes[i] as number;
      out += c >= 32 && c < 127 ? String.fromCharCode(c) : `%${c.toString(16).padStart(2, '0')}`;
    }
    return `${out}"`;
  }
  const nul = bytes.indexOf(0, from);
  return bytes.toString('latin1', from, nul >= 0 && nul < to ? nul : to);
}
