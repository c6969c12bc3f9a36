// A node's report of its traffic and its addresses.
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  listening,
  ownAddress,
  reachedAt,
  TrafficRates,
} from '../../../../daemon/manager/fleet/fleet-host.ts';
import { describeCounters } from '../../../../daemon/stats/counters-reader.ts';

const info = describeCounters(['MAIN.cache_hit', 'MAIN.cache_miss', 'MAIN.client_req']);

describe('rates', () => {
  const taken = (...samples: [hits: bigint, misses: bigint, requests: bigint, at: number][]) => {
    const traffic = new TrafficRates();
    for (const [hits, misses, requests, at] of samples)
      traffic.take({ info, values: [hits, misses, requests] }, at);
    return traffic.rates;
  };

  it('are of the last ten seconds', () => {
    expect(taken([0n, 0n, 0n, 0], [900n, 0n, 900n, 2000], [930n, 10n, 940n, 12_000])).toEqual({
      requests: 4,
      hit_rate: 0.75,
    });
  });

  it('are none without lookups, before there are two readings, and where a new worker has begun', () => {
    const none = { requests: 0, hit_rate: null };
    expect(taken([5n, 5n, 10n, 0])).toEqual(none);
    expect(taken([5n, 5n, 10n, 0], [5n, 5n, 10n, 2000])).toEqual(none);
    expect(taken([5n, 5n, 10n, 0], [0n, 1n, 1n, 2000])).toEqual(none);
  });
});

describe('an address', () => {
  it('is the one that the bus sees, unless that is of the machine itself', () => {
    expect([ownAddress('10.0.0.9'), ownAddress('127.0.0.1'), ownAddress(null)]).toEqual([
      '10.0.0.9',
      hostname(),
      hostname(),
    ]);
  });

  it.each([
    ['0.0.0.0', '10.0.0.9:80'],
    ['127.0.0.1', '127.0.0.1:80'],
    ['::', '10.0.0.9:80'],
    ['::1', '[::1]:80'],
  ])('of a listener on %s is %s', (host, at) => {
    expect(reachedAt(host, 80, '10.0.0.9')).toBe(at);
  });

  it('of a socket is its path', () => {
    expect(listening([{ name: 'a', address: '', port: 0, path: '/run/s' }], 'x')).toEqual(['/run/s']);
  });
});
