import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExpiryHeap } from '../../../daemon/cache/expiry-heap.ts';
import { BATCH, OBJCORE_WORDS } from '../../../daemon/cache/objcore.ts';
import { RowTable } from '../../../daemon/cache/row-table.ts';
import { runs } from '../../harness/runs.ts';

describe('ExpiryHeap', () => {
  it('yields objects in the order of their ends, whatever was added, moved and removed', () => {
    const step = fc.record({
      op: fc.constantFrom('add', 'add', 'move', 'remove'),
      pick: fc.nat(),
      end: fc.integer({ min: 1000, max: 2000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const rows = new RowTable(OBJCORE_WORDS);
        const expiry = new ExpiryHeap(rows, 1000);
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
      { numRuns: runs(100) },
    );
  });

  it('takes out what has ended and nothing else, and many at once as one by one', () => {
    const ends = fc.array(fc.integer({ min: 1000, max: 1100 }), { minLength: 1, maxLength: 300 });
    const share = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(ends, fc.integer({ min: 999, max: 1101 }), share, (all, now, every) => {
        const rows = new RowTable(OBJCORE_WORDS);
        const expiry = new ExpiryHeap(rows, 900);
        const left = new Map<number, number>();
        for (const end of all) {
          const oc = rows.take();
          expiry.set(oc, end);
          left.set(oc, end);
        }
        const gone = [...left.keys()].filter((oc) => oc % every === 0).slice(0, BATCH);
        expiry.removeAll(Int32Array.from(gone), gone.length);
        for (const oc of gone) left.delete(oc);
        const taken: number[] = [];
        const batch = new Int32Array(BATCH);
        for (let count = 1; count > 0; ) {
          count = expiry.takeEnded(now, batch, 7);
          taken.push(...batch.subarray(0, count));
        }
        expect(expiry.size).toBe(left.size - taken.length);
        const ended = [...left].filter(([, end]) => end <= now).map(([oc]) => oc);
        expect(taken.sort((a, b) => a - b)).toEqual(ended);
        for (const oc of ended) {
          expect(expiry.endOf(oc)).toBeNull();
          left.delete(oc);
        }
        expiry.tidy(3 * all.length);
        for (const [oc, end] of left) expect(expiry.endOf(oc)).toBe(end);
        expect(expiry.firstEnd()).toBe(Math.min(Number.POSITIVE_INFINITY, ...left.values()));
      }),
      { numRuns: runs(100) },
    );
  });

  it('closes gaps when there are many, and not before', () => {
    const rows = new RowTable(OBJCORE_WORDS);
    const expiry = new ExpiryHeap(rows, 900);
    const ocs = Int32Array.from({ length: 8192 }, () => rows.take());
    for (const oc of ocs) expiry.set(oc, 1000 + ((oc * 7919) % 8191));
    for (let at = 0; at < 4096; at += BATCH) {
      expect(expiry.untidy).toBe(at > 2048);
      expiry.removeAll(ocs.subarray(at, at + BATCH), BATCH);
    }
    for (let steps = 0; expiry.untidy && steps < 200; steps++) expiry.tidy(100);
    expect(expiry.untidy).toBe(false);
    expect(expiry.size).toBe(4096);
    const batch = new Int32Array(BATCH);
    const left: number[] = [];
    while (expiry.size > 0) left.push(...batch.subarray(0, expiry.takeEnded(10_000, batch, BATCH)));
    expect(left.sort((a, b) => a - b)).toEqual([...ocs.subarray(4096)]);
    expect(expiry.firstEnd()).toBe(Number.POSITIVE_INFINITY);
  });

  it('rounds ends up, never down, and survives ends out of range', () => {
    const rows = new RowTable(OBJCORE_WORDS);
    const expiry = new ExpiryHeap(rows, 1000);
    const oc = rows.take();
    expiry.set(oc, 1000.01);
    expect(expiry.firstEnd()).toBeCloseTo(1000.0625, 6);
    expiry.set(oc, 10);
    expect(expiry.firstEnd()).toBe(1000);
    expiry.set(oc, Number.POSITIVE_INFINITY);
    expect(expiry.firstEnd()).toBeGreaterThan(1000 + 8 * 365 * 86400);
  });
});
