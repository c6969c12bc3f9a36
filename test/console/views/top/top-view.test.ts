// The description of a row of Top.
import { expect, it } from 'vitest';
import { handledText } from '../../../../console/views/top/top-view.ts';

it.each([
  [{ requests: 3, hits: 1, misses: 1, passes: 1 }, '1 hit, 1 miss, 1 pass'],
  [{ requests: 1204, hits: 1200, misses: 2, passes: 0 }, '1,200 hits, 2 misses, 0 passes, 2 otherwise'],
])('%j: %s', (rank, words) => {
  expect(handledText(rank)).toBe(words);
});
