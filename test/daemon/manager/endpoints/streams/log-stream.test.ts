import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogMask } from '../../../../../daemon/log/log-mask.ts';
import { RingPlace } from '../../../../../daemon/log/ring-place.ts';
import { RingWriter } from '../../../../../daemon/log/ring-writer.ts';
import { LogShared, TxLog } from '../../../../../daemon/log/tx-log.ts';
import { LogStreams } from '../../../../../daemon/manager/endpoints/streams/log-stream.ts';
import type { Stream, StreamError } from '../../../../../daemon/manager/endpoints/streams/stream.ts';
import { decodeLogFrame } from '../../../../../protocol/log-frame.ts';
import { recordText } from '../../../../../protocol/log-record.ts';
import type { LogSubscription, LogTransaction, ServerMessage } from '../../../../../protocol/messages.ts';
import { Tag } from '../../../../../protocol/tables/tags.ts';
import { textsOf } from '../../../../harness/records.ts';

let dir: string;
let writer: RingWriter;
let streams: LogStreams;
let log: TxLog;

const SIZE = 1 << 20;
function newWriter(): void {
  writer = new RingWriter(RingPlace.begin(join(dir, 'log.ring'), SIZE), {
    shm_records: 0,
    shm_writes: 0,
    shm_flushes: 0,
    shm_cycles: 0, shm_bytes: 0,
  });
  log = new TxLog(new LogShared(writer, new LogMask()));
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'streams-'));
  newWriter();
  streams = new LogStreams(dir);
});
afterEach(() => {
  streams.close();
  writer.close();
  rmSync(dir, { recursive: true });
});

function request(vxid: number, status: number, pad = ''): void {
  log.begin(vxid, 'c');
  log.put(Tag.Begin, 'req 1 rxreq');
  log.put(Tag.ReqURL, `/${vxid}${pad}`);
  log.put(Tag.RespStatus, String(status));
  log.put(Tag.End, '');
  writer.flush();
}

class Sink {
  untaken = 0;
  frames: LogTransaction[][] = [];
  messages: ServerMessage[] = [];
  private wake: (() => void)[] = [];
  send(frame: Uint8Array): void {
    const decoded = decodeLogFrame(frame);
    if (decoded === null) throw new Error('undecodable frame');
    expect(decoded.subscription).toBe(5);
    this.frames.push(decoded.transactions);
    for (const w of this.wake.splice(0)) w();
  }
  json(message: ServerMessage): void {
    this.messages.push(message);
    for (const w of this.wake.splice(0)) w();
  }
  buffered(): number {
    return this.untaken;
  }
  run(step: () => void): void {
    step();
  }
  get all(): LogTransaction[] {
    return this.frames.flat();
  }
  /** Waits for something to be true after a frame or message. */
  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise<void>((resolve) => this.wake.push(resolve));
  }
  get ended(): boolean {
    return this.messages.some((m) => m.t === 'end');
  }
}

function open(sub: Partial<LogSubscription>): { sink: Sink; stream: Stream } {
  const sink = new Sink();
  const stream: Stream | StreamError = streams.open(5, { grouping: 'vxid', from: 'tail', ...sub }, sink);
  if ('error' in stream) throw new Error(stream.error.message);
  expect(sink.messages).toEqual([]);
  return { sink, stream };
}

