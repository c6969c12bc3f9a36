import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLogFrame, encodeLogFrame } from '../../protocol/log-frame.ts';
import {
  encodeRecord,
  recordSide,
  recordSize,
  recordTag,
  recordText,
  recordVxid,
} from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { recordsOf } from '../harness/records.ts';

const transaction: fc.Arbitrary<LogTransaction> = fc.record({
  level: fc.nat(255),
  type: fc.constantFrom(
    'raw' as const,
    'session' as const,
    'request' as const,
    'bereq' as const,
    'unknown' as const,
  ),
  first: fc.boolean(),
  reason: fc.string({ unit: 'grapheme', maxLength: 20 }),
  vxid: fc.nat(0x3fffffff),
  parent: fc.nat(0x3fffffff),
  records: fc
    .array(fc.tuple(fc.integer({ min: 1, max: 255 }), fc.string({ maxLength: 40 })))
    .map((list) => new Uint8Array(Buffer.concat(list.map(([tag, text]) => encodeRecord(tag, 3, 'b', text))))),
});

describe('log frame', () => {
  it('decodes to what was encoded', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), fc.array(transaction, { maxLength: 5 }), (id, list) => {
        const frame = decodeLogFrame(encodeLogFrame(id, list));
        expect(frame?.subscription).toBe(id);
        expect(frame?.transactions.map((t) => ({ ...t, records: new Uint8Array(t.records) }))).toEqual(list);
      }),
    );
  });

  it('refuses every cut and every surplus', () => {
    const records = encodeRecord(15, 2, 'c', 'GET');
    const frame = encodeLogFrame(1, [
      { level: 1, type: 'request', reason: 'rxreq', vxid: 2, parent: 1, records },
    ]);
    for (let n = 0; n < frame.length; n++)
      expect(decodeLogFrame(frame.subarray(0, n)), `${n} bytes`).toBeNull();
    expect(decodeLogFrame(Buffer.concat([frame, Buffer.alloc(4)]))).toBeNull();
  });
});

describe('log record', () => {
  it('has the documented layout', () => {
    expect(encodeRecord(15, 2, 'c', 'GET').toString('hex')).toBe('0400000f0200004047455400');
    expect(encodeRecord(3, 0, '-', 'ping').toString('hex')).toBe('050000030000000070696e6700000000');
    const b = encodeRecord(36, 0x3fffffff, 'b', new Uint8Array([1, 2, 3, 4]));
    expect([recordTag(b, 0), recordVxid(b, 0), recordSide(b, 0), recordSize(b, 0)]).toEqual([
      36,
      0x3fffffff,
      'b',
      12,
    ]);
    expect(recordText(b, 0)).toBe('\x01\x02\x03\x04');
  });

  it('stops before a record that is cut off', () => {
    const b = Buffer.concat([
      encodeRecord(15, 2, 'c', 'GET'),
      encodeRecord(16, 2, 'c', '/long/url').subarray(0, 14),
    ]);
    expect(recordsOf(b).map((row) => row.at)).toEqual([0]);
  });
});
