// The sample of the traffic: what a page of fragments adds to rankings and latencies.
import { expect, it } from 'vitest';
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
