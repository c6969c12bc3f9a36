// Rejection of excess clients, and how often it is reported.
import { expect, it } from 'vitest';
import { DescriptorGuard, descriptorLimit } from '../../../daemon/net/descriptor-guard.ts';

function guard(limit: number) {
  const reported: string[] = [];
  const stats = { sess_fail: 0, sess_fail_emfile: 0 };
  const clock = { now: 100 };
  const made = new DescriptorGuard({
    limit,
    stats,
    now: () => clock.now,
    report: (text) => reported.push(text),
  });
  return { made, reported, stats, clock };
}

it.each([
  [1024, 895, 896],
  [100, 86, 87],
  [1_000_000, 999_743, 999_744],
])('of %i descriptors %i is a client’s, %i is not', (limit, good, bad) => {
  const { made, stats } = guard(limit);
  expect([made.turnsAway(good), made.turnsAway(bad), made.turnsAway(undefined)]).toEqual([
    false,
    true,
    false,
  ]);
  expect(stats).toEqual({ sess_fail: 1, sess_fail_emfile: 1 });
});

it('is reported at once, then every ten seconds with the count', () => {
  const { made, reported, clock } = guard(100);
  for (let i = 0; i < 5; i++) made.turnsAway(99);
  clock.now += 9;
  made.turnsAway(99);
  expect(reported.map((text) => text.slice(0, 50))).toEqual([
    'Out of descriptors: a client was turned away, 99 o',
  ]);
  clock.now += 1;
  made.turnsAway(98);
  expect(reported[1]).toMatch(
    /^Out of descriptors: 6 clients were turned away, 98 of 100 are in use\. Raise/,
  );
});

it('reads the limit of the process', () => {
  expect(descriptorLimit()).toBeGreaterThan(100);
  expect(descriptorLimit('/nowhere')).toBe(Number.POSITIVE_INFINITY);
});
