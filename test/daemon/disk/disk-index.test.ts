import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DiskIndex, type IndexEntry } from '../../../daemon/disk/disk-index.ts';
import { turns } from '../../../daemon/turns/turns.ts';

function entry(low: number, segment: number, at: number, variant = 0): IndexEntry {
  return { low, high: 5, variant, segment, at, end: 9, bytes: 1024 };
}

it('finds what a list of entries would, through replacements, drops and segments that go', async () => {
  const small = fc.integer({ min: 0, max: 5 });
  const step = fc.record({
    op: fc.constantFrom('set', 'set', 'set', 'drop', 'segment'),
    low: small,
    variant: small,
    segment: small,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 200 }), async (steps) => {
      const index = new DiskIndex(40);
      let list: IndexEntry[] = [];
      /** Replaced ones included. */
      let rows: number[] = [];
      for (const [at, { op, low, variant, segment }] of steps.entries()) {
        if (op === 'set') {
          const one = entry(low, segment, at, variant);
          expect(index.set(one)).toBe(rows.length < 40);
          if (rows.length >= 40) continue;
          rows.push(segment);
          list = [one, ...list.filter((other) => other.low !== low || other.variant !== variant)];
        } else if (op === 'drop') {
          const one = list.find((other) => other.low === low);
          if (one === undefined) continue;
          index.drop(one);
          list = list.filter((other) => other !== one);
        } else {
          await index.dropSegment(segment);
          rows = rows.filter((other) => other !== segment);
          list = list.filter((other) => other.segment !== segment);
        }
      }
      expect(index.live).toBe(list.length);
      for (let low = 0; low < 6; low++) {
        expect(index.find(low, 5)).toEqual(list.filter((one) => one.low === low));
        expect(index.find(low, 6)).toEqual([]);
      }
    }),
  );
});

it('frees a large segment over many turns, while others replace its entries, use its rows and read it', async () => {
  const low = fc.integer({ min: 0, max: 30 });
  const step = fc.record({ op: fc.constantFrom('set', 'set', 'set', 'drop', 'turn'), low });
  turns.follow(() => 0);
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.boolean(), async (steps, isRead) => {
        const index = new DiskIndex(150);
        for (let i = 0; i < 100; i++) index.set(entry(i % 30, 1, i, i));
        let list: IndexEntry[] = [];
        const read: IndexEntry[] = [];
        const reading = isRead
          ? index.overSegment(1, async (one) => {
              read.push(one);
              await turns.next();
            })
          : null;
        const freeing = index.dropSegment(1);
        expect(index.live).toBeGreaterThan(0);
        for (const [at, one] of steps.entries()) {
          if (one.op === 'turn') await turns.next();
          else if (one.op === 'drop') {
            for (const old of index.find(one.low, 5).filter(({ segment }) => segment === 2)) index.drop(old);
            list = list.filter((other) => other.low !== one.low);
          } else if (index.set({ ...entry(one.low, 2, at), end: 9 })) {
            list = [...index.find(one.low, 5).slice(0, 1), ...list.filter((other) => other.low !== one.low)];
          }
        }
        await freeing;
        await reading;
        expect(index.live).toBe(list.length);
        for (let key = 0; key <= 30; key++) {
          expect(index.find(key, 5)).toEqual(list.filter((one) => one.low === key));
        }
        expect(read.every(({ segment }) => segment === 1)).toBe(true);
        // All rows are free again.
        for (let i = list.length; i < 150 - steps.length; i++)
          expect(index.set(entry(i, 3, i, i))).toBe(true);
      }),
      { numRuns: 60 },
    );
  } finally {
    turns.follow(() => 2);
  }
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
