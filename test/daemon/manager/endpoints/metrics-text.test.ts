import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type MetricsInput, MetricsText } from '../../../../daemon/manager/endpoints/metrics-text.ts';
import type { CounterInfo } from '../../../../protocol/messages.ts';
import { parsePrometheus } from '../../../harness/prometheus-text.ts';

function input(values: Record<string, bigint>, more: Partial<MetricsInput> = {}): MetricsInput {
  const info = Object.keys(values).map((name): CounterInfo => {
    return { name, flag: 'c', format: 'i', level: 'info', description: '' };
  });
  const backends = new Map([
    ['a', true],
    ['b', false],
    ['odd"name\\', true],
  ]);
  const active = { name: 'live', backends };
  return {
    version: '1.2.3',
    workerUp: true,
    active,
    longTurns: [],
    info,
    values: Object.values(values),
    ...more,
  };
}

const pageOf = (of: MetricsInput): string => [...new MetricsText().page(of)].join('');

const samples = (text: string, name: string) => parsePrometheus(text).get(name)?.samples;

it('is valid and says what is a counter', () => {
  const text = pageOf(
    input({
      'MGT.uptime': 3n,
      'MAIN.cache_hit': 5n,
      'MAIN.n_object': 7n,
      'SMA.s0.g_bytes': 9n,
      'FLEET.lag': 2n,
      'FLEET.applied': 4n,
    }),
  );
  const families = parsePrometheus(text);
  expect(Object.fromEntries([...families].map(([n, f]) => [n, `${f.type} ${f.samples[0]?.value}`]))).toEqual({
    proxyd_build_info: 'gauge 1',
    proxyd_worker_up: 'gauge 1',
    proxyd_mgt_uptime_seconds: 'gauge 3',
    proxyd_main_cache_hit_total: 'counter 5',
    proxyd_main_n_object: 'gauge 7',
    proxyd_storage_g_bytes: 'gauge 9',
    proxyd_fleet_lag: 'gauge 2',
    proxyd_fleet_applied_total: 'counter 4',
  });
  expect(samples(text, 'proxyd_storage_g_bytes')).toEqual([{ labels: { storage: 's0' }, value: '9' }]);
});

it('has a label for each thread', () => {
  const text = pageOf(
    input({ 'THR.0.requests': 4n, 'THR.0.loop_lag_us': 5n, 'THR.1.requests': 6n, 'THR.1.loop_lag_us': 7n }),
  );
  expect(parsePrometheus(text).get('proxyd_thread_requests_total')).toMatchObject({
    type: 'counter',
    samples: [
      { labels: { thread: '0' }, value: '4' },
      { labels: { thread: '1' }, value: '6' },
    ],
  });
  expect(samples(text, 'proxyd_thread_loop_lag_us')?.map(({ value }) => value)).toEqual(['5', '7']);
});

it('keeps 64 bits', () => {
  const text = pageOf(input({ 'MAIN.s_resp_bodybytes': 2n ** 64n - 1n }));
  expect(samples(text, 'proxyd_main_s_resp_bodybytes_total')?.[0]?.value).toBe('18446744073709551615');
});

it('shows backends of the active program alone, under names that a reload does not change', () => {
  const text = pageOf(input({ 'VBE.live.a.req': 1n, 'VBE.old.a.req': 2n, 'VBE.live.odd"name\\.req': 3n }));
  expect(samples(text, 'proxyd_backend_req_total')).toEqual([
    { labels: { backend: 'a' }, value: '1' },
    { labels: { backend: 'odd"name\\' }, value: '3' },
  ]);
  expect(pageOf(input({ 'VBE.live.a.req': 1n }, { active: null }))).not.toContain('backend');
});

it.each([
  ['good, then bad', 'a', 0b10n, '0'],
  ['bad, then good', 'a', 0b01n, '1'],
  ['always good', 'a', 2n ** 64n - 1n, '1'],
  ['not probed', 'b', 0n, '1'],
])('shows a backend that is %s', (_what, name, happy, up) => {
  const text = pageOf(input({ [`VBE.live.${name}.happy`]: happy }));
  expect(samples(text, 'proxyd_backend_up')).toEqual([{ labels: { backend: name }, value: up }]);
});

it('reports when no worker serves', () => {
  expect(samples(pageOf(input({}, { workerUp: false })), 'proxyd_worker_up')?.[0]?.value).toBe('0');
});

it('has the longest turns by thread and work', () => {
  const longTurns = [
    { where: 'thread 0', work: 'recv', millis: 312.4 },
    { where: 'thread 0', work: 'recv', millis: 20 },
    { where: 'manager', work: 'vcl.list', millis: 12 },
  ];
  const text = pageOf(input({}, { longTurns }));
  expect(samples(text, 'proxyd_longest_turn_seconds')).toEqual([
    { labels: { where: 'thread 0', work: 'recv' }, value: '0.312' },
    { labels: { where: 'manager', work: 'vcl.list' }, value: '0.012' },
  ]);
});

it('looks at each counter of many backends once, and hands the page out in small pieces', () => {
  const values: Record<string, bigint> = {};
  for (let i = 0; i < 2000; i++)
    for (const row of ['req', 'conn', 'happy']) values[`VBE.live.b${i}.${row}`] = 1n;
  const given = input(values);
  let looks = 0;
  const info = new Proxy(given.info as CounterInfo[], {
    get: (target, key, receiver) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks++;
      return Reflect.get(target, key, receiver);
    },
  });
  const text = new MetricsText();
  const pieces = [...text.page({ ...given, info })];
  expect(looks).toBe(6000);
  expect(Math.max(...pieces.map((piece) => piece.split('\n').length))).toBeLessThan(70);
  expect(samples(pieces.join(''), 'proxyd_backend_req_total')).toHaveLength(2000);
  // The set is the same: only values are looked at.
  const again = [...text.page({ ...given, info, values: given.values.map(() => 5n) })].join('');
  expect(looks).toBe(6000);
  expect(samples(again, 'proxyd_backend_req_total')?.map(({ value }) => value)).toEqual(
    Array.from({ length: 2000 }, () => '5'),
  );
});

it('has the page of the set that was read, however many sets came between', () => {
  const text = new MetricsText();
  const sets = fc.array(
    fc.record({
      values: fc.dictionary(
        fc.constantFrom(
          'MAIN.cache_hit',
          'SMA.s0.g_bytes',
          'VBE.live.a.req',
          'VBE.live.b.happy',
          'VBE.old.a.req',
        ),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      ),
      active: fc.constantFrom('live', 'old', null),
      isProbed: fc.boolean(),
      /** Pieces that are taken of the page before its client goes; all of them otherwise. */
      pieces: fc.option(fc.nat(9)),
    }),
  );
  fc.assert(
    fc.property(sets, (history) => {
      for (const { values, active, isProbed, pieces } of history) {
        const backends = new Map([['b', isProbed]]);
        const of = input(values, { active: active === null ? null : { name: active, backends } });
        const page = text.page(of);
        if (pieces === null) expect([...page].join('')).toBe(pageOf(of));
        else for (let i = 0; i < pieces; i++) page.next();
      }
    }),
  );
});
