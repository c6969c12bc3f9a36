// One stream of log records, its past, and those who want some of it: nothing is missing and nothing comes twice.
import { describe, expect, it } from 'vitest';
import type { LogHandlers } from '../../../console/client/source.ts';
import { KeptRecords } from '../../../console/varnish/kept-records.ts';
import { LogHub } from '../../../console/varnish/log-hub.ts';
import { overlapAt } from '../../../console/varnish/varnish-log.ts';
import { encodeRecord } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { until } from '../../harness/processes.ts';

const begin = (vxid: number): Buffer => encodeRecord(Tag.Begin, vxid, 'c', 'req 1 rxreq');
const url = (vxid: number, path: string): Buffer => encodeRecord(Tag.ReqURL, vxid, 'c', path);
const end = (vxid: number): Buffer => encodeRecord(Tag.End, vxid, 'c', '');
const request = (vxid: number, path = `/${vxid}`): Buffer =>
  Buffer.concat([begin(vxid), url(vxid, path), end(vxid)]);

interface Heard {
  live: number[];
  past: number[][];
  ended: boolean;
  failed: string;
}

function listener(runs = 10): { received: Heard; handlers: LogHandlers } {
  const received: Heard = { live: [], past: [], ended: false, failed: '' };
  const ids = (transactions: LogTransaction[]): number[] => transactions.map((tx) => tx.vxid);
  const handlers: LogHandlers = {
    batch: (transactions) => received.live.push(...ids(transactions)),
    lost: () => undefined,
    failed: (message) => {
      received.failed = message;
    },
    ended: () => {
      received.ended = true;
    },
    earlier: () => {
      const run: number[] = [];
      received.past.unshift(run);
      return {
        batch: (transactions) => run.push(...ids(transactions)),
        done: () => received.past.length < runs,
      };
    },
  };
  return { received, handlers };
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe('the hub', () => {
  it('gives each its share of what comes', async () => {
    const hub = new LogHub(() => 0);
    const all = listener();
    const some = listener();
    hub.subscribe({ grouping: 'request', from: 'tail' }, all.handlers);
    hub.subscribe({ grouping: 'request', from: 'tail', query: 'ReqURL eq "/2"' }, some.handlers);
    await settle();
    const bytes = Buffer.concat([request(1), request(2), begin(3)]);
    hub.push(bytes);
    hub.push(Buffer.concat([url(3, '/3'), end(3)]));
    expect(all.received.live).toEqual([1, 2, 3]);
    expect(some.received.live).toEqual([2]);
  });

  it('sends the oldest record that is asked for, and no more', async () => {
    const hub = new LogHub(() => 0);
    const time = (vxid: number): Buffer => encodeRecord(Tag.Timestamp, vxid, 'c', `Start: ${vxid} 0 0`);
    hub.past([Buffer.concat([end(1), time(2)]), time(3)]);
    const { received, handlers } = listener();
    hub.subscribe({ grouping: 'raw', query: 'Timestamp', from: 'head', once: true, max: 1 }, handlers);
    await settle();
    expect([received.live, received.ended]).toEqual([[2], true]);
  });

  it('reports what is wrong with a query', async () => {
    const one = listener();
    new LogHub(() => 0).subscribe({ grouping: 'request', from: 'tail', query: 'ReqURL !' }, one.handlers);
    await settle();
    expect(one.received.failed).toContain('ReqURL !');
  });

  it('brings what was before, and what began before and ends now, once', async () => {
    const hub = new LogHub(() => 0);
    const { received, handlers } = listener();
    hub.subscribe({ grouping: 'request', from: 'tail' }, handlers);
    await settle();
    hub.push(Buffer.concat([end(3), request(4)]));
    const later = listener();
    hub.subscribe({ grouping: 'request', from: 'tail' }, later.handlers);
    await settle();
    hub.past([request(1), Buffer.concat([request(2), begin(3), begin(6)])]);
    await settle();
    hub.push(Buffer.concat([request(5), end(6)]));
    expect(received.live).toEqual([4, 3, 5, 6]);
    expect(received.past.flat()).toEqual([1, 2]);
    expect(later.received.live).toEqual([5, 6]);
    expect(later.received.past.flat().sort()).toEqual([1, 2, 3, 4]);
  });

  /** A request that fetched, as Varnish logs it: at its end, when its fetch has been logged. */
  const fetched = (vxid: number): [Buffer, Buffer] => [
    Buffer.concat([encodeRecord(Tag.Begin, vxid + 1, 'b', `bereq ${vxid} fetch`), end(vxid + 1)]),
    Buffer.concat([
      begin(vxid),
      encodeRecord(Tag.Link, vxid, 'c', `bereq ${vxid + 1} fetch`),
      encodeRecord(Tag.ReqHeader, vxid, 'c', `x: ${'x'.repeat(60_000)}`),
      end(vxid),
    ]),
  ];

  it('has a request whose fetch was logged before the stream began', async () => {
    const hub = new LogHub(() => 0);
    const { received, handlers } = listener();
    hub.subscribe({ grouping: 'request', from: 'tail' }, handlers);
    await settle();
    const [fetch, rest] = fetched(1);
    hub.push(Buffer.concat([rest, request(3)]));
    hub.past([request(4), fetch]);
    await settle();
    expect(received.live).toEqual([3, 1, 2]);
    expect(received.past.flat()).toEqual([4]);
  });

  it('has each request once that lies in two runs of the past', async () => {
    const hub = new LogHub(() => 0);
    const pieces: Buffer[] = [];
    // A run may begin at each piece.
    for (let vxid = 1; vxid < 60; vxid += 2) {
      const [fetch, rest] = fetched(vxid);
      const last = pieces.pop() ?? Buffer.alloc(0);
      pieces.push(Buffer.concat([last, fetch]), rest);
    }
    hub.past(pieces);
    const { received, handlers } = listener(100);
    hub.subscribe({ grouping: 'request', from: 'tail' }, handlers);
    await until('all of it', () => received.past.flat().length >= 60);
    expect(received.past.length).toBeGreaterThan(2);
    expect(received.past.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
  });

  it('sends a later subscriber all of it again, including what was open in between', async () => {
    const hub = new LogHub(() => 0);
    hub.past([request(1)]);
    hub.push(Buffer.concat([request(2), begin(3)]));
    const { received, handlers } = listener();
    hub.subscribe({ grouping: 'request', from: 'tail' }, handlers);
    await settle();
    hub.push(Buffer.concat([end(3), request(4)]));
    await settle();
    expect(received.past.flat().sort()).toEqual([1, 2]);
    expect(received.live).toEqual([3, 4]);
  });

  it('reads backwards only as far as more is wanted', async () => {
    const hub = new LogHub(() => 0);
    const pieces: Buffer[] = [];
    for (let i = 0; i < 40; i++) pieces.push(request(i + 1, `/${'x'.repeat(60_000)}`));
    hub.past(pieces);
    const { received, handlers } = listener(2);
    hub.subscribe({ grouping: 'request', from: 'tail' }, handlers);
    await settle();
    expect(received.past.length).toBe(2);
    const ids = received.past.flat();
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(ids.at(-1)).toBe(40);
    expect(ids.length).toBeLessThan(30);
  });

  it('reads the past to its end for one who asks once', async () => {
    const hub = new LogHub(() => 0);
    hub.past([request(1)]);
    hub.push(request(2));
    const { received, handlers } = listener();
    hub.subscribe({ grouping: 'request', from: 'head', once: true }, handlers);
    await settle();
    hub.push(request(3));
    expect([received.live, received.ended]).toEqual([[1, 2], true]);
  });
});

describe('the kept records', () => {
  it('are bounded, and cut exactly', () => {
    const kept = new KeptRecords(200_000);
    for (let i = 0; i < 10; i++) kept.push(new Uint8Array(60_000).fill(i));
    expect(kept.end).toBe(600_000);
    expect(kept.start).toBeGreaterThanOrEqual(400_000);
    const cut = kept.between(599_990, 599_995);
    expect(cut.map((b) => [...b])).toEqual([[9, 9, 9, 9, 9]]);
  });
});

describe('the overlap of the past with the stream', () => {
  const ping = encodeRecord(Tag.CLI, 0, '-', 'Rd ping');
  const past = Buffer.concat([request(1), ping, request(2), ping]);
  const rest = request(2).length + ping.length;
  it.each([
    ['is its end', past, Buffer.concat([request(2), ping, request(3)]), past.length - rest],
    ['is one record', past, Buffer.concat([ping, request(3)]), past.length - ping.length],
    ['is all', past, Buffer.concat([past, ping]), 0],
    [
      'is not a record that looks like its first',
      past,
      Buffer.concat([ping, request(2)]),
      past.length - ping.length,
    ],
    ['is nothing where the stream is not as far yet', past, request(2), -1],
    ['is nothing', past, request(9), -1],
    ['is nothing yet', past, Buffer.alloc(0), -1],
  ])('%s', (_name, before, stream, at) => {
    expect(overlapAt(before, stream)).toBe(at);
  });
});
