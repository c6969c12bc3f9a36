import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FailureKind } from '../../../daemon/acme/acme-failure.ts';
import { newEntryState } from '../../../daemon/acme/entry-state.ts';
import {
  chosenWithin,
  countedOrders,
  dueTime,
  nextAttempt,
  nextRenewalCheck,
  orderLimit,
  renewalTime,
} from '../../../daemon/acme/schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2030, 0, 1);
const kinds = fc.constantFrom<FailureKind>('refused', 'limited', 'unavailable');
const random = fc.double({ min: 0, max: 1, noNaN: true });

describe('the next attempt', () => {
  test('is later after more failures, within bounds, whatever the chance', () => {
    fc.assert(
      fc.property(kinds, fc.integer({ min: 1, max: 10_000 }), random, (kind, failures, chance) => {
        const wait = nextAttempt(kind, failures, null, NOW, chance) - NOW;
        const later = nextAttempt(kind, failures + 1, null, NOW, chance) - NOW;
        expect(later).toBeGreaterThanOrEqual(wait);
        expect(wait).toBeGreaterThanOrEqual(30_000);
        expect(wait).toBeLessThanOrEqual(1.25 * DAY);
      }),
    );
  });

  test('doubles', () => {
    const waits = [1, 2, 3, 4, 20].map(
      (failures) => (nextAttempt('refused', failures, null, NOW, 0) - NOW) / MINUTE,
    );
    expect(waits).toEqual([5, 10, 20, 40, 1440]);
  });

  test('is not at the same time for all', () => {
    const waits = [0, 0.5, 1].map((chance) => (nextAttempt('refused', 1, null, NOW, chance) - NOW) / MINUTE);
    expect(waits).toEqual([5, 5.625, 6.25]);
  });

  test('is not before the authority wants it, within eight days', () => {
    fc.assert(
      fc.property(kinds, fc.integer({ min: -DAY, max: 30 * DAY }), random, (kind, asked, chance) => {
        const at = nextAttempt(kind, 1, NOW + asked, NOW, chance);
        expect(at).toBeGreaterThanOrEqual(Math.min(NOW + asked, NOW + 8 * DAY));
        expect(at).toBeLessThanOrEqual(NOW + 8 * DAY);
        expect(at).toBeGreaterThan(NOW);
      }),
    );
  });
});

describe('a renewal', () => {
  const certificate = { chain: '', key: '', notBefore: NOW, notAfter: NOW + 90 * DAY, renewalId: 'a.b' };
  const state = { ...newEntryState('https://ca.example/', ['a.example']), certificate };

  test('is due after two thirds of the lifetime, or when the authority suggests it', () => {
    expect(renewalTime(certificate, null)).toBe(NOW + 60 * DAY);
    expect(renewalTime(certificate, { start: 1, end: 2, at: 1 })).toBe(1);
    expect(renewalTime(certificate, { start: NOW, end: NOW + 99 * DAY, at: NOW + 70 * DAY })).toBe(
      NOW + 70 * DAY,
    );
    expect(renewalTime(certificate, { start: NOW, end: NOW + 999 * DAY, at: NOW + 90 * DAY })).toBe(
      NOW + 60 * DAY,
    );
    expect(dueTime(state, NOW)).toBe(NOW + 60 * DAY);
    expect(dueTime({ ...state, order: { key: 'x', url: null } }, NOW)).toBe(0);
  });

  test('is chosen within the window, and stays chosen while the window does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), random, random, (length, chance, other) => {
        const window = { start: NOW, end: NOW + length, explanation: '' };
        const first = chosenWithin(window, null, chance);
        expect(first.at).toBeGreaterThanOrEqual(window.start);
        expect(first.at).toBeLessThanOrEqual(window.end);
        expect(chosenWithin(window, first, other)).toEqual(first);
        expect(chosenWithin({ ...window, end: window.end + 1 }, first, 1).at).toBe(window.end + 1);
      }),
    );
  });

  test('information is read every six hours, or when the authority says, within bounds', () => {
    expect(nextRenewalCheck(null, NOW)).toBe(NOW + 6 * HOUR);
    expect(nextRenewalCheck(NOW + HOUR, NOW)).toBe(NOW + HOUR);
    expect(nextRenewalCheck(NOW - HOUR, NOW)).toBe(NOW + MINUTE);
    expect(nextRenewalCheck(NOW + 30 * DAY, NOW)).toBe(NOW + DAY);
  });

  test('a wait from a clock that was wrong does not count', () => {
    expect(dueTime({ ...state, certificate: null, notBefore: NOW + 365 * DAY }, NOW)).toBe(NOW);
    expect(dueTime({ ...state, certificate: null, notBefore: NOW + 7 * DAY }, NOW)).toBe(NOW + 7 * DAY);
  });
});

describe('orders', () => {
  test('there are never more than ten a day for a name, however they fail', () => {
    fc.assert(
      fc.property(fc.array(random, { minLength: 50, maxLength: 50 }), (chances) => {
        let now = NOW;
        const all = [
          { names: ['a.example'], orders: [] as number[] },
          { names: ['a.example', 'b.example'], orders: [] as number[] },
        ];
        const made: number[] = [];
        for (const chance of chances) {
          now += chance * 3 * HOUR;
          const state = all[made.length % 2]!;
          const limit = orderLimit(all, state.names, null, now);
          if (limit !== null) {
            expect(limit.until).toBeGreaterThan(now);
            expect(orderLimit(all, state.names, null, limit.until)).toBeNull();
            continue;
          }
          state.orders = [...countedOrders(state.orders, now), now];
          made.push(now);
        }
        for (const at of made)
          expect(made.filter((other) => other > at - DAY && other <= at).length).toBeLessThanOrEqual(10);
      }),
    );
  });

  test('of certificates that live for hours there are as many as they ask for', () => {
    const orders = Array.from({ length: 20 }, (_, i) => NOW - i * HOUR);
    expect(orderLimit([{ names: ['a'], orders }], ['a'], null, NOW)?.why).toBe(
      'there were 10 orders for a within a day',
    );
    expect(orderLimit([{ names: ['a'], orders }], ['a'], 1.5 * HOUR, NOW)).toBeNull();
  });

  test('of one account there are a hundred in three hours', () => {
    const all = Array.from({ length: 100 }, (_, i) => ({ names: [`n${i}`], orders: [NOW - i * MINUTE] }));
    expect(orderLimit(all, ['x'], null, NOW)).toEqual({
      until: NOW - 99 * MINUTE + 3 * HOUR,
      why: 'there were 100 orders within three hours',
    });
  });
});
