// The strict window against its promise: no period, wherever it begins, has more calls than the limit, whatever comes
// when, from how many threads, and wherever a thread stops.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlidingWindow } from '../../../daemon/throttle/sliding-window.ts';
import { limit } from '../../../daemon/throttle/throttle.ts';
import { runs } from '../../harness/runs.ts';
import { HandClock } from './hand-clock.ts';

/** The most calls that any period has which begins with a call: no other can have more. */
function mostInAPeriod(times: readonly number[], period: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(0, ...sorted.map((from, i) => sorted.slice(i).filter((t) => t < from + period).length));
}

describe('no period has more calls than the limit', () => {
  it('whatever is asked when, by one or three threads', () => {
    const asked = fc.array(
      fc.record({
        pause: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 400, noNaN: true }), fc.constant(1000)),
        calls: fc.integer({ min: 1, max: 4 }),
        thread: fc.integer({ min: 0, max: 2 }),
      }),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(
        asked,
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        (steps, calls, start) => {
          const clock = new HandClock(start);
          const first = limit({ calls, period: 1, strict: true, clock });
          const options = { calls, period: 1, strict: true, clock, shared: first.shared };
          const threads = [first, limit(options), limit(options)];
          const times: number[] = [];
          for (const step of steps) {
            clock.time += step.pause;
            const n = Math.min(calls, step.calls);
            const before = times.filter((t) => t > clock.time - 1000).length;
            const turn = threads[step.thread]?.tryTake(n);
            if (turn !== undefined) times.push(...Array(n).fill(clock.time));
            // Nor is one refused that was allowed by more than the rounding of a millisecond.
            else expect(times.filter((t) => t > clock.time - 1001).length + n).toBeGreaterThan(calls);
            expect(turn !== undefined && before + n > calls).toBe(false);
          }
          expect(mostInAPeriod(times, 1000)).toBeLessThanOrEqual(calls);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('for waiters', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(700), fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 3, max: 7 }),
        async (steps, calls) => {
          const clock = new HandClock(5);
          const api = limit({ calls, period: 1, strict: true, clock });
          const times: number[] = [];
          const all: Promise<unknown>[] = [];
          for (const [pause, n] of steps) {
            await clock.advance(pause);
            all.push(api.take(n).then(() => times.push(...Array(n).fill(clock.time))));
          }
          await clock.advance(1000 * steps.length);
          await Promise.all(all);
          expect(mostInAPeriod(times, 1000)).toBeLessThanOrEqual(calls);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('when threads stop between the head and the time of a call', () => {
    // A stopped thread is the head moved on, and nothing written.
    const step = fc.tuple(fc.nat(500), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), fc.integer({ min: 1, max: 5 }), (steps, calls) => {
        let now = 0;
        const words = new BigInt64Array(new SharedArrayBuffer(8 * (1 + calls)));
        const window = new SlidingWindow(words, 0, 1, calls, 1000, () => now);
        const times: number[] = [];
        for (const [pause, stops] of steps) {
          now += pause;
          const ring = words.slice(1);
          if (window.take(1) > 0) continue;
          times.push(now);
          // Time passes before anybody looks; only the head stays.
          if (stops) words.set(ring, 1);
        }
        expect(mostInAPeriod(times, 1000)).toBeLessThanOrEqual(calls);
      }),
      { numRuns: runs(300) },
    );
  });

  it('and a stopped thread holds its place for a period, not for ever', () => {
    let now = 0;
    const words = new BigInt64Array(new SharedArrayBuffer(8 * 3));
    const window = new SlidingWindow(words, 0, 1, 2, 1000, () => now);
    expect(window.take(2)).toBe(0);
    words.fill(0n, 1);
    now = 5000;
    expect(window.wait(1)).toBe(1000);
    expect(window.take(2)).toBe(1000);
    now = 6000;
    expect(window.take(2)).toBe(0);
  });
});

it('a thread that comes late to a place writes no time there', () => {
  let now = 0;
  let meanwhile = () => {};
  const words = new BigInt64Array(new SharedArrayBuffer(8 * 3));
  const other = new SlidingWindow(words, 0, 1, 2, 1000, () => now);
  const late = new SlidingWindow(words, 0, 1, 2, 1000, () => {
    const first = meanwhile;
    meanwhile = () => {};
    first();
    return now;
  });
  expect(other.take(2)).toBe(0);
  now = 1000;
  let taken: number | undefined;
  meanwhile = () => {
    taken = other.take(2);
  };
  expect([late.take(2), taken]).toEqual([1000, 0]);
  now = 2000;
  expect(late.take(2)).toBe(0);
});

it('calls that are taken back are free when the ring comes to them again', () => {
  const words = new BigInt64Array(new SharedArrayBuffer(8 * 4));
  const window = new SlidingWindow(words, 0, 1, 3, 1000, () => 5000);
  expect(window.take(2)).toBe(0);
  window.undo(2);
  expect([window.used(), window.take(3), window.take(1)]).toEqual([0, 0, 1000]);
});

describe('the laps of the ring', () => {
  it('continue after the most that a word can count', () => {
    let now = 0;
    const words = new BigInt64Array(new SharedArrayBuffer(8 * 2));
    const window = new SlidingWindow(words, 0, 1, 1, 1, () => now);
    for (let lap = 0; lap < 1_048_580; lap++, now++) if (window.take(1) !== 0) throw new Error(`lap ${lap}`);
    now--;
    expect(window.take(1)).toBe(1);
  });
});
