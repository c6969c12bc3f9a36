// Many variants of one key: what a look-up finds is what a comparison with each would, whichever headers they vary by.
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { LookupAnswer, LookupResult } from '../../../daemon/cache/lookup-query.ts';
import type { ChunkBytes } from '../../../daemon/cache/storage/slab.ts';
import { matchesStored, type VaryKey, varyBytes, varyKey, writeVary } from '../../../daemon/cache/vary.ts';
import { isFull, runs } from '../../harness/runs.ts';
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
    { numRuns: runs(300) },
  );
});

/** A key whose objects vary by three headers, and n fetches for variants of it under way. */
function crowd(n: number): { b: Bench; busy: number[] } {
  const b = new Bench();
  b.put('/v', 1, 'x', { vary: 'L, M, N' }, { L: 'first' });
  const busy = Array.from({ length: n }, (_, i) => {
    const [answer, out] = b.lookup('/v', { L: `l${i}`, M: 'm' });
    expect(answer).toBe(LookupAnswer.MISS);
    return out.busy;
  });
  return { b, busy };
}

/** How often a look-up asks the request for a header, or brings a value into its normal form. */
function asked(b: Bench, fields: Record<string, string>): number {
  const q = b.query('/v', fields);
  const getAll = vi.spyOn(q.http, 'getAll');
  const valueAt = vi.spyOn(q.http, 'valueAt');
  const split = vi.spyOn(String.prototype, 'split');
  const out = new LookupResult();
  b.cache.lookup.find(q, out);
  const splits = split.mock.calls.length;
  split.mockRestore();
  for (const oc of [out.oc, out.busy, out.stale]) if (oc !== 0) b.cache.references.deref(oc);
  return getAll.mock.calls.length + valueAt.mock.calls.length + splits;
}

it('a look-up reads its request as often beside two hundred fetches as beside fifty', () => {
  expect(asked(crowd(200).b, { L: 'other', M: 'm' })).toBe(asked(crowd(50).b, { L: 'other', M: 'm' }));
});

it('variants that came together are distinguished as fast as those that came one by one', () => {
  const { b, busy } = crowd(200);
  for (const [i, oc] of busy.entries()) b.fetch(oc, i + 2, 'x', { vary: 'L, M, N' }, { L: `l${i}`, M: 'm' });
  for (const i of [0, 100, 199]) expect(b.ask('/v', { L: `l${i}`, M: 'm' })).toBe('HIT');
  // Those that are compared with the request itself before there is a hash, and the one that has the same.
  expect(asked(b, { L: 'l0', M: 'm' })).toBeLessThan(50);
});

it('of very many fetches at once nearly none waits for another in vain', () => {
  const b = new Bench();
  b.put('/v', 1, 'x', { vary: 'L' }, { L: 'first' });
  let waits = 0;
  for (let i = 0; i < (isFull ? 3000 : 1000); i++)
    if (b.lookup('/v', { L: `l${i}` })[0] === LookupAnswer.BUSY) waits++;
  expect(waits).toBeLessThan(5);
});