describe('log subscriptions', () => {
  it('send what is written after they were opened, only what matches, as soon as it is complete', async () => {
    request(2, 200);
    const { sink } = open({
      query: 'RespStatus == 404',
      filters: [{ kind: 'include-tags', tags: 'ReqURL' }],
    });
    const everything = open({}).sink;
    request(3, 404);
    request(4, 200);
    log.begin(5, 'c');
    log.put(Tag.Begin, 'req 1 rxreq');
    writer.flush();
    await everything.until(() => everything.all.length === 2);
    expect(everything.all.map((t) => [t.type, t.vxid, t.level, t.first])).toEqual([
      ['request', 3, 1, true],
      ['request', 4, 1, true],
    ]);
    expect(sink.all.map((t) => textsOf(t.records))).toEqual([['/3']]);
    log.put(Tag.End, '');
    writer.flush();
    await everything.until(() => everything.all.length === 3);
    expect(everything.all[2]?.vxid).toBe(5);
  });

  it('once: give all since the start and what is open, then end', async () => {
    for (let i = 2; i < 200; i++) request(i, 200);
    log.begin(1000, 'c');
    log.put(Tag.Begin, 'sess 0 HTTP/1');
    writer.flush();
    const { sink } = open({ from: 'head', once: true });
    await sink.until(() => sink.ended);
    expect(sink.all).toHaveLength(199);
    const last = sink.all.at(-1) as LogTransaction;
    expect(last.type).toBe('session');
    expect(textsOf(last.records)).toEqual(['sess 0 HTTP/1', 'flush', 'synth']);
  });

  it('from the head without once: continue with what comes', async () => {
    request(2, 200);
    const { sink } = open({ from: 'head' });
    await sink.until(() => sink.all.length === 1);
    request(3, 200);
    await sink.until(() => sink.all.length === 2);
    expect(sink.ended).toBe(false);
  });

  it('end after the number asked for', async () => {
    const { sink } = open({ max: 2 });
    for (let i = 2; i < 8; i++) request(i, 200);
    await sink.until(() => sink.ended);
    expect(sink.all.map((t) => t.vxid)).toEqual([2, 3]);
  });

  it('raw: every record for itself, all transactions in one view', async () => {
    const { sink } = open({ grouping: 'raw', query: 'ReqURL' });
    request(2, 200);
    request(3, 200);
    await sink.until(() => sink.all.length === 2);
    expect(sink.all.map((t) => [t.level, t.vxid, recordText(t.records, 0)])).toEqual([
      [0, 2, '/2'],
      [0, 3, '/3'],
    ]);
  });

  it('drop groups of a peer that does not read, and tell how many records when it does', async () => {
    const { sink } = open({});
    const other = open({}).sink;
    sink.untaken = 1e9;
    for (let i = 2; i < 12; i++) request(i, 200);
    await other.until(() => other.all.length === 10);
    expect(sink.all).toEqual([]);
    expect(sink.messages).toEqual([]);
    sink.untaken = 0;
    request(50, 200);
    await sink.until(() => sink.all.length === 1);
    expect(sink.messages).toEqual([{ t: 'lost', id: 5, records: 40, reason: 'backpressure' }]);
    expect(sink.all[0]?.vxid).toBe(50);
  });

  it('tell of records overwritten before they could be read', async () => {
    const { sink } = open({ from: 'head' });
    request(2, 200);
    await sink.until(() => sink.all.length === 1);
    const n = 8000;
    for (let i = 0; i < n; i++) request(10 + i, 200, 'x'.repeat(200));
    await sink.until(() => sink.messages.length > 0 && sink.all.at(-1)?.vxid === 9 + n);
    const lost = sink.messages.reduce(
      (sum, m) => sum + (m.t === 'lost' && m.reason === 'overrun' ? m.records : 0),
      0,
    );
    expect(lost).toBeGreaterThan(0);
    expect(lost + (sink.all.length - 1) * 4).toBe(n * 4);
  });

  it('limit the rate and report it', async () => {
    const { sink } = open({ rate: { count: 3, period: 1000 } });
    for (let i = 2; i < 12; i++) request(i, 200);
    await sink.until(() => sink.messages.length > 0);
    expect(sink.all).toHaveLength(1);
    expect(sink.messages[0]).toMatchObject({ t: 'lost', reason: 'rate' });
  });

  it('close what a dead worker left open when its successor writes', async () => {
    const { sink } = open({});
    log.begin(7, 'c');
    log.put(Tag.Begin, 'req 1 rxreq');
    writer.close();
    newWriter();
    request(7, 200);
    await sink.until(() => sink.all.length === 2);
    expect(sink.all.map((t) => textsOf(t.records))).toEqual([
      ['req 1 rxreq', 'flush', 'synth'],
      ['req 1 rxreq', '/7', '200', ''],
    ]);
  });

  it('close incomplete transactions after their time', async () => {
    const { sink } = open({ timeout: 0 });
    log.begin(7, 'c');
    log.put(Tag.Begin, 'req 1 rxreq');
    writer.flush();
    await sink.until(() => sink.all.length === 1);
    expect(recordText(sink.all[0]?.records as Uint8Array, 0)).toBe('req 1 rxreq');
  });

  it('refuse bad queries and filters with their place', () => {
    const sub: LogSubscription = { grouping: 'vxid', from: 'tail' };
    expect(streams.open(1, { ...sub, query: 'Foo' }, new Sink())).toEqual({
      error: {
        code: 'bad-query',
        message: 'Tag name matches zero tags',
        detail: 'Tag name matches zero tags (Pos 1)\nFoo\n###\n',
      },
    });
    expect(
      streams.open(1, { ...sub, filters: [{ kind: 'include-tags', tags: 'Foo' }] }, new Sink()),
    ).toMatchObject({
      error: { code: 'bad-filter', message: '-i: "Foo" matches zero tags' },
    });
  });
});
