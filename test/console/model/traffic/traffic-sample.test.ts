// The sample of the traffic: what restarts, fragments, passes and marks add to rankings, latencies and tags.
import { expect, it } from 'vitest';
import type { LogHandlers, Source, SourceEvents } from '../../../../console/client/source.ts';
import { RateHistory } from '../../../../console/model/counters/rate-history.ts';
import { LogEntry } from '../../../../console/model/log/log-entry.ts';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import { AdminStore } from '../../../../console/model/session/admin-store.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { LatencyMeter } from '../../../../console/model/traffic/latency-meter.ts';
import { networkOf, type RankingName } from '../../../../console/model/traffic/rankings.ts';
import {
  EarlierTraffic,
  TrafficSample,
  type Window,
} from '../../../../console/model/traffic/traffic-sample.ts';
import { nextError } from '../../../../console/views/log/log-search.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import type { TagName } from '../../../../protocol/tables/tags.ts';
import { FAKE_START, type FakeRequest, fakeGroup, record } from '../../fake-recording.ts';

function request(vxid: number, url: string, more: Partial<FakeRequest> = {}): LogTransaction[] {
  return fakeGroup({
    vxid,
    at: FAKE_START,
    method: 'GET',
    url,
    status: 200,
    handling: 'HIT',
    seconds: 0.01,
    body: 10,
    ...more,
  });
}

/** A page of fragments, as the daemon groups it. */
function page(): LogTransaction[] {
  const part = (vxid: number): LogTransaction[] =>
    request(vxid, '/part').map((tx) => ({ ...tx, reason: 'esi', level: 2, parent: 2 }));
  return [...request(2, '/page'), ...part(4), ...part(6)];
}

/** A request that failed, was restarted with another URL, and then was a hit. */
function restarted(): LogTransaction[] {
  const [first, fetch] = request(12, '/first', { handling: 'MISS', status: 503, seconds: 0.2 });
  const [second] = request(16, '/second', { seconds: 0.3, body: 70 });
  if (first === undefined || fetch === undefined || second === undefined)
    throw new Error('three transactions');
  return [
    { ...first, first: true },
    { ...fetch, first: false },
    { ...second, first: false, reason: 'restart', parent: 12 },
  ];
}

function added(groups: readonly LogTransaction[]): TrafficSample {
  const sample = new TrafficSample();
  sample.add(groups, FAKE_START);
  return sample;
}

/** Records appended to the first transaction of a group. */
function marked(group: LogTransaction[], ...more: [TagName, string][]): LogTransaction[] {
  const [first, ...rest] = group as [LogTransaction, ...LogTransaction[]];
  const records = more.map(([tag, text]) => record('c', first.vxid, tag, text));
  // A mark of the lookup stands before the state that it leads to.
  return [{ ...first, records: Buffer.concat([...records, first.records]) }, ...rest];
}

it('counts what clients sent as requests, and fragments in a ranking of their own', () => {
  const sample = added(page());
  expect(sample.requests).toBe(1);
  expect(sample.latency.size).toBe(1);
  for (const ranking of ['url', 'host', 'client', 'status', 'method'] as const)
    expect(sample.top(ranking, 'requests', 9).map((r) => r.requests)).toEqual([1]);
  expect(sample.top('fragment', 'requests', 9)).toMatchObject([{ key: '/part', requests: 2, hits: 2 }]);
});

it('counts a request that was restarted once: as it was sent, and as it ended', () => {
  const sample = added(restarted());
  expect(sample.requests).toBe(1);
  expect(sample.latency.size).toBe(1);
  expect(sample.top('url', 'requests', 9)).toMatchObject([
    { key: '/first', requests: 1, hits: 1, misses: 0, errors: 0, bytes: 70, seconds: 0.27 },
  ]);
  expect(sample.top('status', 'requests', 9).map((r) => r.key)).toEqual(['200']);
  // Backend requests of each restart count.
  expect(sample.top('backend', 'requests', 9)).toEqual([]);
});

