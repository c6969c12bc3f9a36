import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogMask } from '../../../daemon/log/log-mask.ts';
import { BLOCK_HEAD } from '../../../daemon/log/ring-format.ts';
import { RingPlace } from '../../../daemon/log/ring-place.ts';
import { RingReader } from '../../../daemon/log/ring-reader.ts';
import { RingWriter } from '../../../daemon/log/ring-writer.ts';
import { LogShared, PreparedRecords, TxLog } from '../../../daemon/log/tx-log.ts';
import { encodeRecord, recordText } from '../../../protocol/log-record.ts';
import { Tag, type TagName } from '../../../protocol/tables/tags.ts';
import { recordsOf } from '../../harness/records.ts';

let dir: string;
let writer: RingWriter;
let shared: LogShared;
let log: TxLog;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'txlog-'));
  writer = new RingWriter(RingPlace.begin(join(dir, 'log.ring'), 1 << 20), {
    shm_records: 0,
    shm_writes: 0,
    shm_flushes: 0,
    shm_cycles: 0,
    shm_bytes: 0,
  });
  shared = new LogShared(writer, new LogMask());
  log = new TxLog(shared);
  log.begin(7, 'c');
});
afterEach(() => {
  writer.close();
  rmSync(dir, { recursive: true });
});

/** Takes what is in the staging buffer. */
function staged(): Buffer {
  const out = Buffer.from(writer.bytes.subarray(BLOCK_HEAD, writer.pos));
  writer.flush();
  return out;
}

function lines(): string[] {
  const b = staged();
  return recordsOf(b).map(({ vxid, side, tag, text }) => `${vxid}${side} ${tag} ${text}`);
}

describe('TxLog', () => {
  it('encodes texts of every length as the record format says', () => {
    // Dirty the buffer first, so that padding that is not written shows.
    for (let i = 0; i < 200; i++) log.put(Tag.VCL_Log, '\xff'.repeat(60));
    staged();
    for (let n = 0; n < 130; n++) {
      const text = Array.from({ length: n }, (_, i) => String.fromCharCode(33 + ((i * 7) % 90))).join('');
      log.put(Tag.VCL_Log, text);
      expect(staged().equals(encodeRecord(Tag.VCL_Log, 7, 'c', text)), `length ${n}`).toBe(true);
      log.putBytes(Tag.VCL_Log, Buffer.from(`ab${text}c`, 'latin1'), 2, 2 + n);
      expect(staged().equals(encodeRecord(Tag.VCL_Log, 7, 'c', text)), `bytes of length ${n}`).toBe(true);
    }
  });

  it('keeps any latin1 text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = Buffer.from(bytes).toString('latin1');
        log.put(Tag.VCL_Log, text);
        expect(staged().equals(encodeRecord(Tag.VCL_Log, 7, 'c', text))).toBe(true);
      }),
    );
  });

  it('writes code points beyond latin1 as UTF-8', () => {
    log.put(Tag.VCL_Log, '€uro');
    const b = staged();
    expect(Buffer.from(recordText(b, 0), 'latin1').toString('utf8')).toBe('€uro');
  });

  it('cuts texts at vsl_reclen, the final NUL included', () => {
    shared.reclen = 20;
    log.put(Tag.VCL_Log, 'x'.repeat(19));
    log.put(Tag.VCL_Log, 'x'.repeat(20));
    log.put(Tag.VCL_Log, 'x'.repeat(400));
    expect(lines().map((l) => l.length - '7c 72 '.length)).toEqual([19, 19, 19]);
  });

  it('marks sides and ids', () => {
    log.put(Tag.End, '');
    log.begin(8, 'b');
    log.put(Tag.End, '');
    log.begin(0, '-');
    log.put(Tag.CLI, 'Rd ping');
    expect(lines()).toEqual(['7c 77 ', '8b 77 ', '0- 3 Rd ping']);
  });

  it('times: absolute, since the first, since the last', () => {
    log.timestamp('Start', 1795220603.16039);
    log.timestamp('Req', 1795220603.160391);
    log.timestamp('Process', 1795220604.5);
    log.timestamp('Resp', 1795220615.25);
    expect(lines()).toEqual([
      '7c 80 Start: 1795220603.160390 0.000000 0.000000',
      '7c 80 Req: 1795220603.160391 0.000001 0.000001',
      '7c 80 Process: 1795220604.500000 1.339610 1.339609',
      '7c 80 Resp: 1795220615.250000 12.089610 10.750000',
    ]);
  });

  it('times as printf does, whatever the value', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2e15 }), fc.integer({ min: 0, max: 1e10 }), (start, more) => {
        log.begin(7, 'c');
        log.timestamp('A', start / 1e6);
        log.timestamp('B', (start + more) / 1e6);
        const [, second] = lines();
        const micros = Number((second as string).split(' ')[4]?.replace('.', ''));
        expect(Math.abs(micros - more)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('obeys the mask, for prepared records too, and follows its changes', () => {
    const prepared = new PreparedRecords([
      [Tag.VCL_call, 'RECV'],
      [Tag.Hash, '/'],
      [Tag.VCL_return, 'hash'],
    ]);
    log.put(Tag.Debug, 'x');
    log.putConstant(prepared);
    expect(lines()).toEqual(['7c 60 RECV', '7c 62 hash']);
    shared.mask.leaveOut(['VCL_call']);
    log.begin(9, 'b');
    log.putConstant(prepared);
    expect(lines()).toEqual(['9b 70 /', '9b 62 hash']);
    expect(log.wants(Tag.VCL_call)).toBe(false);
    shared.mask.leaveOut([]);
    expect(log.wants(Tag.VCL_call)).toBe(true);
  });

  it('puts records together from parts', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.nat(2 ** 52), fc.nat(2e9), fc.nat(1e6), fc.nat(1e3)),
        fc.string({ unit: fc.constantFrom('a', ' ', 'é'), maxLength: 30 }),
        (n, text) => {
          log.open().int(n).text(text).fixed(0).close(Tag.VCL_Log);
          expect(lines()).toEqual([`7c 72 ${n}${text}0.000000`]);
        },
      ),
    );
    log.open().text('never').close(Tag.Debug);
    expect(lines()).toEqual([]);
  });

  it('counts bytes in one record', () => {
    log.acct(Tag.ReqAcct, 75, 0, 75, 280, 1024, 1304);
    expect(lines()).toEqual(['7c 81 75 0 75 280 1024 1304']);
  });
});

