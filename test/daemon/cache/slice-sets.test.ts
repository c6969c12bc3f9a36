// The slices of an object and the one with its head: how long the others stay once that one has gone.
import { beforeEach, describe, expect, it } from 'vitest';
import { LookupAnswer } from '../../../daemon/cache/lookup-query.ts';
import { type Oc, OF_PART } from '../../../daemon/cache/objcore.ts';
import { encodePart, type PartFacts, partKey, partTag } from '../../../daemon/cache/part-facts.ts';
import { Bench, response } from './cache-setup.ts';

let bench: Bench;

beforeEach(() => {
  bench = new Bench();
});

/** Stores a slice of 100 bytes under its own key. */
function put(set: string, index: number, ttl: number): void {
  const { cache } = bench;
  const part: PartFacts = {
    ...{ size: 100, index, total: 300, validator: '"a"', set, isFirst: index === 0, end: 0, others: [] },
  };
  const url = index === 0 ? '/film' : partKey('/film', part, index);
  const [answer, { busy }] = bench.lookup(url, {}, { hashAlwaysMiss: index === 0 });
  expect(answer).toBe(LookupAnswer.MISS);
  const life = { tOrigin: bench.now, ttl, grace: 0, keep: 0, vxid: 1, flags: OF_PART };
  cache.filling.setAttributes(busy, life);
  const slice = { length: 100, tag: index === 0 ? null : partTag(set), annex: encodePart(part) };
  expect(cache.filling.storeHead(busy, null, response(), null, slice)).toBe(true);
  cache.filling.append(busy, Buffer.alloc(100), 0, 100);
  cache.filling.finish(busy);
  cache.references.deref(busy);
}

const ask = (set: string, index: number): string => bench.ask(partKey('/film', { set }, index));

/** The head, with a reference. */
function head(): Oc {
  const [answer, { oc }] = bench.lookup('/film');
  expect(answer).toBe(LookupAnswer.HIT);
  return oc;
}

describe('go with the head', () => {
  it('that expires, although they live longer', () => {
    put('s', 0, 10);
    put('s', 1, 1000);
    put('s', 2, 1000);
    bench.now += 20;
    bench.maintain();
    bench.settle();
    expect(bench.counters.n_object).toBe(0);
  });

  it('that was purged or replaced, once nobody reads it any more', () => {
    for (const goes of ['purged', 'replaced'] as const) {
      put('s', 0, 100);
      put('s', 1, 100);
      const read = head();
      if (goes === 'purged') bench.cache.invalidation.purge('/film', bench.now);
      else {
        put('t', 0, 100);
        const next = head();
        bench.cache.invalidation.supersede(read, next);
        bench.cache.references.deref(next);
      }
      bench.settle();
      expect(ask('s', 1)).toBe('HIT');
      bench.cache.references.deref(read);
      bench.settle();
      expect(ask('s', 1)).toBe('MISS');
    }
  });
});

it('stay with the head of the same version that takes its place', () => {
  put('s', 0, 100);
  put('s', 1, 100);
  const read = head();
  put('s', 0, 100);
  const next = head();
  bench.cache.invalidation.supersede(read, next);
  bench.cache.references.deref(next);
  bench.cache.references.deref(read);
  bench.settle();
  expect(ask('s', 1)).toBe('HIT');
});
