// Many variants of one key: what a look-up finds is what a comparison with each would, whichever headers they vary by.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ChunkBytes } from '../../../daemon/cache/storage/slab.ts';
import { matchesStored, type VaryKey, varyBytes, varyKey, writeVary } from '../../../daemon/cache/vary.ts';
import { Bench, request } from './cache-setup.ts';

const VARIES = ['L', 'L', 'L', 'L, Accept-Encoding', 'l,m', 'M', '*'];
const VALUES = ['a', 'b', 'a, b', 'a,b', ' a', 'A', '', 'c', 'd', 'e', 'f', 'g', 'h'];

const fields = fc.record(
  {
    L: fc.constantFrom(...VALUES),
    M: fc.constantFrom('x', 'y', 'x ,y', 'x,y'),
    'Accept-Encoding': fc.constantFrom('gzip', 'br'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>;
const put = fc.record({ vary: fc.option(fc.constantFrom(...VARIES), { freq: 20 }), fields });

function stored(key: VaryKey): ChunkBytes {
  const memory = Buffer.alloc(varyBytes(key)) as Buffer as ChunkBytes;
  writeVary(key, memory, 0);
  return memory;
}

it.each([
  [true, false],
  [false, false],
  [true, true],
])('gzip support %s, normalised %s', (gzipSupport, normaliseVary) => {
  fc.assert(
    fc.property(
      fc.array(put, { maxLength: 40 }),
      fc.array(fields, { minLength: 1, maxLength: 20 }),
      (puts, asked) => {
        const b = new Bench();
        Object.assign(b.limits, { gzipSupport, normaliseVary });
        const kept: { vxid: number; key: ChunkBytes | null }[] = [];
        for (const [i, one] of puts.entries()) {
          const vary = one.vary ?? undefined;
          b.put('/v', i + 1, 'x', vary === undefined ? {} : { vary }, one.fields);
          kept.unshift({
            vxid: i + 1,
            key: vary === undefined ? null : stored(varyKey(vary, request('/v', one.fields)) as VaryKey),
          });
        }
        for (const each of asked) {
          const message = request('/v', each);
          const expected = kept.find(
            ({ key }) => key === null || matchesStored(key, 0, message, gzipSupport, normaliseVary),
          );
          const [, out] = b.lookup('/v', each);
          expect(out.oc === 0 ? 0 : b.cache.facts.vxidOf(out.oc)).toBe(expected?.vxid ?? 0);
          for (const oc of [out.oc, out.busy, out.stale]) if (oc !== 0) b.cache.references.deref(oc);
        }
      },
    ),
    { numRuns: 300 },
  );
});