it('shows in the log how a request that was restarted ended', () => {
  const entry = new LogEntry(1, restarted(), '');
  expect(entry.summary).toMatchObject({
    url: '/first',
    status: 200,
    handling: 'hit',
    error: '',
    seconds: 0.3,
  });
  expect(entry.restarts).toBe(1);
  expect(entry.failed).toBe(false);
  expect(entry.failure).toBeNull();
});

it('finds errors by how requests ended, in the packed log too', () => {
  const log = new LogStore({ maxBytes: 1e6, maxEntries: 10 });
  const failing = restarted().map((tx) => ({ ...tx, vxid: tx.vxid + 100, parent: tx.parent + 100 }));
  const [first, fetch, last] = failing as [LogTransaction, LogTransaction, LogTransaction];
  log.add(restarted());
  // The other way round: the second life is the one that failed.
  log.add([{ ...first, records: last.records }, fetch, { ...last, records: first.records }]);
  expect(nextError(log, -1, false)).toBe(1);
  expect(nextError(log, 1, false)).toBe(-1);
});

it('distinguishes misses from passes, and marks by what they lead to', () => {
  const sample = added([
    ...request(2, '/m', { handling: 'MISS' }),
    ...request(5, '/p', { handling: 'PASS' }),
    ...marked(request(8, '/hfm', { handling: 'MISS' }), ['HitMiss', '3 119.0']),
    ...marked(request(11, '/hfp', { handling: 'PASS' }), ['HitPass', '3 119.0']),
    ...request(14, '/s', { handling: 'SYNTH' }),
  ]);
  const figures = new Map(sample.all('url').map((r) => [r.key, [r.hits, r.misses, r.passes]]));
  expect(Object.fromEntries(figures)).toEqual({
    '/m': [0, 1, 0],
    '/p': [0, 0, 1],
    '/hfm': [0, 1, 0],
    '/hfp': [0, 0, 1],
    '/s': [0, 0, 0],
  });
});

it('counts a miss whose fetch failed as one, and an answer of vcl_miss as none', () => {
  /** A request that missed, and was answered here after that subroutine had returned something. */
  const answered = (vxid: number, url: string, returned: string): LogTransaction[] => {
    const [first] = request(vxid, url) as [LogTransaction];
    const output: [TagName, string][] = [
      ['ReqURL', url],
      ['VCL_call', 'MISS'],
      ['VCL_return', returned],
      ['VCL_call', 'SYNTH'],
    ];
    return [{ ...first, records: Buffer.concat(output.map(([tag, text]) => record('c', vxid, tag, text))) }];
  };
  const groups = [answered(2, '/failed', 'fetch'), answered(5, '/made-here', 'synth')];
  const sample = added(groups.flat());
  expect(Object.fromEntries(sample.all('url').map((r) => [r.key, r.misses]))).toEqual({
    '/failed': 1,
    '/made-here': 0,
  });
  expect(groups.map((group) => new LogEntry(1, group, '').summary.handling)).toEqual(['miss', 'synth']);
});

it('takes the tags of what is kept, not of what is passed', () => {
  const tagged = (vxid: number, reason: string, handling: 'MISS' | 'PASS', tag: string): LogTransaction[] => {
    const [client, fetch] = request(vxid, `/${tag}`, { handling }) as [LogTransaction, LogTransaction];
    const header = record('b', fetch.vxid, 'BerespHeader', `xkey: ${tag}`);
    return [client, { ...fetch, reason, records: Buffer.concat([fetch.records, header]) }];
  };
  const sample = added([...tagged(2, 'fetch', 'MISS', 'kept'), ...tagged(5, 'pass', 'PASS', 'passed')]);
  expect([...sample.tags.keys()]).toEqual(['kept']);
});

