import { performance } from 'node:perf_hooks';
import { afterEach, expect, it, vi } from 'vitest';
import { Clock } from '../../daemon/clock.ts';

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
