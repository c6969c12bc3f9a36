// Times in the log: bisection, parts, and the times that an operator types.

import { expect, it } from 'vitest';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import { indexAt, logParts, timeOf } from '../../../../console/views/log/log-times.ts';
import { fakeGroup } from '../../fake-recording.ts';

const BEGIN = 1_800_000_000;

function storeOf(times: readonly number[]): LogStore {
  const store = new LogStore({ maxBytes: 1 << 24, maxEntries: 5000 });
  for (const [i, at] of times.entries())
    if (at < 0) store.addGap('a gap');
    else
      store.add(
        fakeGroup({
          vxid: 10 * i + 1,
          at: BEGIN + at,
          method: 'GET',
          url: '/',
          status: i % 4 === 3 ? 503 : 200,
          handling: 'MISS',
          seconds: 0.01,
          body: 9,
        }),
      );
  return store;
}

it('finds the group at a time, marks left out', () => {
  const store = storeOf([-1, 0, 1, -1, -1, 5, 6, -1]);
  const at = (second: number) => indexAt(store, BEGIN + second);
  expect([at(-9), at(0.5), at(1.5), at(5.5), at(99)]).toEqual([0, 2, 3, 6, 7]);
  expect(indexAt(storeOf([]), BEGIN)).toBe(0);
});

it('parts cover all groups once', () => {
  const parts = logParts(storeOf([0, 0.1, 0.2, 0.3, 300, 1000, 1000.1, 1000.2]));
  expect(parts.reduce((sum, part) => sum + part.groups, 0)).toBe(8);
  expect(parts.reduce((sum, part) => sum + part.errors, 0)).toBe(2);
  expect(parts.length).toBeLessThanOrEqual(40);
  expect(parts[0]).toMatchObject({ at: BEGIN, from: 0, groups: 4, errors: 1 });
  expect(parts.at(-1)).toMatchObject({ from: 5, groups: 3, errors: 1 });
  expect(logParts(storeOf([-1]))).toEqual([]);
  expect(logParts(storeOf([7]))).toMatchObject([{ groups: 1 }]);
});

it('reads times of the day and times ago', () => {
  const noon = Date.UTC(2026, 10, 29, 12, 0, 0) / 1000;
  const text = (typed: string) => {
    const at = timeOf(typed, noon, true);
    return Number.isNaN(at) ? '' : new Date(at * 1000).toISOString().slice(0, 19);
  };
  expect(text('11:58')).toBe('2026-11-29T11:58:00');
  expect(text(' 9:05:07 ')).toBe('2026-11-29T09:05:07');
  expect(text('12:00:01')).toBe('2026-11-28T12:00:01');
  expect([text('-30s'), text('-5m'), text('-2h')]).toEqual([
    '2026-11-29T11:59:30',
    '2026-11-29T11:55:00',
    '2026-11-29T10:00:00',
  ]);
  for (const bad of ['', '24:00', '12:60', '12', '5m', '-5d', '12:00:61', 'x12:00'])
    expect(text(bad)).toBe('');
});
