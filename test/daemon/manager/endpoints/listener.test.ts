import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Attempts } from '../../../../daemon/manager/endpoints/authentication.ts';
import { type Client, Listener } from '../../../../daemon/manager/endpoints/listener.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

let dropped: string[] = [];
beforeEach(() => {
  dropped = [];
});
const client = (name: string, address = 'here'): Client => ({
  address,
  drop: (why) => void dropped.push(`${name} ${why}`),
});

it('drops who is not admitted in time, and nobody else', () => {
  const listener = new Listener({ pending: 4, admitted: 4, greeting: 1000 });
  const [late, known, left] = [client('late'), client('known'), client('left')];
  for (const g of [late, known, left]) listener.add(g);
  expect(listener.admit(known)).toBe(true);
  listener.remove(left);
  vi.advanceTimersByTime(2000);
  expect(dropped).toEqual(['late late']);
  expect(listener.clients()).toEqual([known]);
  expect(listener.admit(late)).toBe(false);
});

it('makes room at the cost of the address that holds most places, the oldest first', () => {
  const listener = new Listener({ pending: 4, admitted: 4, greeting: 1000 });
  listener.add(client('operator', 'office'));
  for (let i = 1; i <= 6; i++) listener.add(client(`crowd ${i}`, 'elsewhere'));
  expect(dropped).toEqual(['crowd 1 room', 'crowd 2 room', 'crowd 3 room']);
  expect(listener.clients()).toHaveLength(4);
});

it('admits as many as there are places', () => {
  const listener = new Listener({ pending: 4, admitted: 1, greeting: 1000 });
  const [first, second] = [client('first'), client('second')];
  listener.add(first);
  listener.add(second);
  expect([listener.admit(first), listener.isFull, listener.admit(second)]).toEqual([true, true, false]);
  listener.remove(first);
  expect(listener.admit(second)).toBe(true);
});

it('slows one address down after its mistakes, for a minute, right answers too', () => {
  const attempts = new Attempts();
  for (let i = 0; i < 5; i++) {
    expect(attempts.wait('192.0.2.1')).toBe(0);
    attempts.failed('192.0.2.1');
  }
  const waits = [1, 2, 3, 4, 5, 6, 7].map(() => attempts.wait('::ffff:192.0.2.1'));
  expect(waits).toEqual([0, 1000, 2000, 3000, 4000, 5000, null]);
  expect(attempts.wait('192.0.2.2')).toBe(0);
  vi.advanceTimersByTime(61_000);
  expect([attempts.wait('192.0.2.1'), attempts.wait('192.0.2.1')]).toEqual([0, 0]);
});

it('takes the addresses of one IPv6 network for one', () => {
  const attempts = new Attempts();
  for (let i = 0; i < 5; i++) attempts.failed(`2001:db8::${i}`);
  expect([attempts.wait('2001:db8:0:0:1::9'), attempts.wait('2001:db8:0:0:2::9')]).toEqual([0, 1000]);
  expect([attempts.wait('2001:db8:0:1::9'), attempts.wait('2001:db8:0:1::9')]).toEqual([0, 0]);
});

it('remembers no more addresses than it has room for', () => {
  const attempts = new Attempts();
  for (let i = 0; i < 5; i++) attempts.failed('192.0.2.1');
  for (let i = 0; i < 1024; i++) attempts.failed(`198.51.${i >> 8}.${i & 255}`);
  expect([attempts.wait('192.0.2.1'), attempts.wait('192.0.2.1')]).toEqual([0, 0]);
});
