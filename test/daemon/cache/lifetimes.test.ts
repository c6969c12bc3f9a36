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
});
