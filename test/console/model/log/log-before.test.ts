// Earlier history: groups in front of those in a store, latencies before others.
import { describe, expect, it } from 'vitest';
import type { EarlierRun, LogHandlers, SourceEvents } from '../../../../console/client/source.ts';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { LatencyMeter } from '../../../../console/model/traffic/latency-meter.ts';
import { LogPainter } from '../../../../console/views/log/log-rows.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { FAKE_START, fakeGroup } from '../../fake-recording.ts';

const LARGE = { maxBytes: 1 << 26, maxEntries: 1e6 };

function groups(from: number, count: number): LogTransaction[] {
  return Array.from({ length: count }, (_, i) =>
    fakeGroup({
      vxid: 1000 + (from + i) * 3,
      at: FAKE_START + from + i,
      method: 'GET',
      url: `/${from + i}/${'x'.repeat((i * 37) % 300)}`,
      status: 200,
      handling: i % 3 === 0 ? 'MISS' : 'HIT',
      seconds: 0.001,
      body: 10,
    }),
  ).flat();
}

const urls = (store: LogStore): number[] =>
  Array.from({ length: store.size }, (_, i) => {
    const entry = store.at(i);
    return entry === undefined || entry.gap !== '' ? -1 : Number(entry.summary.url.split('/')[1]);
  });
const run = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

function recall(store: LogStore, from: number, count: number): void {
  const part = store.before();
  part.add(groups(from, count));
  store.prepend(part);
}