describe('tag numbers', () => {
  it('keep each message family in a row', () => {
    for (const family of ['Req', 'Resp', 'Bereq', 'Beresp', 'Obj']) {
      const row = ['Method', 'URL', 'Protocol', 'Status', 'Reason', 'Header', 'Unset', 'Lost'].map(
        (member) => Tag[`${family}${member}` as TagName],
      );
      expect(row).toEqual(row.map((_, i) => (row[0] as number) + i));
    }
    expect([Tag.Debug, Tag.ReqMethod, Tag.Timestamp, Tag.VdpAcct]).toEqual([1, 15, 80, 96]);
  });

  it('writes prepared records that are more than a block holds', () => {
    const items = Array.from(
      { length: 2000 },
      (_, i) => [Tag.RespHeader, `H${i}: ${'x'.repeat(200)}`] as const,
    );
    const records = new PreparedRecords(items);
    const reader = RingReader.open(join(dir, 'log.ring'), 'tail') as RingReader;
    // The second time they are encoded.
    log.putConstant(records);
    log.putConstant(records);
    log.put(Tag.VCL_Log, 'after');
    writer.flush();
    const texts: string[] = [];
    for (let read = reader.read(); read !== null; read = reader.read()) {
      expect(read.lost).toBe(0);
      for (const block of read.blocks) texts.push(...recordsOf(block.records).map(({ text }) => text));
    }
    const once = items.map(([, text]) => text);
    expect(texts).toEqual([...once, ...once, 'after']);
  });

  it('cuts a Timestamp with a name of any length', () => {
    for (const length of [150, 151, 1000, 100_000]) {
      log.timestamp('n'.repeat(length), 1e9);
      const full = `${'n'.repeat(length)}: 1000000000.000000 0.000000 0.000000`;
      expect(lines()).toEqual([`7c ${Tag.Timestamp} ${full.slice(0, 254)}`]);
    }
    shared.reclen = 16;
    log.timestamp('Start', 1e9);
    log.acct(Tag.ReqAcct, 100, 200, 300, 400, 500, 600);
    expect(lines()).toEqual([`7c ${Tag.Timestamp} Start: 10000000`, `7c ${Tag.ReqAcct} 100 200 300 400`]);
  });
});
