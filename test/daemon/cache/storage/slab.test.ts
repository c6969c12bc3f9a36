import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SizeClasses } from '../../../../daemon/cache/storage/size-classes.ts';
import { Slab } from '../../../../daemon/cache/storage/slab.ts';
import { runs } from '../../../harness/runs.ts';

/** Where a block lies: chunk number times a range no chunk exceeds, plus the offset. */
function place(slab: Slab, ref: number): number {
  return (ref >>> slab.chunkShift) * 2 ** 32 + slab.offset(ref);
}

function fill(slab: Slab, ref: number, value: number): void {
  const at = slab.offset(ref);
  slab.chunk(ref).fill(value, at, at + slab.sizeOf(ref));
}

function holds(slab: Slab, ref: number, value: number): boolean {
  const at = slab.offset(ref);
  return slab
    .chunk(ref)
    .subarray(at, at + slab.sizeOf(ref))
    .every((byte) => byte === value);
}

describe('SizeClasses', () => {
  it('rounds up to the nearest class and down to a full one', () => {
    const classes = new SizeClasses(65536);
    for (let bytes = 1; bytes <= 65536; bytes += 37) {
      const up = classes.sizes[classes.ceil(bytes)] as number;
      expect(up).toBeGreaterThanOrEqual(bytes);
      const below = classes.sizes[classes.ceil(bytes) - 1] ?? 0;
      expect(below).toBeLessThan(bytes);
      if (bytes >= 16) expect(classes.sizes[classes.floor(bytes)] as number).toBeLessThanOrEqual(bytes);
      if (bytes >= 256 && bytes <= 8192) expect(up - bytes).toBeLessThan(bytes / 16 + 16);
    }
    expect(classes.ceil(65537)).toBe(-1);
  });
});

describe('Slab', () => {
  it('never hands out overlapping blocks and accounts for every byte', () => {
    const step = fc.oneof(
      fc.record({
        op: fc.constant('alloc' as const),
        bytes: fc.integer({ min: 1, max: 20000 }),
        least: fc.boolean(),
      }),
      fc.record({ op: fc.constant('free' as const), pick: fc.nat() }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(128 << 10, 1 << 20, 5 << 20, 0),
        fc.array(step, { maxLength: 150 }),
        (size, steps) => {
          const slab = new Slab(size);
          const held: { ref: number; mark: number }[] = [];
          let mark = 0;
          for (const s of steps) {
            if (s.op === 'alloc') {
              const ref = slab.alloc(s.bytes, s.least ? Math.min(s.bytes, 64) : s.bytes);
              if (ref === 0) continue;
              expect(slab.sizeOf(ref)).toBeGreaterThanOrEqual(s.least ? Math.min(s.bytes, 64) : s.bytes);
              mark = (mark + 1) & 255;
              fill(slab, ref, mark);
              held.push({ ref, mark });
            } else if (held.length > 0) {
              const [block] = held.splice(s.pick % held.length, 1) as [{ ref: number; mark: number }];
              expect(holds(slab, block.ref, block.mark)).toBe(true);
              slab.free(block.ref);
            }
          }
          const sorted = held.map((h) => place(slab, h.ref)).sort((a, b) => a - b);
          expect(new Set(sorted).size).toBe(held.length);
          let bytes = 0;
          for (const h of held) {
            expect(holds(slab, h.ref, h.mark)).toBe(true);
            bytes += slab.sizeOf(h.ref);
          }
          expect(slab.stats.g_bytes).toBe(bytes);
          expect(slab.stats.g_alloc).toBe(held.length);
          expect(slab.stats.c_bytes - slab.stats.c_freed).toBe(bytes);
          if (size > 0) {
            expect(slab.resident).toBeLessThanOrEqual(size);
            expect(slab.space).toBe(size - bytes);
          }
          for (const h of held) slab.free(h.ref);
          expect(slab.stats.g_bytes).toBe(0);
          expect(slab.stats.g_alloc).toBe(0);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('takes no more memory than configured and uses all of it again after everything was freed', () => {
    const slab = new Slab(1 << 20);
    for (const bytes of [64, 1000, 4096, 30000]) {
      const refs: number[] = [];
      for (let ref = slab.alloc(bytes); ref !== 0; ref = slab.alloc(bytes)) refs.push(ref);
      expect(refs.length * bytes).toBeGreaterThan((1 << 20) * 0.8);
      expect(slab.resident).toBe(1 << 20);
      for (const ref of refs) slab.free(ref);
    }
    expect(slab.stats.c_fail).toBe(4);
  });

  it('serves a request from blocks of other classes when no page is left', () => {
    const slab = new Slab(64 << 10);
    const refs: number[] = [];
    for (let ref = slab.alloc(512); ref !== 0; ref = slab.alloc(512)) refs.push(ref);
    expect(slab.alloc(2000)).toBe(0);
    slab.free(refs[3] as number);
    const smaller = slab.alloc(2000, 128);
    expect(slab.sizeOf(smaller)).toBe(512);
    slab.free(refs[9] as number);
    expect(slab.sizeOf(slab.alloc(40))).toBe(512);
  });

  it('gives an unlimited store its memory back to the system', () => {
    const slab = new Slab(0);
    const refs: number[] = [];
    for (let i = 0; i < 200; i++) refs.push(slab.alloc(65536));
    expect(slab.resident).toBeGreaterThanOrEqual(200 * 65536);
    for (const ref of refs) slab.free(ref);
    expect(slab.resident).toBeLessThanOrEqual(2 << 20);
    const again = slab.alloc(65536);
    fill(slab, again, 7);
    expect(holds(slab, again, 7)).toBe(true);
  });
});
