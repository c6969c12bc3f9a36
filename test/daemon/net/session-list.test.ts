// The worker's list of connections, with additions and removals in any order, also while it is gone through.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Listed, SessionList } from '../../../daemon/net/session-list.ts';

type Item = Listed & { readonly name: number };

it('holds what was added and not removed', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -20, max: 20 })), (steps) => {
      const list = new SessionList<Item>();
      const model = new Map<number, Item>();
      for (const step of steps) {
        const name = Math.abs(step);
        const there = model.get(name);
        if (step >= 0 && there === undefined) {
          const item = { name, place: 0 };
          model.set(name, item);
          list.add(item);
        } else if (step < 0 && there !== undefined) {
          model.delete(name);
          list.remove(there);
        }
      }
      const found: number[] = [];
      list.each((item) => found.push(item.name));
      expect(found.sort((a, b) => a - b)).toEqual([...model.keys()].sort((a, b) => a - b));
      expect(list.count).toBe(model.size);
    }),
  );
});

it('is gone through while the callback removes what it gets, and others, and adds', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('itself', 'first', 'last', 'adds', 'nothing')), (deeds) => {
      const list = new SessionList<Item>();
      const there = new Set<Item>();
      const add = (name: number): void => {
        const item = { name, place: 0 };
        there.add(item);
        list.add(item);
      };
      deeds.forEach((_deed, i) => {
        add(i);
      });
      const remove = (item: Item | undefined): void => {
        if (item !== undefined && there.delete(item)) list.remove(item);
      };
      const before = [...there];
      const met = new Set<Item>();
      list.each((item) => {
        expect(there.has(item)).toBe(true);
        met.add(item);
        const deed = deeds[item.name];
        if (deed === 'itself') remove(item);
        else if (deed === 'first') remove([...there][0]);
        else if (deed === 'last') remove([...there].at(-1));
        else if (deed === 'adds') add(1000);
      });
      for (const item of before) if (there.has(item)) expect(met.has(item)).toBe(true);
    }),
  );
});
