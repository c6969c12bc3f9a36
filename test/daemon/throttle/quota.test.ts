// The figures of providers and those of limits.
import { describe, expect, it } from 'vitest';
import {
  daysUntilUsedUp,
  perMinuteFromHourly,
  perMinuteFromQuota,
} from '../../../daemon/throttle/throttle.ts';

describe('a quota', () => {
  it('of a million in 30 days is 23 a minute, and lasts 11.57 days at one a second', () => {
    expect(perMinuteFromQuota(1_000_000)).toBe(23);
    expect(daysUntilUsedUp(1_000_000, { calls: 60, period: 60 })).toBe(11.57);
  });

  it('is rounded down, and never to nothing', () => {
    expect(perMinuteFromQuota(43_199)).toBe(1);
    expect(perMinuteFromQuota(86_399)).toBe(1);
    expect(perMinuteFromQuota(86_400)).toBe(2);
    expect(perMinuteFromQuota(10)).toBe(1);
    expect(perMinuteFromQuota(1_000_000, 31)).toBe(22);
    expect(perMinuteFromQuota(1440, 0.5)).toBe(2);
  });

  it('lasts the month at the figure it gives', () => {
    for (const quota of [50_000, 100_000, 1_000_000, 123_456_789])
      expect(daysUntilUsedUp(quota, { calls: perMinuteFromQuota(quota), period: 60 })).toBeGreaterThanOrEqual(
        30,
      );
  });

  it('by the hour: 3000 are 50 a minute', () => {
    expect(perMinuteFromHourly(3000)).toBe(50);
    expect(perMinuteFromHourly(60)).toBe(1);
    expect(perMinuteFromHourly(179)).toBe(2);
    expect(() => perMinuteFromHourly(30)).toThrow('use limit({ calls: 30, period: 3600 })');
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', undefined])('%j is refused', (wrong) => {
    const value = wrong as number;
    expect(() => perMinuteFromQuota(value)).toThrow(
      `perMinuteFromQuota(): the quota is ${value}; give a number`,
    );
    if (wrong !== undefined) expect(() => perMinuteFromQuota(1, value)).toThrow('the time is');
    expect(() => daysUntilUsedUp(value, { calls: 1, period: 1 })).toThrow('the quota is');
    expect(() => daysUntilUsedUp(1, { calls: value, period: 1 })).toThrow('calls is');
    expect(() => daysUntilUsedUp(1, { calls: 1, period: value })).toThrow('period is');
    expect(() => perMinuteFromHourly(value)).toThrow('perMinuteFromHourly(): the number is');
  });
});
