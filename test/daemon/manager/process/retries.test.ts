// The pace at which a failing worker is tried again.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Retries } from '../../../../daemon/manager/process/retries.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('retries', () => {
  it('are at once three times, then later and later, up to five seconds', () => {
    const launch = vi.fn();
    const retries = new Retries(launch);
    const waits: number[] = [];
    const words: string[] = [];
    for (let i = 0; i < 11; i++) {
      const before = Date.now();
      words.push(retries.next());
      expect(retries.pending).toBe(true);
      vi.runAllTimers();
      expect(retries.pending).toBe(false);
      waits.push(Date.now() - before);
    }
    expect(waits.map((ms) => (ms <= 1 ? 0 : ms))).toEqual([
      0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000,
    ]);
    expect(launch).toHaveBeenCalledTimes(11);
    expect(words[2]).toBe('restarted at once');
    expect(words[3]).toBe('next try in 0.1 s, after 4 quick failures');
    retries.forget();
    expect(retries.next()).toBe('restarted at once');
  });

  it('can be taken back, and are one at a time', () => {
    const launch = vi.fn();
    const retries = new Retries(launch);
    retries.next();
    retries.next();
    vi.runAllTimers();
    expect(launch).toHaveBeenCalledTimes(1);
    retries.next();
    retries.cancel();
    vi.runAllTimers();
    expect(launch).toHaveBeenCalledTimes(1);
  });
});
