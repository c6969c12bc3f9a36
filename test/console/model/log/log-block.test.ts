// The packed log returns groups exactly as stored, however they arrive: groups of one shape after the other, foreign
// ids, padding, sizes that fill and overflow blocks.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import { findMatch, findTransaction, nextError } from '../../../../console/views/log/log-search.ts';
import { encodeRecord } from '../../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { Tag } from '../../../../protocol/tables/tags.ts';
import { runs } from '../../../harness/runs.ts';

const START = { tx: -1, record: -1 };

function plain(group: readonly LogTransaction[]): unknown {
  return group.map((tx) => ({ ...tx, records: Buffer.from(tx.records).toString('hex') }));
}

function transaction(vxid: number, records: readonly Uint8Array[], more: Partial<LogTransaction> = {}) {
  const made: LogTransaction = {
    level: 1,
    type: 'request',
    first: true,
    reason: 'rxreq',
    vxid,
    parent: 1,
    records: Buffer.concat(records),
  };
  return { ...made, ...more };
}

const text = (vxid: number, tag: keyof typeof Tag, payload: string): Uint8Array =>
  encodeRecord(Tag[tag], vxid, 'c', Buffer.from(`${payload}\0`));

/** A header unique to a group, of about this many bytes. */
function unlike(n: number, bytes: number): LogTransaction {
  return transaction(n, [
    text(n, 'ReqURL', `/${n}`),
    text(n, 'ReqHeader', `X: ${`${n},`.repeat(bytes / 4)}`),
  ]);
}

const anyRecord = fc
  .record({
    tag: fc.integer({ min: 1, max: 90 }),
    id: fc.constantFrom(7, 7, 7, 8, 0x3fffffff),
    side: fc.constantFrom<('c' | 'b' | '-')[]>('c', 'c', 'b', '-'),
    payload: fc.oneof(
      fc.constantFrom('', 'a', 'GET', 'Host: example', 'grüße'),
      fc.string({ maxLength: 300 }),
    ),
  })
  .map((r) => encodeRecord(r.tag, r.id, r.side, r.payload));

const anyGroup = fc
  .array(
    fc.record({
      level: fc.integer({ min: 0, max: 255 }),
      type: fc.constantFrom<LogTransaction['type'][]>('raw', 'session', 'request', 'bereq', 'unknown'),
      reason: fc.constantFrom('', 'rxreq', 'esi', 'größer'),
      vxid: fc.nat({ max: 0xffffffff }),
      parent: fc.nat({ max: 0xffffffff }),
      records: fc.array(anyRecord, { maxLength: 40 }).map((r) => new Uint8Array(Buffer.concat(r))),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((group) => group.map((tx, i): LogTransaction => ({ ...tx, first: i === 0 })));

describe('the packed log', () => {
  it('gives back what it was given, in blocks of any size', () => {
    fc.assert(
      fc.property(
        fc.array(anyGroup, { maxLength: 30 }),
        fc.constantFrom(1000, 100_000, 1e7),
        (groups, room) => {
          const store = new LogStore({ maxBytes: room, maxEntries: 1000 });
          // Two are one batch, and none of its bytes is touched again.
          for (let i = 0; i < groups.length; i += 2) store.add(groups.slice(i, i + 2).flat());
          const kept = groups.slice(groups.length - store.size);
          expect(kept.length + store.dropped).toBe(groups.length);
          for (const [i, group] of kept.entries())
            expect(plain(store.at(i)?.transactions ?? [])).toEqual(plain(group));
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it('holds a record once, and what does not repeat as often as it comes', () => {
    const store = new LogStore({ maxBytes: 1e8, maxEntries: 1e6 });
    for (let n = 1; n <= 100; n++)
      store.add([transaction(n, [text(n, 'ReqHeader', 'X: '.padEnd(1000, 'x')), text(n, 'ReqURL', '/')])]);
    expect(store.bytes).toBeLessThan(1000 + 100 * 50);
    for (let n = 1; n <= 100; n++) store.add([unlike(n, 1000)]);
    expect(store.bytes).toBeGreaterThan(80_000);
  });

  it('does not hold on to the frame that a group came in, nor to a block that someone still reads', () => {
    const store = new LogStore({ maxBytes: 1 << 20, maxEntries: 100 });
    const frame = Buffer.concat([text(5, 'ReqURL', '/first')]);
    store.add([{ ...transaction(5, []), records: frame }]);
    frame.fill(0xff);
    const first = store.at(0);
    for (let n = 0; n < 5000; n++) store.add([unlike(n, 500)]);
    expect(store.indexOf(1)).toBe(0);
    expect(Buffer.from(first?.url ?? []).toString()).toBe('/first');
    expect(first?.transactions[0]?.vxid).toBe(5);
  });

  it('keeps what is larger than a block, and what is no row of records, as it came', () => {
    const store = new LogStore({ maxBytes: 1 << 20, maxEntries: 100 });
    const large = Array.from({ length: 20 }, (_, n) => unlike(n, 4000)).map((tx, i) => ({
      ...tx,
      first: i === 0,
    }));
    const broken = transaction(9, [Buffer.from([0xff, 0xff, 0, 1, 9, 0, 0, 0x40])]);
    store.add([unlike(50, 100)]);
    store.add(large);
    store.add([broken]);
    store.add([unlike(51, 100)]);
    expect([0, 1, 2, 3].map((i) => plain(store.at(i)?.transactions ?? []))).toEqual(
      [[unlike(50, 100)], large, [broken], [unlike(51, 100)]].map(plain),
    );
    expect(findTransaction(store, 13)).toEqual({ seq: 2, place: { tx: 13, record: -1 } });
    expect(findMatch(store, 1, START, '13,13', false)).toEqual({ seq: 2, place: { tx: 13, record: 1 } });
    expect(nextError(store, 0, false)).toBe(-1);
  });

  it('finds texts and errors across blocks, forwards and backwards', () => {
    const store = new LogStore({ maxBytes: 1 << 20, maxEntries: 10_000 });
    for (let n = 1; n <= 900; n++) {
      const odd = n === 17 || n === 600;
      const status = text(n, 'RespStatus', odd ? '503' : '200');
      const header = text(n, 'ReqHeader', odd ? 'X-Größe: Übermut' : `Y: ${n}${'-'.repeat(300)}`);
      store.add([transaction(n, [text(n, 'ReqURL', `/${n}`), header, status])]);
    }
    const at = (seq: number) => ({ seq, place: { tx: 0, record: 1 } });
    expect(findMatch(store, 1, START, 'übermut', false)).toEqual(at(17));
    expect(findMatch(store, 17, at(17).place, 'größe', false)).toEqual(at(600));
    expect(findMatch(store, 900, { tx: 0, record: 9 }, 'x-gr', true)).toEqual(at(600));
    expect(findMatch(store, 600, at(600).place, 'X-Gr', true)).toEqual(at(17));
    expect(findMatch(store, 1, START, 'X-gr', false)).toBeNull();
    expect(findMatch(store, 1, START, '/450', false)).toEqual({ seq: 450, place: { tx: 0, record: 0 } });
    expect(findMatch(store, 600, at(600).place, 'übermut', false)).toBeNull();
    // A text does not reach from one record into the next.
    expect(findMatch(store, 1, START, '/17\0', false)).toBeNull();
    expect([nextError(store, 0, false), nextError(store, 16, false), nextError(store, 899, true)]).toEqual([
      16, 599, 599,
    ]);
    expect(findTransaction(store, 450)?.seq).toBe(450);
  });
});
