import { describe, expect, it } from 'vitest';
import { HitRate, increase } from '../../../console/model/hit-rate.ts';
import { Series } from '../../../console/model/series.ts';

describe('Series', () => {
  it('keeps the newest samples of its capacity, oldest first', () => {
    const series = new Series(3);
    for (let i = 1; i <= 5; i++) series.push(i, i * 10);
    expect([0, 1, 2, 3].map((i) => series.get(i))).toEqual([30, 40, 50, undefined]);
    expect(series.last()).toBe(50);
  });

  it('averages samples into slices and carries a value over slices without one', () => {
    const series = new Series(10);
    series.push(1, 10);
    series.push(2, 30);
    series.push(8, 5);
    expect(series.resample(10, 10, 5)).toEqual([10, 30, 30, 30, 5]);
  });

  it('shows a gap until the next sample, and nothing before the first', () => {
    const series = new Series(10);
    series.push(3, 7);
    series.push(5, Number.NaN);
    series.push(9, 8);
    const out = series.resample(10, 10, 10);
    expect(out[0]).toBeNaN();
    expect(out.slice(3, 5)).toEqual([7, 7]);
    expect(out.slice(5, 9).every(Number.isNaN)).toBe(true);
    expect(out[9]).toBe(8);
  });

  it('ignores samples outside of the span', () => {
    const series = new Series(10);
    series.push(1, 100);
    series.push(95, 1);
    expect(series.resample(100, 10, 2)).toEqual([Number.NaN, 1]);
  });
});

describe('HitRate', () => {
  it('weighs a window by its lookups, not by its seconds', () => {
    const rate = new HitRate();
    rate.sample(0n, 0n);
    rate.sample(90n, 10n);
    rate.sample(90n, 11n);
    expect(rate.window(10)).toEqual({ n: 2, rate: 90 / 101 });
  });

  it('has no rate without lookups, which is not a rate of zero', () => {
    const rate = new HitRate();
    rate.sample(5n, 5n);
    expect(rate.sample(5n, 5n)).toBeNull();
    expect(rate.window(10)).toEqual({ n: 1, rate: null });
  });

  it('counts a restarted worker from zero', () => {
    const rate = new HitRate();
    rate.sample(1_000n, 1_000n);
    rate.sample(3n, 1n);
    expect(rate.window(10).rate).toBe(0.75);
  });

  it('forgets what left the window', () => {
    const rate = new HitRate();
    let hits = 0n;
    let misses = 0n;
    rate.sample(hits, misses);
    for (let i = 0; i < 10; i++) rate.sample(hits, ++misses);
    for (let i = 0; i < 10; i++) rate.sample(++hits, misses);
    expect(rate.window(10).rate).toBe(1);
    expect(rate.window(100)).toEqual({ n: 20, rate: 0.5 });
  });

  it('is exact beyond 2^53', () => {
    expect(increase(2n ** 63n, 2n ** 63n + 1n)).toBe(1n);
  });
});
