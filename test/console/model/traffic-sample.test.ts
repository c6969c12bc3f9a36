// The sample of the traffic: what a page of fragments adds to rankings and latencies.
import { expect, it } from 'vitest';
import type { EarlierRun, Source, SourceEvents } from '../../../console/client/source.ts';
import { DaemonSession } from '../../../console/model/daemon-session.ts';
import { TrafficSample } from '../../../console/model/traffic-sample.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { FAKE_START, fakeGroup } from '../fake-recording.ts';

function request(vxid: number, url: string, reason: string): LogTransaction {
  const [tx] = fakeGroup({
    vxid,
    at: FAKE_START,
    method: 'GET',
    url,
    status: 200,
    handling: 'HIT',
    seconds: 0.01,
    body: 10,
  }) as [LogTransaction];
  return { ...tx, reason };
}

it('counts fragments by what they ask for, and clients by what they ask for', () => {
  const sample = new TrafficSample();
  sample.add([request(2, '/page', 'rxreq'), request(4, '/part', 'esi'), request(6, '/part', 'esi')]);
  expect(sample.requests).toBe(1);
  expect(sample.top('url', 'requests', 9).map((r) => [r.key, r.requests, r.hits])).toEqual([
    ['/part', 2, 2],
    ['/page', 1, 1],
  ]);
  expect(sample.top('host', 'requests', 9).map((r) => r.requests)).toEqual([3]);
  for (const ranking of ['client', 'status', 'method'] as const)
    expect(sample.top(ranking, 'requests', 9).map((r) => r.requests)).toEqual([1]);
});

it('takes no more of the past once it was begun anew, and counts none of it into its share', () => {
  let run: EarlierRun | undefined;
  let daemon: SourceEvents | undefined;
  const nothing = { close: () => undefined };
  const source: Source = {
    label: 'x',
    start: (events) => {
      daemon = events;
      events.counters([{ name: 'MAIN.client_req', flag: 'c', format: 'i', level: 'info', description: '' }]);
      events.values(1, [100n]);
    },
    command: async () => ({ status: 0, body: '' }),
    log: (sub, handlers) => {
      if (sub.rate !== undefined) run = handlers.earlier?.();
      return nothing;
    },
    setInterval: () => undefined,
    sampleNow: () => undefined,
    close: () => undefined,
  };
  const session = new DaemonSession({ source, now: () => 1, later: (fn) => fn() });
  session.start();
  const group = fakeGroup({
    vxid: 5,
    at: FAKE_START,
    method: 'GET',
    url: '/',
    status: 200,
    handling: 'HIT',
    seconds: 0.001,
    body: 10,
  });
  run?.batch(group);
  daemon?.values(2, [110n]);
  expect([session.sample.requests, session.sampleShare(), run?.done()]).toEqual([1, 0, true]);
  session.clearSample();
  run?.batch(group);
  expect([session.sample.requests, run?.done()]).toEqual([0, false]);
  session.close();
});
