import { expect, it } from 'vitest';
import { RapidResets } from '../../../../daemon/net/http2/rapid-resets.ts';

const PARAMS = { h2_rapid_reset: 1, h2_rapid_reset_limit: 10, h2_rapid_reset_period: 60 };

/** How many resets at once are borne. */
function borne(resets: RapidResets, now: number): number {
  let n = 0;
  while (n < 1000 && resets.mayReset(now, now)) n++;
  return n;
}

it('allows the configured number of rapid resets, replenished over the period', () => {
  const resets = new RapidResets(PARAMS, 0);
  expect(borne(resets, 0)).toBe(10);
  expect(resets.mayReset(13, 13)).toBe(true);
  expect(resets.mayReset(13, 13)).toBe(false);
  expect(borne(resets, 1000)).toBe(10);
});

it('does not count a reset of a stream that has lived', () => {
  const resets = new RapidResets(PARAMS, 0);
  for (let i = 0; i < 100; i++) expect(resets.mayReset(0, 1.5)).toBe(true);
  expect(resets.rapidResetBudget).toBe(10);
});

it('has no limit at 0', () => {
  expect(borne(new RapidResets({ ...PARAMS, h2_rapid_reset_limit: 0 }, 0), 0)).toBe(1000);
});

it('begins anew with another limit', () => {
  const resets = new RapidResets(PARAMS, 0);
  borne(resets, 0);
  resets.rapidResetLimit = 3;
  expect([resets.rapidResetBudget, borne(resets, 0)]).toEqual([3, 3]);
});