it('reports since when it counts', () => {
  const sample = new TrafficSample();
  expect([sample.since, sample.latency.since]).toEqual([0, 0]);
  for (let n = 0; n < 8193; n++) sample.add(request(2, '/'), FAKE_START + n);
  // Rankings count from the first on, latencies keep the last 8192.
  expect([sample.since, sample.latency.since]).toEqual([FAKE_START, FAKE_START + 1]);
  sample.clearRanks(FAKE_START + 9000);
  expect([sample.since, sample.requests]).toEqual([FAKE_START + 9000, 0]);
});

/** With these headers. */
function from(client: string, url: string, ...headers: string[]): LogTransaction[] {
  const [tx] = request(2, url) as [LogTransaction];
  const more = [
    record('c', 2, 'ReqStart', `${client} 1 a0`),
    ...headers.map((h) => record('c', 2, 'ReqHeader', h)),
  ];
  return [{ ...tx, records: Buffer.concat([tx.records, ...more]) }];
}

it('ranks by host and path, prefix, network and X-Forwarded-For', () => {
  const sample = added([
    ...from('192.0.2.7', '/img/a.png?x=1', 'X-Forwarded-For: 203.0.113.9'),
    ...from('192.0.2.99', '/img/b/c.png', 'X-Forwarded-For: 203.0.113.9, 192.0.2.99'),
    ...from('2001:db8:1::7', '/top?q'),
    ...from('2001:db8:1:0:9:8:7:6', 'http://shop.example/img/a.png'),
  ]);
  const keys = (ranking: RankingName): [string, number][] =>
    sample.top(ranking, 'requests', 9).map((r) => [r.key, r.requests]);
  expect(keys('page')).toEqual([
    ['shop.example/img/a.png', 2],
    ['shop.example/img/b/c.png', 1],
    ['shop.example/top', 1],
  ]);
  expect(keys('prefix')).toEqual([
    ['/img/', 3],
    ['/', 1],
  ]);
  expect(keys('network')).toEqual([
    ['192.0.2.0/24', 2],
    ['2001:db8:1:0::/64', 2],
  ]);
  expect(keys('forwarded')).toEqual([['203.0.113.9', 2]]);
});

it('ranks over a window, and says since when where it has not seen all of it', () => {
  const sample = new TrafficSample();
  const ranked = (window: Window, now: number): unknown[] => {
    const { ranks, total, since, seconds } = sample.ranked('url', window, FAKE_START + now, 9);
    return [ranks.map((r) => `${r.key} ${r.requests}`), total, since - FAKE_START, seconds];
  };
  sample.add(request(2, '/old'), FAKE_START);
  expect(ranked(60, 20)).toEqual([['/old 1'], 1, 0, 20]);
  sample.add([...request(5, '/new'), ...request(8, '/new')], FAKE_START + 100);
  expect(ranked(60, 110)).toEqual([['/new 2'], 2, 50, 60]);
  expect(ranked(300, 110)).toEqual([['/new 2', '/old 1'], 3, 0, 110]);
  expect(ranked(300, 350)).toEqual([['/new 2'], 2, 50, 300]);
  expect(ranked(null, 1000)).toEqual([['/new 2', '/old 1'], 3, 0, 1000]);
});

