// How backends answered lately, of fetches in the sample.
import { expect, it } from 'vitest';
import { PARTS } from '../../../../console/model/traffic/backend-traffic.ts';
import { EarlierTraffic, TrafficSample } from '../../../../console/model/traffic/traffic-sample.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import type { TagName } from '../../../../protocol/tables/tags.ts';
import { record } from '../../fake-recording.ts';

const NOW = 1_000_000;
let vxid = 0;

function fetch(...records: [TagName, string][]): LogTransaction[] {
  const id = ++vxid;
  const bytes = Buffer.concat(records.map(([tag, text]) => record('b', id, tag, text)));
  return [{ level: 1, type: 'bereq', reason: 'fetch', vxid: id, parent: 0, records: bytes }];
}

const answered = (backend: string, seconds: number, status = 200, at = NOW): LogTransaction[] =>
  fetch(
    ['Timestamp', `Start: ${at}.000000 0.000000 0.000000`],
    ['BackendOpen', `5 ${backend} 127.0.0.1 8080 127.0.0.1 40000 connect`],
    ['Timestamp', `Beresp: ${at}.000000 ${seconds} ${seconds}`],
    ['BerespStatus', String(status)],
  );

it('has the times to the first byte and the share of errors of each backend', () => {
  const sample = new TrafficSample();
  for (let n = 1; n <= 100; n++) sample.add(answered('a', n / 100, n > 95 ? 503 : 200), NOW);
  sample.add(answered('b', 0.001), NOW);
  const a = sample.backendTraffic(NOW).get('a');
  expect(a).toMatchObject({ fetches: 100, errors: 5, p50: 0.5, p99: 0.99 });
  expect(sample.backendTraffic(NOW).get('b')).toMatchObject({ fetches: 1, errors: 0, p99: 0.001 });
});

it('counts what got no connection, which the error alone names, and has no time for it', () => {
  const sample = new TrafficSample();
  sample.add(
    fetch(
      ['FetchError', 'backend gone: fail errno 111 (Connection refused)'],
      ['Timestamp', `Beresp: ${NOW}.000000 0.000300 0.000300`],
    ),
    NOW,
  );
  expect(sample.backendTraffic(NOW).get('gone')).toMatchObject({
    fetches: 1,
    errors: 1,
    p50: null,
    p99: null,
  });
  expect(sample.top('backend', 'errors', 1)[0]).toMatchObject({ key: 'gone', errors: 1 });
});

it('shows how it went over five minutes, those before it came included, and forgets what is older', () => {
  const sample = new TrafficSample();
  sample.add(answered('a', 0.2), NOW);
  const part = new EarlierTraffic();
  sample.addEarlier(part, answered('a', 2, 500, NOW - 290));
  sample.prepend(part);
  const { slow = [], failing = [], since } = sample.backendTraffic(NOW).get('a') ?? {};
  expect(since).toBe(NOW - 290);
  expect(slow).toEqual([2, ...Array(PARTS - 2).fill(Number.NaN), 0.2]);
  expect([failing[0], failing.at(-1)]).toEqual([1, 0]);
  expect(sample.trafficSince(NOW)).toBe(NOW - 290);
  expect(sample.backendTraffic(NOW + 100).get('a')?.fetches).toBe(1);
});
