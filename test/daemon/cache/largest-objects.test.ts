// The search for the largest objects: order, limit, steps, and objects that are gone.
import { expect, it } from 'vitest';
import { Bench } from './cache-setup.ts';

function search(bench: Bench, limit: number): { names: string[]; objects: number; steps: number } {
  const largest = bench.cache.facts.largest(limit, bench.now);
  let steps = 1;
  while (!largest.step()) steps++;
  return {
    names: largest.found.map(({ key, bytes }) => `${key} ${bytes}`),
    objects: largest.objects,
    steps,
  };
}

it('has the largest first, whatever the order in which they were stored', () => {
  const bench = new Bench();
  for (const [i, size] of [300, 9000, 20, 70_000, 5000, 70_001].entries())
    bench.put(`/${i}`, i + 1, 'x'.repeat(size));
  expect(search(bench, 3).names).toEqual(['/5 70001', '/3 70000', '/1 9000']);
  expect(search(bench, 100).names).toHaveLength(6);
});

it('works in steps that are bounded in time', () => {
  const bench = new Bench();
  for (let i = 0; i < 400; i++) bench.put(`/${i}`, i + 1, 'x'.repeat(i));
  const once = search(bench, 2);
  bench.tick = 1;
  const found = search(bench, 2);
  expect(found).toMatchObject({ names: ['/399 399', '/398 398'], objects: 400 });
  expect(found.steps).toBeGreaterThan(once.steps + 5);
});

it('leaves out objects that are gone, and has hits, age and lifetime', () => {
  const bench = new Bench();
  bench.put('/gone', 1, 'x'.repeat(5000));
  bench.put('/there', 2, 'x'.repeat(50), { ttl: 30 });
  // A client still reads it.
  const [, reading] = bench.lookup('/gone');
  bench.cache.invalidation.purge('/gone', bench.now);
  bench.settle();
  bench.now += 40;
  const largest = bench.cache.facts.largest(5, bench.now);
  while (!largest.step());
  expect(largest.found).toEqual([{ bytes: 50, key: '/there', hits: 0, age: 40, ttl: -10, storage: 's0' }]);
  bench.cache.references.deref(reading.oc);
});
