// Changes of the median of a backend, and what is no change.

import { expect, it } from 'vitest';
import type { BackendTraffic } from '../../../../console/model/traffic/backend-traffic.ts';
import { SlowBackends } from '../../../../console/model/traffic/slow-backends.ts';

function traffic(fetches: number, p50: number | null): ReadonlyMap<string, BackendTraffic> {
  const rest = { since: 0, errors: 0, lastError: null, p99: p50, slow: [], failing: [] };
  return new Map([['shop', { fetches, p50, ...rest }]]);
}

it('says once that a backend became slow, and once that it is no longer', () => {
  const watch = new SlowBackends();
  const usual = traffic(200, 0.1);
  expect(watch.take(usual, traffic(20, 0.11))).toEqual([]);
  const [began, ...more] = watch.take(usual, traffic(20, 0.9));
  expect([began, more]).toEqual([{ backend: 'shop', usual: 0.1, now: 0.9, isOver: false }, []]);
  // After minutes the slow answers are the most: still no recovery.
  expect(watch.take(traffic(200, 0.9), traffic(20, 0.9))).toEqual([]);
  expect(watch.take(traffic(200, 0.9), traffic(20, 0.12))).toEqual([
    { backend: 'shop', usual: 0.1, now: 0.12, isOver: true },
  ]);
});

it('takes neither few fetches, nor a short time, nor a backend that was never fast for slow', () => {
  const watch = new SlowBackends();
  expect(watch.take(traffic(200, 0.1), traffic(9, 5))).toEqual([]);
  expect(watch.take(traffic(25, 0.1), traffic(20, 5))).toEqual([]);
  expect(watch.take(traffic(200, 0.001), traffic(20, 0.1))).toEqual([]);
  expect(watch.take(traffic(200, 1), traffic(20, 1.5))).toEqual([]);
  expect(watch.take(traffic(200, null), traffic(20, null))).toEqual([]);
});
