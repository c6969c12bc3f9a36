// Records of the journal: length and CRC-32 of a text of JSON, and the text. What a crash or a full disk leaves at the
// end of a file (half a record, zeros) is told by them and cut off.

import { crc32 } from 'node:zlib';

const HEAD = 8;
/** Chosen: a rule or a URL with its texts has a few kilobytes. */
const MAX_RECORD = 1 << 20;

export function encodeRecord(value: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(value));
  const record = Buffer.allocUnsafe(HEAD + text.length);
  record.writeUInt32LE(text.length, 0);
  record.writeUInt32LE(crc32(text), 4);
  text.copy(record, HEAD);
  return record;
}

export interface DecodedRecords {
  readonly records: readonly unknown[];
  /** Bytes of whole records: what comes behind is torn. */
  readonly length: number;
}

/** The records of a file, step by step. */
export function* decoding(bytes: Buffer): Generator<undefined, DecodedRecords> {
  const records: unknown[] = [];
  let at = 0;
  while (at + HEAD <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    const end = at + HEAD + length;
    if (length === 0 || length > MAX_RECORD || end > bytes.length) break;
    const text = bytes.subarray(at + HEAD, end);
    if (crc32(text) !== bytes.readUInt32LE(at + 4)) break;
    records.push(JSON.parse(text.toString()));
    at = end;
    yield;
  }
  return { records, length: at };
}
