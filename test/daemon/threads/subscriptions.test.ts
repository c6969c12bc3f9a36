import { expect, it } from 'vitest';
import { bitOf, SUBSCRIPTION_WORDS, Subscriptions } from '../../../daemon/threads/subscriptions.ts';

function interests(...threads: number[]): Subscriptions[] {
  const words = new Int32Array(new SharedArrayBuffer(SUBSCRIPTION_WORDS * 4));
  return threads.map((thread) => new Subscriptions(words, thread));
}

it('names the others that wait, as long as they do', () => {
  const [a, b] = interests(0, 5) as [Subscriptions, Subscriptions];
  expect(a.others(77)).toBe(0);
  b.add(77);
  b.add(77);
  a.add(77);
  expect(a.others(77)).toBe(bitOf(5));
  expect(b.others(77)).toBe(bitOf(0));
  b.remove(77);
  expect(a.others(77)).toBe(bitOf(5));
  b.remove(77);
  expect(a.others(77)).toBe(0);
});

it('forgets nobody among threads that share a bit', () => {
  const [a, b, first] = interests(31, 40, 0) as [Subscriptions, Subscriptions, Subscriptions];
  a.add(9);
  b.add(9);
  expect(a.others(9)).toBe(bitOf(40));
  b.remove(9);
  expect(first.others(9)).toBe(bitOf(31));
});
