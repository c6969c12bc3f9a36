import { expect, it } from 'vitest';
import { SharedCount } from '../../../daemon/threads/shared-count.ts';

it('a place is taken while there is one, and is free again when it is given back', () => {
  const words = new Int32Array(new SharedArrayBuffer(4));
  const [here, there] = [new SharedCount(words), new SharedCount(words)];
  expect([here.take(2), there.take(2), here.take(2), there.take(2)]).toEqual([true, true, false, false]);
  expect(here.now).toBe(2);
  there.add(-1);
  expect([here.take(2), here.take(2), here.now]).toEqual([true, false, 2]);
});

it('without a limit there is always one', () => {
  const count = new SharedCount();
  for (let i = 0; i < 3; i++) expect(count.take(0)).toBe(true);
  expect(count.now).toBe(3);
});
