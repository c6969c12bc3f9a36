// A map of very many keys against a plain one, and that shared state keeps its rows in such a map: no Map of the runtime,
// whose making room is one step, ever has more than a small part of them.
import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { OwnState } from '../../daemon/contract/own-state.ts';
import { LargeMap } from '../../daemon/large-map.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('has what a Map has', () => {
  const step = fc.record({ key: fc.string({ maxLength: 3 }), value: fc.option(fc.integer(), { nil: null }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const map = new LargeMap<number>();
      const model = new Map<string, number>();
      for (const { key, value } of steps) {
        if (value === null) {
          map.delete(key);
          model.delete(key);
        } else {
          map.set(key, value);
          model.set(key, value);
        }
        expect([map.size, map.get(key)]).toEqual([model.size, model.get(key)]);
      }
      for (const [key, value] of model) expect(map.get(key)).toBe(value);
    }),
  );
});

it('is what a table of shared state is kept in', () => {
  let largest = 0;
  const { set } = Map.prototype;
  vi.spyOn(Map.prototype, 'set').mockImplementation(function (this: Map<unknown, unknown>, key, value) {
    largest = Math.max(largest, this.size);
    return set.call(this, key, value);
  });
  const table = new OwnState().table('t', { numbers: 1, entries: 10_000, forgetsOldest: true });
  for (let i = 0; i < 20_000; i++) table.update(`client ${i}`, ({ numbers }) => numbers[0]);
  expect(table.size).toBe(10_000);
  expect(largest).toBeGreaterThan(20);
  expect(largest).toBeLessThan(150);
});
