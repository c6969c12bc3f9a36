import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Clock } from '../../../daemon/clock.ts';
import { TurnWatch } from '../../../daemon/turns/turn-watch.ts';
import { MaintenanceTimer } from '../../../daemon/worker/maintenance-timer.ts';

let waits: number[] = [];
let times: number[] = [];

function timer(): MaintenanceTimer {
  const maintenance = {
    step: (now: number) => {
      times.push(now);
      return waits.shift() ?? 1;
    },
    sample: () => undefined,
  };
  return new MaintenanceTimer(
    () => maintenance,
    () => Date.now(),
    new TurnWatch(new Clock()),
  );
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  times = [];
});
afterEach(() => {
  vi.useRealTimers();
});

describe('MaintenanceTimer', () => {
  it('steps when the last step asked for it, and in another turn when that is at once', () => {
    waits = [0.05, 0, 0.01];
    timer().start();
    expect(times).toEqual([0]);
    vi.advanceTimersByTime(49);
    expect(times).toEqual([0]);
    vi.advanceTimersByTime(1);
    expect(times).toEqual([0, 50]);
    // The fake clock puts off an immediate of a timer by a millisecond.
    vi.advanceTimersByTime(1);
    expect(times).toEqual([0, 50, 51]);
    vi.advanceTimersByTime(10);
    expect(times).toEqual([0, 50, 51, 61]);
  });

  it('is woken once however often it is asked, and keeps one timer', () => {
    waits = [1, 2];
    const made = timer();
    made.wake();
    expect(times).toEqual([]);
    made.start();
    vi.advanceTimersByTime(10);
    for (let i = 0; i < 3; i++) made.wake();
    expect(times).toEqual([0]);
    vi.advanceTimersByTime(0);
    expect(times).toEqual([0, 10]);
    vi.advanceTimersByTime(1999);
    expect(times).toEqual([0, 10]);
    vi.advanceTimersByTime(1);
    expect(times).toEqual([0, 10, 2010]);
  });
});
