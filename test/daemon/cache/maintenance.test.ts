// CacheMaintenance through its interface alone: which work a step does, and when it wants to be called again.
import { describe, expect, it } from 'vitest';
import type { CacheMaintenance } from '../../../daemon/cache/maintenance.ts';
import { Bench, response } from './cache-setup.ts';

/** Objects that carry the surrogate key `all`. */
function putTagged(bench: Bench, count: number): void {
  for (let i = 0; i < count; i++) {
    const [, out] = bench.lookup(`/${i}`);
    bench.prepare(out.busy, i + 1, '', { ttl: 1000 });
    bench.cache.filling.storeHead(out.busy, null, response({ xkey: 'all' }), null);
    bench.cache.filling.finish(out.busy);
    bench.cache.references.deref(out.busy);
  }
}

/** Seconds to the next step, as the steady clock goes. */
function step(bench: Bench): number {
  const maintenance: CacheMaintenance = bench.cache.maintenance;
  const wait = maintenance.step(bench.now);
  bench.millis += wait * 1000;
  return wait;
}

describe('maintenance', () => {
  it('rests between looks for expired objects, and less while more are due', () => {
    const bench = new Bench();
    for (let i = 0; i < 2000; i++) bench.put(`/${i}`, i + 1, 'x', { ttl: 10, grace: 0 });
    bench.limits.lurker = { ...bench.limits.lurker, sleep: 0 };
    step(bench);
    expect(bench.counters.n_object).toBe(2000);
    bench.now += 20;
    const waits: number[] = [];
    bench.tick = 0.5;
    for (let calls = 0; bench.counters.n_object > 0; calls++) {
      if (calls === 1000) throw new Error('objects are left');
      const wait = step(bench);
      if (bench.counters.n_expired > 0) waits.push(Math.round(wait * 1000));
    }
    expect(bench.counters.n_expired).toBe(2000);
    expect(waits.length).toBeGreaterThan(10);
    expect(Math.max(...waits.slice(0, -1))).toBeLessThanOrEqual(8);
    bench.tick = 0;
    bench.maintain();
    // The lurker looks at moments of its own.
    expect(step(bench) + step(bench)).toBeGreaterThan(0.2);
  });

  it('has the lurker complete bans', () => {
    const bench = new Bench();
    for (let i = 0; i < 20; i++) bench.put(`/${i}`, i + 1, 'x');
    expect(bench.cache.bans.add(['obj.status', '==', '200'], bench.now)).toBeNull();
    for (let calls = 0; calls < 100; calls++) step(bench);
    expect([bench.counters.n_object, bench.counters.bans]).toEqual([0, 1]);
  });

  it('lets requests go before the lurker when it stops in the middle of its work', () => {
    const bench = new Bench();
    for (let i = 0; i < 500; i++) bench.put(`/${i}`, i + 1, 'x');
    bench.limits.lurker = { ...bench.limits.lurker, batch: 1000 };
    bench.cache.bans.add(['obj.status', '==', '200'], bench.now);
    bench.tick = 1;
    expect(bench.cache.maintenance.lurker.step(bench.now)).toBe(0);
    bench.transactions++;
    expect(bench.cache.maintenance.lurker.step(bench.now)).toBe(0.03);
    expect(bench.counters.bans_lurker_contention).toBe(1);
  });

  it('is woken for the rest of a purge by key, and continues with it a piece a step', () => {
    const bench = new Bench();
    putTagged(bench, 3000);
    bench.maintain();
    bench.tick = 0.3;
    expect(bench.cache.invalidation.purgeTags('all', false, bench.now)).toBe(3000);
    expect([bench.wakes, bench.counters.n_object > 0]).toEqual([1, true]);
    expect(bench.ask('/2999')).toBe('MISS');
    let calls = 0;
    for (; bench.counters.n_object > 0 && calls < 5000; calls++) step(bench);
    expect(bench.counters.n_object).toBe(0);
    expect(calls).toBeGreaterThan(3);
  });

  it('sleeps long while nothing ends, and no longer than until the first end', () => {
    const bench = new Bench();
    const { maintenance } = bench.cache;
    const rest = (): number => {
      bench.millis += 1000;
      let wait = 0;
      while (wait === 0) wait = maintenance.step(bench.now);
      return wait;
    };
    rest();
    expect(rest()).toBeCloseTo(0.25, 3);
    bench.put('/soon', 1, 'x', { ttl: 0.1, grace: 0 });
    // Ends are noted in eighths of a second.
    expect(rest()).toBeCloseTo(0.125, 3);
    bench.now += 0.09;
    expect(rest()).toBeCloseTo(0.05, 3);
    bench.now += 0.04;
    rest();
    expect(bench.killed).toContain('EXP 1');
  });

  it('does no work for long while another is due', () => {
    const bench = new Bench();
    for (let i = 0; i < 100; i++) bench.put(`/short${i}`, i + 10_000, 'x', { ttl: 10, grace: 0 });
    putTagged(bench, 3000);
    bench.maintain();
    bench.tick = 0.3;
    bench.now += 20;
    bench.cache.invalidation.purgeTags('all', false, bench.now);
    // Past the expiry's longest rest, with the purge still at work.
    bench.millis += 250;
    for (let calls = 0; calls < 4; calls++) step(bench);
    expect(bench.killed).toContain('EXP 10000');
    expect(bench.counters.n_object).toBeGreaterThan(0);
  });

  it('adds to counters that other caches add to as well', () => {
    const first = new Bench();
    const second = new Bench(undefined, first.counters);
    putTagged(first, 3);
    putTagged(second, 4);
    first.cache.maintenance.sample();
    second.cache.maintenance.sample();
    first.cache.maintenance.sample();
    expect(first.counters).toMatchObject({ bans: 2, n_objecthead: 7, xkey_keys: 2, xkey_links: 7 });
    first.cache.invalidation.purge('/0', first.now);
    first.cache.maintenance.sample();
    expect(first.counters).toMatchObject({ n_objecthead: 6, xkey_links: 6 });
    expect([second.ask('/3'), first.ask('/3')]).toEqual(['HIT', 'MISS']);
  });
});
