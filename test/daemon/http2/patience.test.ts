import { expect, it } from 'vitest';
import { Patience } from '../../../daemon/http2/patience.ts';

/** How many frames are borne at one moment. */
function borne(patience: Patience, now: number): number {
  let n = 0;
  while (n < 100_000 && patience.spend(1, () => now)) n++;
  return n;
}

it('bears some thousand frames of no use, and then no more', () => {
  expect(borne(new Patience(0), 0)).toBe(1999);
});

it('bears a hundred a second for ever', () => {
  const patience = new Patience(0);
  borne(patience, 0);
  for (let second = 1; second < 100; second++) {
    const n = borne(patience, second);
    expect(n).toBeGreaterThanOrEqual(98);
    expect(n).toBeLessThanOrEqual(101);
  }
});

it('bears more beside bytes of use, and never saves up more than it began with', () => {
  const patience = new Patience(0);
  borne(patience, 0);
  patience.earn(100 * 2048);
  expect(borne(patience, 0)).toBe(99);
  patience.earn(Number.MAX_SAFE_INTEGER);
  expect(borne(patience, 0)).toBe(1999);
  expect(borne(new Patience(0), 1_000_000)).toBeLessThan(3000);
});

it('does not mind a clock that is set back', () => {
  const patience = new Patience(100);
  borne(patience, 100);
  expect(borne(patience, 50)).toBe(0);
});
