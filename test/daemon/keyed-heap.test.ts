// The heap by key against a sorted list: whatever is put in and taken out from anywhere, the lowest comes first.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KeyedHeap } from '../../daemon/keyed-heap.ts';

it('has the lowest first, whatever goes in and out', () => {
  const step = fc.oneof(
    fc.record({ add: fc.nat(20), key: fc.integer({ min: -5, max: 30 }) }),
    fc.record({ remove: fc.nat(20) }),
    fc.constant('pop' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new KeyedHeap<string>();
      const model = new Map<string, number>();
      for (const each of steps) {
        if (each === 'pop') {
          const { first } = heap;
          if (first !== undefined) heap.remove(first);
          model.delete(first ?? '');
        } else if ('add' in each) {
          const item = `i${each.add}`;
          heap.add(item, each.key);
          if (!model.has(item)) model.set(item, each.key);
        } else {
          const item = `i${each.remove}`;
          expect(heap.remove(item)).toBe(model.delete(item));
        }
        const lowest = Math.min(...model.values());
        expect(heap.size).toBe(model.size);
        expect(heap.lowest).toBe(model.size === 0 ? undefined : lowest);
        expect(model.get(heap.first ?? '')).toBe(heap.lowest);
      }
    }),
  );
});
