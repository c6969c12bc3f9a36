import { expect, it } from 'vitest';
import { Heartbeats } from '../../../daemon/threads/heartbeats.ts';

function three() {
  const words = new Int32Array(new SharedArrayBuffer(12));
  return [0, 1, 2].map((thread) => new Heartbeats(words, thread)) as [Heartbeats, Heartbeats, Heartbeats];
}

it('finds the thread that has been silent for the limit, and never its own', () => {
  const [first, second] = three();
  for (let now = 0; now < 2000; now += 250) {
    second.beat();
    expect(first.silentFor(2000, now)).toBe(null);
  }
  second.beat();
  expect(first.silentFor(2000, 2000)).toBe(2);
  // One that beats again is well.
  const [again, , third] = three();
  again.silentFor(500, 0);
  expect(again.silentFor(500, 500)).toBe(1);
  third.beat();
  expect(again.silentFor(500, 600)).toBe(1);
  expect(again.silentFor(700, 700)).toBe(1);
  third.beat();
  expect(again.silentFor(800, 701)).toBe(null);
});

it('does not take the sleep of the whole process for a silence', () => {
  const [first, second, third] = three();
  first.silentFor(2000, 0);
  expect(first.silentFor(2000, 100_000)).toBe(null);
  second.beat();
  third.beat();
  expect(first.silentFor(2000, 100_250)).toBe(null);
  expect(first.silentFor(2000, 101_250)).toBe(null);
  expect(first.silentFor(2000, 102_250)).toBe(1);
});
