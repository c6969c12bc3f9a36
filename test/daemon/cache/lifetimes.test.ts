// Lifetimes on a bare state: what ends when, and what the log hears of it.
import { describe, expect, it } from 'vitest';
import { Lifetimes } from '../../../daemon/cache/lifetimes.ts';
import { META, OF_GZIPPED, OF_INDEXED, OF_PRIVATE } from '../../../daemon/cache/objcore.ts';
import { bareState, T0 } from './cache-setup.ts';

function made(): { lifetimes: Lifetimes; oc: number; seen: string[]; state: ReturnType<typeof bareState> } {
  const seen: string[] = [];
  const state = bareState({
    inserted: (_oc, end) => seen.push(`inserted ${end - T0}`),
    rearmed: (_oc, from, to) => seen.push(`rearmed ${from - T0} ${to - T0}`),
  });
  const lifetimes = new Lifetimes(state);
  const oc = state.objcores.take();
  state.objcores.set(oc, META, OF_INDEXED);
  lifetimes.setAttributes(oc, { tOrigin: T0, ttl: 10, grace: 20, keep: 30, vxid: 1, flags: OF_GZIPPED });
  return { lifetimes, oc, seen, state };
}

describe('Lifetimes', () => {
  it('keeps the heap at the end of ttl, grace and keep', () => {
    const { lifetimes, oc, seen, state } = made();
    expect(lifetimes.endOf(oc)).toBe(T0 + 60);
    expect(state.expiryHeap.firstEnd()).toBe(T0 + 60);
    expect(seen).toEqual(['inserted 60']);
    expect([lifetimes.isFresh(oc, T0 + 9), lifetimes.isFresh(oc, T0 + 10)]).toEqual([true, false]);
  });

  it('sets the flags of a fetch and leaves those of the cache', () => {
    const { lifetimes, oc, state } = made();
    lifetimes.setAttributes(oc, { tOrigin: T0, ttl: 1, grace: 0, keep: 0, vxid: 1, flags: OF_PRIVATE });
    expect(state.objcores.get(oc, META)).toBe(OF_INDEXED);
  });

  it('makes stale as of a moment, once', () => {
    const { lifetimes, oc, seen, state } = made();
    expect(lifetimes.soften(oc, T0 + 4)).toBe(true);
    expect([lifetimes.isFresh(oc, T0 + 3), lifetimes.isFresh(oc, T0 + 4)]).toEqual([true, false]);
    expect(lifetimes.soften(oc, T0 + 5)).toBe(false);
    expect(seen.at(-1)).toBe('rearmed 60 54');
    expect(state.counters.exp_mailed).toBe(1);
  });

  it('gives longer lifetimes too, without moving the end', () => {
    const { lifetimes, oc, state } = made();
    lifetimes.reset(oc, { ttl: 100, grace: -1, keep: -1 }, T0);
    expect(lifetimes.isFresh(oc, T0 + 50)).toBe(true);
    expect(state.expiryHeap.firstEnd()).toBe(T0 + 60);
    lifetimes.reset(oc, { ttl: 1, grace: 0, keep: 0 }, T0);
    expect(state.expiryHeap.firstEnd()).toBe(T0 + 1);
  });

  // vmod_purge(3) of newer releases: an object with 60 seconds of each, `age` seconds old.
  it.each<[what: string, age: number, ttl: number, grace: number, keep: number, left: number]>([
    ['fresh', 0, 0, -1, -1, 120],
    ['stale', 70, 0, -1, -1, 110],
    ['fresh', 0, 0, 10, 10, 20],
    ['stale for 5 seconds', 65, 0, 10, 10, 15],
    ['stale for 15 seconds', 75, 0, 10, 10, 5],
    ['stale for 20 seconds', 80, 0, 10, 10, 0],
    ['fresh for 5 seconds', 5, 10, -1, -1, 130],
    ['fresh for 55 seconds', 55, 10, -1, -1, 125],
    ['fresh, and to live longer', 0, 500, 500, 500, 180],
  ])('only shortens the life of what is %s', (_what, age, ttl, grace, keep, left) => {
    const { lifetimes, oc, state } = made();
    lifetimes.setAttributes(oc, { tOrigin: T0, ttl: 60, grace: 60, keep: 60, vxid: 1, flags: 0 });
    lifetimes.reset(oc, { ttl, grace, keep, shortens: true }, T0 + age);
    expect(lifetimes.endOf(oc)).toBe(T0 + age + left);
    expect(state.expiryHeap.firstEnd()).toBe(T0 + age + left);
  });
});
