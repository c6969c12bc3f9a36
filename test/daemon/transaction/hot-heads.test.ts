import { describe, expect, it } from 'vitest';
import { HotHeads } from '../../../daemon/transaction/hot-heads.ts';
import { Bench } from '../cache/cache-setup.ts';

/** Hits an object once; whether its head was ready. */
function hit(b: Bench, heads: HotHeads, url: string): boolean {
  const [, out] = b.lookup(url);
  const ready = heads.find(out.oc) !== null;
  // One hit may ask twice, and has to get the same answer.
  expect(heads.find(out.oc) !== null).toBe(ready);
  b.cache.hits.count(out.oc);
  b.cache.references.deref(out.oc);
  return ready;
}

describe('HotHeads', () => {
  it('makes the head of an object ready that is hit again and again', () => {
    const b = new Bench();
    const heads = new HotHeads(b.cache.facts, b.cache.reading, 'Via: 1.1 test', 'x-proxy-id');
    b.put('/hot', 1, 'body');
    expect([0, 0, 0, 0, 0].map(() => hit(b, heads, '/hot'))).toEqual([false, false, false, true, true]);
  });

  it('makes none ready for hits all over many objects', () => {
    const b = new Bench();
    const heads = new HotHeads(b.cache.facts, b.cache.reading, 'Via: 1.1 test', 'x-proxy-id');
    for (let i = 0; i < 4096; i++) b.put(`/${i}`, i + 1, 'x');
    let ready = 0;
    for (let round = 0; round < 6; round++) {
      for (let i = 0; i < 4096; i++) if (hit(b, heads, `/${i}`)) ready++;
    }
    expect(ready).toBe(0);
  });
});
