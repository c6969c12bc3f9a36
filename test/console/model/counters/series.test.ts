import { describe, expect, it } from 'vitest';
import { HitRate, increase } from '../../../../console/model/counters/hit-rate.ts';
import { Series } from '../../../../console/model/counters/series.ts';

describe('Series', () => {
  it('keeps the newest samples of its capacity, oldest first', () => {
    const series = new Series(3);
    for (let i = 1; i <= 5; i++) series.push(i, i * 10);
    expect([0, 1, 2, 3].map((i) => series.get(i))).toEqual([30, 40, 50, undefined]);
    expect(series.last()).toBe(50);
  });

  it('has the maximum and the mean of each slice, and carries them over slices without a sample', () => {
    const series = new Series(10);
    series.push(1, 10);
    series.push(2, 30);
    series.push(2.5, 90);
    series.push(8, 5);
    expect(series.slices(10, 10, 5)).toEqual({ max: [10, 90, 90, 90, 5], mean: [10, 60, 60, 60, 5] });
    expect(series.spanTo(10)).toBe(9);
  });

  it('shows a gap until the next sample, and nothing before the first', () => {
    const series = new Series(10);
    series.push(3, 7);
    series.push(5, Number.NaN);
    series.push(9, 8);
    const out = series.slices(10, 10, 10).max;
    expect(out[0]).toBeNaN();
    expect(out.slice(3, 5)).toEqual([7, 7]);
    expect(out.slice(5, 9).every(Number.isNaN)).toBe(true);
    expect(out[9]).toBe(8);
  });

  it('ignores samples outside of the span', () => {
    const series = new Series(10);
    series.push(1, 100);
    series.push(95, 1);
    expect(series.slices(100, 10, 2).max).toEqual([Number.NaN, 1]);
  });
});

describe('HitRate', () => {
  it('weighs a window by its lookups, not by its seconds', () => {
    const rate = new HitRate();
    rate.sample(0n, 0n, 2);
    rate.sample(90n, 10n, 2);
    rate.sample(90n, 11n, 2);
    expect(rate.window(10)).toMatchObject({ n: 2, seconds: 4, rate: 90 / 101 });
  });

  it('has no rate without lookups, which is not a rate of zero', () => {
    const rate = new HitRate();
    rate.sample(5n, 5n, 2);
    expect(rate.sample(5n, 5n, 2)).toEqual({ hits: 0, all: 0, handled: 0 });
    expect(rate.window(10)).toMatchObject({ n: 1, seconds: 2, rate: null });
  });

  it('counts a restarted worker from zero', () => {
    const rate = new HitRate();
    rate.sample(1_000n, 1_000n, 2);
    rate.sample(3n, 1n, 2);
    expect(rate.window(10).rate).toBe(0.75);
  });

  it('forgets what left the window', () => {
    const rate = new HitRate();
    let hits = 0n;
    let misses = 0n;
    rate.sample(hits, misses, 2);
    for (let i = 0; i < 10; i++) rate.sample(hits, ++misses, 2);
    for (let i = 0; i < 10; i++) rate.sample(++hits, misses, 2);
    expect(rate.window(10).rate).toBe(1);
    expect(rate.window(100)).toMatchObject({ n: 20, seconds: 40, rate: 0.5 });
  });

  it('is exact beyond 2^53', () => {
    expect(increase(2n ** 63n, 2n ** 63n + 1n)).toBe(1n);
  });
});

it('the share of bytes from hits is that of the window, and unknown where none were sent', () => {
  const rate = new HitRate();
  const sample = (hit: bigint, all: bigint) => rate.sample(0n, 0n, 1, false, 0n, { hit, all });
  sample(0n, 0n);
  expect(rate.window(10).bytes).toBeNull();
  sample(900n, 1000n);
  sample(900n, 2000n);
  expect(rate.window(10).bytes).toBe(0.45);
  expect(rate.window(1).bytes).toBe(0);
});
