import { expect, it } from 'vitest';
import { CounterWatch } from '../../../daemon/stats/counter-watch.ts';
import { describeCounters } from '../../../daemon/stats/counters-reader.ts';

const NAMES = [
  'uptime',
  'cache_hit',
  'cache_miss',
  's_pass',
  'n_purges',
  'n_obj_purged',
  'xkey_purges',
  'n_lru_nuked',
  's_fetch',
] as const;
const INFO = describeCounters(NAMES.map((name) => `MAIN.${name}`));

type Second = Partial<Record<(typeof NAMES)[number], number>>;

/** Plays seconds, each of which adds to the counters; what was noted, with its second. */
function play(seconds: readonly Second[]): string[] {
  const notes: string[] = [];
  let second = 0;
  const watch = new CounterWatch((kind, text) => notes.push(`${second} ${kind}: ${text}`));
  const values = NAMES.map(() => 0n);
  for (second = 0; second < seconds.length; second++) {
    const adds = seconds[second] as Second;
    NAMES.forEach((name, i) => {
      if (name === 'uptime' && adds.uptime !== undefined) values.fill(0n);
      else values[i] = (values[i] as bigint) + BigInt(name === 'uptime' ? 1 : (adds[name] ?? 0));
    });
    watch.take(1e12 + second * 1000, { info: INFO, values: [...values] });
  }
  return notes;
}

const many = (n: number, second: Second): Second[] => Array.from({ length: n }, () => second);

it('notes a drop of the hit rate once, and the next one after it has recovered', () => {
  const good = { cache_hit: 90, cache_miss: 10 };
  const bad = { cache_hit: 20, cache_miss: 80 };
  const notes = play([...many(80, good), ...many(40, bad), ...many(80, good), ...many(20, bad)]);
  expect(notes).toEqual([
    '81 hit-rate: hit rate fell from 90 % to 76 % (last 10 s)',
    '201 hit-rate: hit rate fell from 90 % to 76 % (last 10 s)',
  ]);
});

it('takes neither chance nor a handful of requests for a drop', () => {
  expect(play([...many(80, { cache_hit: 3, cache_miss: 1 }), ...many(2, { cache_miss: 4 })])).toEqual([]);
  expect(play([...many(80, { cache_hit: 1 }), ...many(3, { cache_miss: 1 }), ...many(60, {})])).toEqual([]);
});

it('notes when passes jump, of which the hit rate says nothing', () => {
  const good = { cache_hit: 99, cache_miss: 1 };
  const passing = { cache_hit: 53, cache_miss: 1, s_pass: 46 };
  expect(play([...many(80, good), ...many(60, passing), ...many(80, good), ...many(20, passing)])).toEqual([
    '82 passes: passes rose from 0 % to 14 % of requests (last 10 s)',
    '222 passes: passes rose from 0 % to 14 % of requests (last 10 s)',
  ]);
  expect(play([...many(80, passing), ...many(60, good)])).toEqual([]);
});

it('notes when purges become many and when they are over, by keys too, and purges of many objects', () => {
  const storm = { n_purges: 30, xkey_purges: 20, n_obj_purged: 5 };
  expect(play([...many(20, { n_purges: 1 }), ...many(30, storm), ...many(20, {})])).toEqual([
    '21 purges: 108 purges in 10 s, 10 objects gone',
    '59 purges: over: 1508 purges in 48 s, 150 objects gone',
  ]);
  expect(play([...many(20, {}), { n_purges: 1, n_obj_purged: 4000 }, ...many(5, {})])).toEqual([
    '20 purges: 1 purge in 10 s, 4000 objects gone',
  ]);
});

it('notes when a full cache evicts for a good part of its fetches, and when that is over', () => {
  const full = { s_fetch: 20, n_lru_nuked: 18 };
  expect(play([...many(20, { s_fetch: 20 }), ...many(30, full), ...many(20, { s_fetch: 20 })])).toEqual([
    '22 evictions: the cache is full: 54 objects evicted in 10 s',
    '58 evictions: over: 540 objects evicted in 46 s',
  ]);
  // A cache that is always full evicts a little, and a few objects are no storm.
  expect(play(many(60, { s_fetch: 100, n_lru_nuked: 20 }))).toEqual([]);
  expect(play(many(60, { s_fetch: 4, n_lru_nuked: 4 }))).toEqual([]);
});

it('begins again with another worker', () => {
  const good = { cache_hit: 90, cache_miss: 10 };
  expect(play([...many(80, good), { uptime: 0 }, ...many(10, { cache_miss: 100 })])).toEqual([]);
});
