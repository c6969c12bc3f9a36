import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Expiry } from '../../../daemon/cache/expiry.ts';
import { OBJCORE_WORDS } from '../../../daemon/cache/objcore.ts';
import { Rows } from '../../../daemon/cache/rows.ts';

describe('Expiry', () => {
  it('yields objects in the order of their ends, whatever was added, moved and removed', () => {
    const step = fc.record({
      op: fc.constantFrom('add', 'add', 'move', 'remove'),
      pick: fc.nat(),
      end: fc.integer({ min: 1000, max: 2000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const rows = new Rows(OBJCORE_WORDS);
        const expiry = new Expiry(rows, 1000);
        const model = new Map<number, number>();
        for (const { op, pick, end } of steps) {
          const known = [...model.keys()];
          if (op === 'add') {
            const oc = rows.take();
            expiry.set(oc, end);
            model.set(oc, end);
          } else if (known.length > 0) {
            const oc = known[pick % known.length] as number;
            if (op === 'move') {
              expiry.set(oc, end);
              model.set(oc, end);
            } else {
              expiry.remove(oc);
              model.delete(oc);
            }
          }
          expect(expiry.size).toBe(model.size);
          expect(expiry.firstEnd()).toBe(Math.min(Number.POSITIVE_INFINITY, ...model.values()));
        }
        const ends: number[] = [];
        for (let oc = expiry.first(); oc !== 0; oc = expiry.first()) {
          ends.push(model.get(oc) as number);
          expiry.remove(oc);
        }
        expect(ends).toEqual([...model.values()].sort((a, b) => a - b));
      }),
      { numRuns: 100 },
    );
  });

  it('rounds ends up, never down, and survives ends out of range', () => {
    const rows = new Rows(OBJCORE_WORDS);
    const expiry = new Expiry(rows, 1000);
    const oc = rows.take();
    expiry.set(oc, 1000.01);
    expect(expiry.firstEnd()).toBeCloseTo(1000.0625, 6);
    expiry.set(oc, 10);
    expect(expiry.firstEnd()).toBe(1000);
    expiry.set(oc, Number.POSITIVE_INFINITY);
    expect(expiry.firstEnd()).toBeGreaterThan(1000 + 8 * 365 * 86400);
  });
});