it.each([
  ['192.0.2.7', '192.0.2.0/24'],
  ['::ffff:192.0.2.7', '192.0.2.0/24'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['/run/proxy.sock', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it('reports since when its latencies are, also of a past that came in runs', () => {
  const meter = new LatencyMeter();
  meter.add(0.1, true, 50);
  for (const at of [30, 31, 32]) meter.add(0.1, true, at, true);
  for (const at of [10, 11, 12]) meter.add(0.1, true, at, true);
  expect(meter.since).toBe(10);
});

it('shows how many seconds a window covers: whole ones, and the present', () => {
  const sample = new TrafficSample();
  for (let second = 0; second < 100; second++) sample.add(request(2, '/a'), FAKE_START + second + 0.5);
  const { total, seconds } = sample.ranked('url', 60, FAKE_START + 99.9, 9);
  expect([total, seconds]).toEqual([61, expect.closeTo(60.9)]);
  // Made once a second.
  expect(sample.ranked('url', 60, FAKE_START + 99.99, 9).seconds).toBe(seconds);
});

it('keeps of the last minutes what has room, and says since when', () => {
  const sample = new TrafficSample();
  const long = `/${'x'.repeat(30_000)}`;
  const requests = Array.from({ length: 30 }, (_, i) => request(2, `${long}${i}`)).flat();
  for (let second = 0; second < 100; second++) sample.add(requests, FAKE_START + second);
  const { total, since } = sample.ranked('url', 300, FAKE_START + 100, 9);
  expect(total).toBeLessThan(3000);
  // Thirty a second, all of each second that is left.
  expect(total).toBe(30 * (FAKE_START + 100 - since));
});

/** A session of a daemon whose counters and log come by hand. */
function byHand(): {
  session: DaemonSession;
  values(at: number, uptime: number, requests: number, woken?: number): void;
  sample(): LogHandlers;
} {
  let daemon: SourceEvents | undefined;
  let sample: LogHandlers | undefined;
  const source: Source = {
    label: 'x',
    start: (events) => {
      daemon = events;
      events.counters(
        ['MAIN.uptime', 'MAIN.client_req', 'MAIN.client_req_again'].map((name) => ({
          name,
          flag: 'c',
          format: 'i',
          level: 'info',
          description: '',
        })),
      );
    },
    command: async () => ({ status: 0, body: '' }),
    log: (sub, handlers) => {
      if (sub.rate !== undefined) sample = handlers;
      return { close: () => undefined };
    },
    setInterval: () => undefined,
    sampleNow: () => undefined,
    close: () => undefined,
  };
  const session = new DaemonSession({ source, now: () => 1, later: (fn) => fn() });
  session.start();
  return {
    session,
    values: (at, uptime, requests, woken = 0) => daemon?.values(at, [uptime, requests, woken].map(BigInt)),
    sample: () => sample as LogHandlers,
  };
}

it('counts from now on when the clock was set back to before it began', () => {
  const sample = new TrafficSample();
  sample.add(request(2, '/'), FAKE_START);
  sample.add(request(6, '/'), FAKE_START - 3600);
  const { since, seconds, requests } = sample.ranked('url', null, FAKE_START - 3590, 9);
  expect([since, seconds, requests]).toEqual([FAKE_START - 3600, 10, 1]);
});

it('asks again what it shows when the clock was set back', async () => {
  let now = 10_000;
  const asked: number[] = [];
  const command = async () => {
    asked.push(now);
    return { status: 200, body: '' };
  };
  const store = new AdminStore(
    { command } as unknown as Source,
    () => now,
    () => undefined,
  );
  store.watch([{ line: 'ban.list -j', every: 3 }]);
  await Promise.resolve();
  now = 5000;
  store.tick();
  expect(asked).toEqual([10_000, 5000]);
});

it('knows its share over a restart of the worker', () => {
  const { session, values, sample } = byHand();
  values(1, 100, 5000);
  sample().batch(Array.from({ length: 10 }, (_, i) => request(2 + 4 * i, '/')).flat());
  values(2, 101, 5090);
  expect(session.traffic.share()).toBeCloseTo(10 / 90, 5);
  // The next worker has counted more at its first report than was missing, and less than its predecessor.
  for (const [at, uptime, requests] of [
    [3, 1, 110],
    [4, 2, 6000],
  ] as const)
    values(at, uptime, requests);
  expect(session.traffic.share()).toBeCloseTo(10 / 6090, 5);
  session.traffic.clear();
  expect(session.traffic.share()).toBe(1);
  values(5, 3, 6100);
  expect(session.traffic.share()).toBe(0);
  session.close();
});

it('counts a request once that waited for the fetch of another, which the counter has twice', () => {
  const { session, values, sample } = byHand();
  values(1, 100, 5000, 1000);
  sample().batch(Array.from({ length: 10 }, (_, i) => request(2 + 4 * i, '/')).flat());
  values(2, 101, 5018, 1008);
  expect([session.traffic.share(), session.requests.slices(2, 1, 1).mean[0]]).toEqual([1, 10]);
  const at = (seconds: number, ...counted: number[]) => ({
    at: seconds,
    names: ['MAIN.uptime', 'MAIN.client_req', 'MAIN.client_req_again'],
    values: Float64Array.from([seconds, ...counted]),
  });
  const rates = new RateHistory();
  rates.prepend(1, [at(1, 0, 0), at(2, 18, 8)]);
  expect(rates.fine.requests.slices(2, 1, 1).mean).toEqual([10]);
  session.close();
});

it('takes no more of the past once it was reset, and of the past it has all', () => {
  const { session, values, sample } = byHand();
  values(1, 100, 100);
  const run = sample().earlier?.();
  run?.batch(request(5, '/'));
  values(2, 101, 110);
  expect([session.traffic.sample.requests, session.traffic.share(), run?.done(true)]).toEqual([
    1,
    1 / 11,
    true,
  ]);
  session.traffic.clear();
  run?.batch(request(5, '/'));
  expect([session.traffic.sample.requests, run?.done(true)]).toEqual([0, false]);
  session.close();
});

it('takes what was before in its order: windows and reasons know it, and are judged by it', () => {
  const sample = new TrafficSample();
  sample.add(request(20, '/b', { handling: 'MISS', at: FAKE_START + 10 }), FAKE_START + 10);
  const part = new EarlierTraffic();
  sample.addEarlier(part, request(2, '/b', { handling: 'HIT', at: FAKE_START }));
  sample.addEarlier(part, request(8, '/a', { handling: 'MISS', at: FAKE_START + 1 }));
  sample.prepend(part);
  expect(sample.unserved.last().map((one) => [one.url, one.before])).toEqual([
    ['/a', 1],
    ['/b', 2],
  ]);
  const seen: boolean[] = [];
  sample.unserved.judge(9, (_one, { hit }) => {
    seen.push(hit);
    return { cause: '', detail: '', sentence: '' };
  });
  // The newest first.
  expect(seen).toEqual([true, false]);
  const { total, since, ranks } = sample.ranked('url', 60, FAKE_START + 11, 9);
  expect([total, since, ranks.map((r) => [r.key, r.requests])]).toEqual([
    3,
    FAKE_START,
    [
      ['/b', 2],
      ['/a', 1],
    ],
  ]);
});

it('knows by the daemon’s clock when the oldest that it counted ended, of each row, cause, URL, backend and latency', () => {
  const late = FAKE_START + 500;
  const sample = new TrafficSample();
  // The console's clock goes wrong, and a request is logged when it ends.
  sample.add(request(20, '/a', { at: late, handling: 'MISS', seconds: 2 }), late - 77);
  const part = new EarlierTraffic();
  sample.addEarlier(part, restarted());
  sample.addEarlier(part, request(40, '/a', { at: FAKE_START + 64 }));
  sample.addEarlier(part, request(30, '/a', { at: FAKE_START + 60, handling: 'MISS', seconds: 2 }));
  sample.prepend(part);
  const since = (ranking: RankingName) =>
    sample.all(ranking).map(({ key, since: at }) => [key, Math.round((at - FAKE_START) * 10) / 10]);
  expect(since('url')).toEqual([
    ['/a', 62],
    ['/first', 0.3],
  ]);
  expect(since('host')).toEqual([['shop.example', 0.3]]);
  expect(sample.unserved.last().map(({ ended }) => ended - FAKE_START)).toEqual([62, 502]);
  const { urls } = sample.urls.between(FAKE_START - 10, late + 10);
  expect(urls.get('shop.example/a')?.since).toBe(FAKE_START + 62);
  // One that is as slow, and longer ago than the last of them.
  expect(sample.latency.slowest(0.99)?.since).toBe(FAKE_START + 62);
});
