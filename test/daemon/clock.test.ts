import { performance } from 'node:perf_hooks';
import { afterEach, expect, it, vi } from 'vitest';
import { CLOCKS_APART, Clock, clockBase } from '../../daemon/clock.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('follows a change of the system’s clock, and returns its size', () => {
  let wall = 1_700_000_000_000;
  vi.spyOn(Date, 'now').mockImplementation(() => wall);
  vi.spyOn(performance, 'now').mockImplementation(() => 5000);
  const clock = new Clock();
  expect(clock.correct()).toBe(0);
  wall -= 5000;
  expect(clock.correct()).toBeCloseTo(-5);
  expect(clock.now()).toBeCloseTo(wall / 1000);
  expect(clock.correct()).toBe(0);
  wall += 60_000;
  expect(clock.correct()).toBeCloseTo(60);
  wall += 5;
  expect(clock.correct()).toBe(0);
});

it('reads the same in all threads, whenever each of them began and whatever it waited for then', () => {
  const base = clockBase();
  const first = new Clock(base);
  // performance.now() of the second thread began 40 s later.
  let later = 0;
  const real = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => real() - later);
  const hrtime = process.hrtime.bind(process);
  let readings = 0;
  vi.spyOn(process, 'hrtime').mockImplementation(() => {
    // It has no processor for 20 ms, before and after its first look at its own clock.
    const end = real() + (readings++ < 2 ? 20 : 0);
    while (real() < end);
    return hrtime();
  });
  later = 40_000;
  const second = new Clock(base);
  const expectTheSame = (): void => {
    later = 0;
    const before = first.now();
    later = 40_000;
    const between = second.now();
    later = 0;
    const after = first.now();
    expect(between).toBeGreaterThan(before - CLOCKS_APART);
    expect(between).toBeLessThan(after + CLOCKS_APART);
  };
  expectTheSame();

  const wall = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => wall - 3_600_000);
  expect(first.correct()).toBeLessThan(-3599);
  expectTheSame();
});