describe('a log', () => {
  it('grows at both ends, and numbers stay those of their groups', () => {
    const store = new LogStore(LARGE);
    store.add(groups(5000, 3));
    const seq = store.at(1)?.seq as number;
    recall(store, 4900, 100);
    store.add(groups(5003, 2));
    recall(store, 1900, 3000);
    store.addGap('a gap');
    recall(store, 1890, 10);
    expect(urls(store)).toEqual([...run(1890, 5005), -1]);
    expect(store.at(store.indexOf(seq))?.summary.url).toMatch(/^\/5001\//);
    expect(store.received).toBe(3115);
    const hash = store.urlHash(Buffer.from(`/4901/${'x'.repeat(37)}`));
    expect(store.find(0, false, (block, n) => block.mayHaveUrl(n, hash))).toBe(3011);
  });

  it('may begin with what was before', () => {
    const store = new LogStore(LARGE);
    recall(store, 10, 5);
    store.add(groups(15, 5));
    recall(store, 5, 5);
    expect(urls(store)).toEqual(run(5, 20));
    // It has received as much as one that was there all the time.
    const live = new LogStore(LARGE);
    for (const from of [5, 10, 15]) live.add(groups(from, 5));
    expect([store.received, store.records]).toEqual([live.received, live.records]);
    store.clear();
    for (const from of [15, 10, 5]) recall(store, from, 5);
    expect([store.received, store.records]).toEqual([live.received, live.records]);
  });

  it('takes no more than it has room for, the newest of it, and nothing once something has gone', () => {
    const store = new LogStore({ maxBytes: 1 << 26, maxEntries: 20 });
    store.add(groups(100, 5));
    expect(store.hasRoom).toBe(true);
    recall(store, 70, 30);
    expect(urls(store)).toEqual(run(85, 105));
    expect([store.hasRoom, store.dropped]).toEqual([false, 0]);
    store.add(groups(105, 1));
    recall(store, 60, 10);
    expect(urls(store)).toEqual(run(86, 106));
    const small = new LogStore({ maxBytes: 64 << 10, maxEntries: 1e6 });
    small.add(groups(1000, 5));
    recall(small, 0, 1000);
    expect(urls(small)).toEqual(run(1005 - small.size, 1005));
    expect(small.bytes).toBeLessThanOrEqual(64 << 10);
    expect(small.size).toBeGreaterThan(50);
  });

  it('takes nothing from before what had no room', () => {
    // One that is larger than a block, and all the room that there is.
    const whole = fakeGroup({
      vxid: 1,
      at: FAKE_START,
      method: 'GET',
      url: `/9/${'x'.repeat(60 << 10)}`,
      status: 200,
      handling: 'HIT',
      seconds: 0.001,
      body: 10,
    });
    for (const newer of [[], groups(10, 5)]) {
      const store = new LogStore({ maxBytes: 64 << 10, maxEntries: 1e6 });
      store.add(groups(100, 5));
      const part = store.before();
      part.add([...whole, ...newer]);
      store.prepend(part);
      const kept = urls(store);
      expect(kept).toEqual(newer.length === 0 ? run(100, 105) : [...run(10, 15), ...run(100, 105)]);
      expect(store.hasRoom).toBe(false);
      recall(store, 0, 5);
      expect(urls(store)).toEqual(kept);
      store.clear();
      expect(store.hasRoom).toBe(true);
    }
  });

  it('uses no number again after it was cleared', () => {
    const store = new LogStore({ maxBytes: 1 << 26, maxEntries: 100 });
    store.add(groups(0, 50));
    const last = store.at(49)?.seq as number;
    store.clear();
    store.add(groups(60, 1));
    recall(store, 0, 60);
    expect(urls(store)).toEqual(run(0, 61));
    expect(store.at(0)?.seq).toBeGreaterThan(last);
  });
});

describe('latencies', () => {
  it('have a slowest hundredth with all that is as slow, and know its oldest', () => {
    const meter = new LatencyMeter();
    expect(meter.slowest(0.99)).toBeNull();
    for (let i = 0; i < 990; i++) meter.add(0.001, true, 10);
    for (let i = 0; i < 10; i++) meter.add(1.01 + i / 1000, false, 20 + i);
    const { above = 9, since } = meter.slowest(0.995) ?? {};
    expect([above < 1.01, above > 0.8, since]).toEqual([true, true, 20]);
    // The bound itself may be found in any bucket.
    for (const seconds of [1e-7, 1e-6, 0.00112, 0.5, 10, 1e4]) {
      const one = new LatencyMeter();
      one.add(seconds, false, 7);
      expect(one.slowest(0.99)?.since).toBe(7);
      expect(one.slowest(0.99)?.above).toBeLessThan(seconds);
    }
  });

  it('of before fill what room is left, and leave first', () => {
    const meter = new LatencyMeter();
    for (let i = 0; i < 100; i++) meter.add(1, false, 50);
    for (let i = 0; i < 10_000; i++) meter.add(0.001, true, 9, true);
    expect(meter.size).toBe(8192);
    expect(meter.percentile(0.999)).toBeCloseTo(1);
    for (let i = 0; i < 8092; i++) meter.add(1, false, 50);
    expect(meter.percentile(0.5, 'hits')).toBeNull();
    expect(meter.size).toBe(8192);
  });
});

it('is searched to its beginning, and reports nothing as missing before that', () => {
  let events: SourceEvents | undefined;
  const logs: LogHandlers[] = [];
  const session = new DaemonSession({
    source: {
      label: 'made up',
      start: (reported) => {
        events = reported;
      },
      command: () => Promise.resolve({ status: 101, body: '' }),
      log: (_, handlers) => {
        logs.push(handlers);
        return { close: () => undefined };
      },
      setInterval: () => undefined,
      sampleNow: () => undefined,
      close: () => undefined,
    },
    now: () => FAKE_START,
    later: () => undefined,
  });
  session.start();
  events?.connection({ state: 'up', identity: 'x', version: '1' });
  const output = (): string =>
    new LogPainter()
      .empty(session)
      .map(({ text }) => text.trim())
      .join('');
  session.log.follow('ReqURL eq "/"', 'request');
  const runOf = (handlers = logs.at(-1)): EarlierRun => handlers?.earlier?.() as EarlierRun;
  expect([session.log.readingBack, output()]).toEqual([false, 'nothing matched yet']);
  const first = runOf();
  expect([session.log.readingBack, output()]).toEqual([true, 'searching earlier records']);
  // Between two runs, too.
  first.done(true);
  expect(session.log.readingBack).toBe(true);
  runOf().done(false);
  expect([session.log.readingBack, output()]).toEqual([false, 'nothing matched yet']);
  // Of two instances as one, until both are through.
  session.log.follow('ReqURL eq "/a"', 'request');
  const [one, other] = [runOf(), runOf()];
  one.done(false);
  expect(session.log.readingBack).toBe(true);
  other.done(false);
  expect(session.log.readingBack).toBe(false);
  // A connection that is lost takes it with it.
  runOf();
  events?.connection({ state: 'waiting', attempt: 1, retryAt: FAKE_START, reason: 'gone' });
  expect(session.log.readingBack).toBe(false);
  session.close();
});
