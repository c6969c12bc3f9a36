// The ban lurker against what a plain reading of the bans says: which objects must be gone, which bans remain.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Ban } from '../../../../daemon/cache/ban/ban.ts';
import type { LurkerLimits } from '../../../../daemon/cache/cache-state.ts';
import { runs } from '../../../harness/runs.ts';
import { Bench } from '../cache-setup.ts';

const EAGER: LurkerLimits = { age: 0, batch: 3, sleep: 0.01, cutoff: 0, holdoff: 0.03 };

/** Lets the lurker work until it has nothing to do; returns how often it was called. */
function work(bench: Bench, limits: LurkerLimits = EAGER): number {
  for (let calls = 1; calls < 10_000; calls++) {
    const wait = bench.lurk(limits);
    if (wait >= 0.05) return calls;
  }
  throw new Error('the lurker does not come to rest');
}

function ban(bench: Bench, text: string): void {
  expect(bench.cache.bans.add(text.split(' '), bench.now)).toBeNull();
}

/** The expressions of the bans that are not done with, newest first. */
function open(bench: Bench): string[] {
  return [...bench.cache.bans.list()].filter((b) => !b.completed).map((b) => b.expression.text);
}

describe('the ban lurker', () => {
  it('takes out what nobody asks for, and completes the ban', () => {
    const bench = new Bench();
    for (let i = 0; i < 20; i++) bench.put(`/${i}`, i + 1, 'x', { ttl: i < 7 ? 10 : 100 });
    ban(bench, 'obj.ttl < 50s');
    expect(bench.counters.n_object).toBe(20);
    work(bench);
    expect(bench.counters.n_object).toBe(13);
    expect(bench.counters.bans_lurker_obj_killed).toBe(7);
    expect(open(bench)).toEqual([]);
    expect(bench.counters.bans).toBe(1);
  });

  it('leaves young bans to lookups', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    ban(bench, 'obj.status == 200');
    work(bench, { ...EAGER, age: 60 });
    expect(bench.counters.n_object).toBe(1);
    bench.now += 61;
    work(bench, { ...EAGER, age: 60 });
    expect(bench.counters.n_object).toBe(0);
  });

  it('rests when it is turned off', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    ban(bench, 'obj.status == 200');
    work(bench, { ...EAGER, sleep: 0 });
    expect(bench.counters.n_object).toBe(1);
  });

  it('works in batches', () => {
    const bench = new Bench();
    for (let i = 0; i < 30; i++) bench.put(`/${i}`, i + 1, 'x');
    ban(bench, 'obj.status == 404');
    expect(work(bench, { ...EAGER, batch: 10 })).toBeGreaterThanOrEqual(3);
    expect(bench.counters.bans_lurker_tested).toBe(30);
  });

  it('begins its batches at an even pace, and makes up for what was late', () => {
    const bench = new Bench();
    for (let i = 0; i < 30; i++) bench.put(`/${i}`, i + 1, 'x');
    ban(bench, 'obj.status == 404');
    const next = (): number => bench.lurk(EAGER);
    expect(next()).toBeCloseTo(0.01);
    bench.millis += 14;
    expect(next()).toBeCloseTo(0.006);
    bench.millis += 50;
    expect([next(), next(), next()]).toEqual([0, 0, 0]);
  });

  it('looks whether old bans can go when there is a new one for it', () => {
    const bench = new Bench();
    for (const text of ['req.url == /1', 'req.url == /2']) ban(bench, text);
    work(bench);
    expect(bench.counters.bans).toBe(3);
    ban(bench, 'obj.status == 1');
    work(bench, { ...EAGER, age: 60 });
    expect(bench.counters).toMatchObject({ bans: 1, bans_obj: 1, bans_req: 0 });
  });

  it('stops when its time is over, and continues', () => {
    const bench = new Bench();
    for (let i = 0; i < 500; i++) bench.put(`/${i}`, i + 1, 'x');
    ban(bench, 'obj.status == 200');
    bench.tick = 1;
    expect(bench.lurk({ ...EAGER, batch: 1000 })).toBe(0);
    expect(bench.counters.n_object).toBeGreaterThan(0);
    work(bench, { ...EAGER, batch: 1000 });
    expect(bench.counters.n_object).toBe(0);
  });

  it('stops in the middle of the bans of one object, and continues there', () => {
    const bench = new Bench();
    for (let i = 0; i < 3; i++) bench.put(`/${i}`, i + 1, 'x');
    for (let i = 0; i < 1000; i++) ban(bench, `obj.http.x == ${i}`);
    bench.tick = 1;
    let before = 0;
    let steps = 0;
    for (; bench.counters.bans_lurker_tests_tested < 3000; steps++) {
      bench.lurk(EAGER);
      const tests = bench.counters.bans_lurker_tests_tested - before;
      before += tests;
      expect(tests).toBeLessThanOrEqual(100);
    }
    expect(steps).toBeLessThan(300);
    bench.tick = 0;
    work(bench);
    expect(bench.counters).toMatchObject({
      bans_lurker_tests_tested: 3000,
      bans_lurker_tested: 3000,
      bans: 1,
    });
  });

  it('does not continue with the bans of an object that has gone, for another in its row', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    for (let i = 0; i < 1000; i++) ban(bench, `obj.http.x == ${i}`);
    bench.tick = 1;
    bench.lurk(EAGER);
    expect(bench.counters.bans_lurker_tests_tested).toBeLessThan(1000);
    bench.cache.invalidation.purge('/a', bench.now);
    bench.put('/b', 2, 'x');
    bench.put('/c', 3, 'x');
    ban(bench, 'obj.status == 200');
    bench.tick = 0;
    work(bench);
    work(bench);
    expect([bench.counters.n_object, bench.counters.bans, open(bench)]).toEqual([0, 1, []]);
  });

  it('makes stale what a soft ban hits, and nothing else', () => {
    const bench = new Bench();
    for (let i = 0; i < 3; i++) bench.put(`/${i}`, i + 1, 'x', { keep: i });
    bench.now += 5;
    expect(bench.cache.bans.addText('obj.keep == 1s', bench.now, true)).toBeNull();
    work(bench);
    expect(['/0', '/1', '/2'].map((url) => bench.ask(url))).toEqual(['HIT', 'GRACE', 'HIT']);
  });

  // Varnish 8.0, changes-8.0.rst: obj.last_hit.
  it('removes what has not been hit for a while, as of the moment of the ban', () => {
    const bench = new Bench();
    for (const [i, url] of ['/hit', '/unhit', '/late'].entries()) bench.put(url, i + 1, 'x');
    const hit = (url: string): void => {
      const [, out] = bench.lookup(url);
      bench.cache.hits.touch(out.oc, bench.now);
      bench.cache.references.deref(out.oc);
    };
    bench.now += 8;
    hit('/hit');
    bench.now += 4;
    ban(bench, 'obj.last_hit > 10s');
    bench.now += 50;
    work(bench);
    expect(['/hit', '/unhit', '/late'].map((url) => bench.ask(url))).toEqual(['HIT', 'MISS', 'MISS']);
    ban(bench, 'obj.last_hit < 1s');
    expect(bench.ask('/hit')).toBe('HIT');
  });

  it('counts a ban that lookups have outdated in the middle of its round once', () => {
    const bench = new Bench();
    for (let i = 0; i < 9; i++) bench.put(`/${i}`, i + 1, 'x');
    ban(bench, 'obj.status == 404');
    bench.lurk(EAGER);
    ban(bench, 'obj.status == 405');
    for (let i = 0; i < 9; i++) expect(bench.ask(`/${i}`)).toBe('HIT');
    expect(bench.counters).toMatchObject({ bans: 1, bans_completed: 0 });
    work(bench);
    work(bench);
    expect(bench.counters).toMatchObject({ bans: 1, bans_completed: 1 });
    bench.put('/new', 10, 'x');
    ban(bench, 'obj.status == 200');
    work(bench);
    expect(bench.counters.n_object).toBe(0);
  });

  it('cannot do with bans on requests, and works past them', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    ban(bench, 'req.url == /a');
    ban(bench, 'obj.status == 404');
    work(bench);
    expect(open(bench)).toEqual(['req.url == /a']);
    // The object is not taken for tested against the one on requests.
    expect(bench.ask('/a')).toBe('MISS');
  });

  it('keeps a ban open for an object that was under way when it came', () => {
    const bench = new Bench();
    const [, out] = bench.lookup('/slow');
    ban(bench, 'obj.status == 200');
    work(bench);
    expect(open(bench)).toEqual(['obj.status == 200']);
    bench.fetch(out.busy, 1, 'x');
    work(bench);
    expect([bench.counters.n_object, open(bench)]).toEqual([0, []]);
  });

  it('lets untested objects go beyond the cutoff', () => {
    const bench = new Bench();
    bench.put('/old', 1, 'x');
    for (let i = 0; i < 5; i++) ban(bench, `req.url == /${i}`);
    bench.put('/new', 2, 'x');
    work(bench, { ...EAGER, cutoff: 3 });
    // As in Varnish, the lurker looks at objects only when there is a ban for it.
    expect(bench.counters.bans_lurker_obj_killed_cutoff).toBe(0);
    ban(bench, 'obj.status == 404');
    work(bench, { ...EAGER, cutoff: 4 });
    expect(bench.counters.bans_lurker_obj_killed_cutoff).toBe(1);
    expect(bench.ask('/new')).toBe('HIT');
  });

  it('does what testing everything against everything would do', () => {
    const step = fc.oneof(
      fc.record({ k: fc.constant('put' as const), ttl: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ k: fc.constant('obj' as const), ttl: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ k: fc.constant('req' as const), n: fc.nat(5) }),
      fc.record({ k: fc.constant('lurk' as const), calls: fc.nat(4) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const bench = new Bench();
        const alive = new Map<string, number>();
        let n = 0;
        for (const s of steps) {
          if (s.k === 'put') {
            alive.set(`/${n}`, s.ttl);
            bench.put(`/${n++}`, n, 'x', { ttl: s.ttl * 100 });
          } else if (s.k === 'obj') {
            ban(bench, `obj.ttl == ${s.ttl * 100}s`);
            for (const [url, ttl] of alive) if (ttl === s.ttl) alive.delete(url);
          } else if (s.k === 'req') ban(bench, `req.url == /never${s.n}`);
          else for (let i = 0; i < s.calls; i++) bench.lurk(EAGER);
        }
        // Twice: bans that came during a round are for the next one.
        work(bench);
        work(bench);
        expect(bench.counters.n_object).toBe(alive.size);
        expect(open(bench).every((text) => text.startsWith('req.url'))).toBe(true);
        for (const url of alive.keys()) expect(bench.ask(url)).toBe('HIT');
      }),
    );
  });

  it('begins and ends a round under very many bans in steps', () => {
    const bench = new Bench();
    bench.put('/a', 1, 'x');
    for (let i = 0; i < 2000; i++) ban(bench, `obj.status == ${1000 + i}`);
    // Each look at the clock is the last one of a step but one.
    bench.tick = 1;
    const completed = vi.spyOn(Ban.prototype, 'completed', 'get');
    let calls = 0;
    let most = 0;
    while (calls++ < 1000) {
      completed.mockClear();
      bench.lurk(EAGER);
      // The last step drops a thousand.
      if (bench.counters.bans_deleted > 0) break;
      most = Math.max(most, completed.mock.calls.length);
    }
    completed.mockRestore();
    expect(open(bench)).toEqual([]);
    expect(calls).toBeGreaterThan(20);
    expect(most).toBeLessThan(250);
  });

  it('finds the list changed in the middle of a beginning or an end, and does the same', () => {
    const step = fc.oneof(
      fc.record({ k: fc.constant('lurk' as const), calls: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ k: fc.constant('ban' as const), status: fc.integer({ min: 200, max: 203 }) }),
      fc.record({ k: fc.constant('put' as const) }),
      fc.record({ k: fc.constant('purge' as const), n: fc.nat(20) }),
      fc.record({ k: fc.constant('ask' as const), n: fc.nat(20) }),
      fc.record({ k: fc.constant('off' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const bench = new Bench();
        const alive = new Set<string>();
        let n = 0;
        const put = (): void => {
          bench.put(`/${n}`, n + 1, 'x');
          alive.add(`/${n++}`);
        };
        put();
        for (let i = 0; i < 300; i++) ban(bench, `obj.status == ${1000 + i}`);
        put();
        bench.tick = 1;
        for (const s of steps) {
          if (s.k === 'put') put();
          else if (s.k === 'lurk') for (let i = 0; i < s.calls; i++) bench.lurk(EAGER);
          else if (s.k === 'off') bench.lurk({ ...EAGER, sleep: 0 });
          else if (s.k === 'ban') {
            ban(bench, `obj.status == ${s.status}`);
            if (s.status === 200) alive.clear();
          } else if (s.k === 'purge') {
            bench.cache.invalidation.purge(`/${s.n}`, bench.now);
            alive.delete(`/${s.n}`);
          } else if (s.n < n) {
            const known = alive.has(`/${s.n}`) ? 'HIT' : 'MISS';
            const answer = bench.ask(`/${s.n}`, {}, { hashIgnoreBusy: true });
            if (answer !== 'UNTESTED') expect(answer).toBe(known);
          }
        }
        bench.tick = 0;
        bench.settle();
        // Twice: bans that came during a round are for the next one.
        work(bench);
        work(bench);
        expect(open(bench)).toEqual([]);
        for (let i = 0; i < n; i++)
          expect(bench.ask(`/${i}`, {}, { hashIgnoreBusy: true })).toBe(alive.has(`/${i}`) ? 'HIT' : 'MISS');
      }),
      { numRuns: runs(150) },
    );
  });
});
