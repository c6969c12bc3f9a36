import { describe, expect, it } from 'vitest';
import { countRecords, encodeRecord, RecordCursor } from '../../protocol/log-record.ts';
import { recordsOf } from '../harness/records.ts';

const RECORDS = Buffer.concat([
  encodeRecord(1, 7, 'c', 'one'),
  encodeRecord(2, 7, 'b', ''),
  encodeRecord(3, 8, '-', new Uint8Array([1, 2, 3, 4, 5])),
]);

describe('a cursor', () => {
  it('shows each record', () => {
    expect(recordsOf(RECORDS).map(({ at, tag, vxid, side, text }) => [at, tag, vxid, side, text])).toEqual([
      [0, 1, 7, 'c', 'one'],
      [12, 2, 7, 'b', ''],
      [24, 3, 8, '-', '\x01\x02\x03\x04\x05'],
    ]);
    const cursor = new RecordCursor(RECORDS);
    const payloads: number[][] = [];
    while (cursor.next()) payloads.push([cursor.from, cursor.to]);
    expect(payloads).toEqual([
      [8, 11],
      [20, 20],
      [32, 37],
    ]);
  });

  it('ends before a record that is cut off, wherever it is', () => {
    for (let length = 0; length <= RECORDS.length; length++)
      expect(countRecords(RECORDS.subarray(0, length))).toBe(
        length < 12 ? 0 : length < 24 ? 1 : length < RECORDS.length ? 2 : 3,
      );
  });

  it('begins at the given offset, and again with other records', () => {
    const cursor = new RecordCursor(RECORDS, 12);
    expect([cursor.next(), cursor.tag]).toEqual([true, 2]);
    cursor.over(RECORDS.subarray(24));
    expect([cursor.next(), cursor.at, cursor.tag, cursor.end]).toEqual([true, 0, 3, 16]);
    expect([cursor.next(), cursor.end]).toEqual([false, 16]);
  });
});
