import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DiskIndex, type IndexEntry } from '../../../daemon/disk/disk-index.ts';

function entry(low: number, segment: number, at: number, variant = 0): IndexEntry {
  return { low, high: 5, variant, segment, at, end: 9, bytes: 1024 };
}

it('finds what a list of entries would, through replacements, drops and segments that go', () => {
  const small = fc.integer({ min: 0, max: 5 });
  const step = fc.record({
    op: fc.constantFrom('set', 'set', 'set', 'drop', 'segment'),
    low: small,
    variant: small,
    segment: small,
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const index = new DiskIndex(40);
      let list: IndexEntry[] = [];
      /** Replaced ones included. */
      let rows: number[] = [];
      steps.forEach(({ op, low, variant, segment }, at) => {
        if (op === 'set') {
          const one = entry(low, segment, at, variant);
          expect(index.set(one)).toBe(rows.length < 40);
          if (rows.length >= 40) return;
          rows.push(segment);
          list = [one, ...list.filter((other) => other.low !== low || other.variant !== variant)];
        } else if (op === 'drop') {
          const one = list.find((other) => other.low === low);
          if (one === undefined) return;
          index.drop(one);
          list = list.filter((other) => other !== one);
        } else {
          index.dropSegment(segment);
          rows = rows.filter((other) => other !== segment);
          list = list.filter((other) => other.segment !== segment);
        }
      });
      expect(index.live).toBe(list.length);
      for (let low = 0; low < 6; low++) {
        expect(index.find(low, 5)).toEqual(list.filter((one) => one.low === low));
        expect(index.find(low, 6)).toEqual([]);
      }
    }),
  );
});

it('finds the 32 newest variants of a key', () => {
  const index = new DiskIndex(100);
  for (let i = 0; i < 50; i++) index.set(entry(1, 1, i, i));
  expect(index.find(1, 5).map(({ variant }) => variant)).toEqual(
    Array.from({ length: 32 }, (_, i) => 49 - i),
  );
  expect(index.live).toBe(32);
});

it('knows how long a record is, up to a tenth more, and each place in the largest segment', () => {
  const index = new DiskIndex(10);
  for (const bytes of [1, 64, 4096, 65_536, 1_000_000, 8 << 20, 2 ** 30]) {
    const at = 2 ** 24 - 1;
    const one = { ...entry(1, 7, at), bytes };
    index.set(one);
    const found = index.find(1, 5)[0];
    expect(found?.at).toBe(at);
    expect(found?.bytes).toBeGreaterThanOrEqual(bytes);
    expect(found?.bytes).toBeLessThanOrEqual(bytes * 1.1);
    expect(index.has(one)).toBe(true);
  }
});
