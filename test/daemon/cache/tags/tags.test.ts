// Surrogate keys and soft invalidation against what a plain reading says: which objects are gone or stale at once,
// what purges count, what fetches under way may bring, and that the index goes with its objects.

import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Oc, OF_HIT_MISS } from '../../../../daemon/cache/objcore.ts';
import { RowTable } from '../../../../daemon/cache/row-table.ts';
import { headerNames, keysIn, tagsOf } from '../../../../daemon/cache/tags/tag-headers.ts';
import { TagPurges } from '../../../../daemon/cache/tags/tag-purges.ts';
import { runs } from '../../../harness/runs.ts';
import { Bench, response } from '../cache-setup.ts';

function begin(bench: Bench, url: string, fields: Record<string, string> = {}): Oc {
  return bench.lookup(url, fields, { hashAlwaysMiss: true })[1].busy;
}

function complete(bench: Bench, oc: Oc, keys: string, more: { flags?: number; vary?: string } = {}): void {
  const { cache } = bench;
  cache.filling.setAttributes(oc, {
    tOrigin: bench.now,
    ttl: 100,
    grace: 50,
    keep: 0,
    vxid: 1,
    flags: more.flags ?? 0,
  });
  cache.filling.storeHead(oc, null, response({ xkey: keys }), null);
  cache.filling.unbusy(oc);
  cache.filling.finish(oc);
  cache.references.deref(oc);
}

const put = (bench: Bench, url: string, keys: string): void => complete(bench, begin(bench, url), keys);
const purge = (bench: Bench, keys: string, soft = false): number =>
  bench.cache.invalidation.purgeTags(keys, soft, bench.now);

describe('keys in a head', () => {
  it('stand between blanks and commas, in any of the fields, each once', () => {
    expect(keysIn(' a,b  a\t,c,')).toEqual(['a', 'b', 'c']);
    const head = response({ xkey: 'a b', 'Cache-Tag': 'c,a' });
    head.push('xkey', 'xkey: d');
    expect(tagsOf(head, ['xkey', 'surrogate-key', 'cache-tag'])).toEqual(['a', 'b', 'd', 'c']);
    expect(tagsOf(head, ['surrogate-key'])).toBeNull();
    expect(tagsOf(response({ xkey: ' , ' }), ['xkey'])).toBeNull();
    expect(headerNames('XKey, Surrogate-Key')).toEqual(['xkey', 'surrogate-key']);
  });
});

describe('a purge by key', () => {
  it('takes out what carries one of the keys, and counts each object once', () => {
    const bench = new Bench();
    put(bench, '/1', 'a b');
    put(bench, '/2', 'b c');
    put(bench, '/3', 'c');
    expect(purge(bench, 'a, b none')).toBe(2);
    expect(['/1', '/2', '/3'].map((url) => bench.ask(url))).toEqual(['MISS', 'MISS', 'HIT']);
    expect(purge(bench, 'a b')).toBe(0);
  });

  it('is felt at once by objects that it has not come to yet', () => {
    const bench = new Bench();
    for (let i = 0; i < 200; i++) put(bench, `/${i}`, 'all');
    // The clock moves on at each look, so that the purge itself does a small part only.
    bench.tick = 1;
    expect(purge(bench, 'all')).toBe(200);
    expect(bench.counters.n_object).toBeGreaterThan(100);
    for (let i = 0; i < 200; i++) expect(bench.ask(`/${i}`)).toBe('MISS');
    bench.settle();
    expect(bench.counters.n_object).toBe(0);
  });

  it('leaves what is being read to its readers, and gives back what is not', () => {
    const bench = new Bench();
    for (let i = 0; i < 300; i++) put(bench, `/${i}`, 'all');
    const held = [0, 150, 299].map((i) => bench.lookup(`/${i}`)[1].oc);
    purge(bench, 'all');
    bench.settle();
    expect(bench.counters).toMatchObject({ n_object: 3, n_objectcore: 3, n_objecthead: 0, n_expired: 300 });
    for (const oc of held) expect(bench.cache.facts.vxidOf(oc)).toBe(1);
    for (const oc of held) bench.cache.references.deref(oc);
    expect(bench.counters).toMatchObject({ n_object: 0, n_objectcore: 0 });
    expect(bench.cache.storages.stats('s0')).toMatchObject({ g_bytes: 0, g_alloc: 0 });
    expect(bench.cache.maintenance.expiry.nextEnd()).toBe(Number.POSITIVE_INFINITY);
  });

  it('releases the bans that its objects were tested against, and their places among the used', () => {
    const bench = new Bench([{ name: 's0', kind: 'malloc', size: 1 << 20 }]);
    bench.cache.bans.addText('req.url == /first', bench.now);
    for (let i = 0; i < 200; i++) put(bench, `/${i}`, 'all');
    bench.cache.bans.addText('req.url == /second', bench.now);
    expect([...bench.cache.bans.list()].map((ban) => ban.refs)).toEqual([0, 200, 0]);
    purge(bench, 'all');
    bench.settle();
    expect([...bench.cache.bans.list()].map((ban) => ban.refs)).toEqual([0, 0, 0]);
    // The next eviction finds none of them.
    for (let i = 0; i < 300; i++) bench.put(`/large-${i}`, 1, 'x'.repeat(8192));
    expect(bench.counters.n_lru_nuked).toBe(300 - bench.counters.n_object);
  });

  it('counts what another one is still at work on as gone', () => {
    const bench = new Bench();
    for (let i = 0; i < 200; i++) put(bench, `/${i}`, 'all odd');
    bench.tick = 1;
    purge(bench, 'all');
    expect(purge(bench, 'odd')).toBe(0);
    bench.settle();
    // As counted by Varnish's module: each one's expiry was known on arrival, and ended by the purge.
    expect(bench.counters).toMatchObject({ n_object: 0, n_expired: 200, exp_mailed: 400 });
  });

  it('spares what is filed under the same key afterwards', () => {
    const bench = new Bench();
    for (let i = 0; i < 200; i++) put(bench, `/${i}`, 'all');
    bench.tick = 1;
    purge(bench, 'all');
    put(bench, '/new', 'all');
    bench.settle();
    expect(bench.ask('/new')).toBe('HIT');
    expect(purge(bench, 'all')).toBe(1);
  });

  it('keeps out what was being fetched when it came', () => {
    const bench = new Bench();
    const before = begin(bench, '/1');
    const other = begin(bench, '/2');
    purge(bench, 'a');
    const after = begin(bench, '/3');
    complete(bench, before, 'a');
    complete(bench, other, 'b');
    complete(bench, after, 'a');
    expect(['/1', '/2', '/3'].map((url) => bench.ask(url))).toEqual(['MISS', 'HIT', 'HIT']);
  });

  it('remembers any number of purges, and keeps what they do not name', () => {
    const bench = new Bench();
    const [hit, other] = [begin(bench, '/1'), begin(bench, '/2')];
    for (let i = 0; i < 5000; i++) purge(bench, `key${i}`);
    complete(bench, hit, 'key0');
    complete(bench, other, 'unrelated');
    expect(['/1', '/2'].map((url) => bench.ask(url))).toEqual(['MISS', 'HIT']);
  });

  it('soft, leaves the grace, counts fresh ones only, and files them again', () => {
    const bench = new Bench();
    put(bench, '/1', 'a');
    put(bench, '/2', 'a');
    bench.now += 10;
    expect(purge(bench, 'a', true)).toBe(2);
    expect(purge(bench, 'a', true)).toBe(0);
    expect(bench.ask('/1')).toBe('GRACE');
    bench.now += 49;
    expect(bench.ask('/1')).toBe('GRACE');
    bench.now += 2;
    expect(bench.ask('/1')).toBe('MISS');
    expect(purge(bench, 'a')).toBe(2);
  });

  it('soft, is felt at once, and a hard one overtakes it', () => {
    const bench = new Bench();
    for (let i = 0; i < 200; i++) put(bench, `/${i}`, 'all');
    bench.tick = 1;
    expect(purge(bench, 'all', true)).toBe(200);
    for (let i = 0; i < 200; i++) expect(bench.ask(`/${i}`)).toBe('GRACE');
    expect(purge(bench, 'all')).toBe(200);
    for (let i = 0; i < 200; i++) expect(bench.ask(`/${i}`)).toBe('MISS');
    bench.settle();
    expect(bench.counters.n_object).toBe(0);
  });
});

describe('purges of many keys', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Words of rows that are read while every key is purged softly, and then hard. */
  function reads(keys: number, ask: boolean): number {
    const bench = new Bench();
    for (let i = 0; i < 2 * keys; i++) put(bench, `/${i}`, `key${i % keys}`);
    const names = Array.from({ length: keys }, (_, i) => `key${i}`).join(' ');
    // Time for none of the work itself.
    bench.tick = 1000;
    const get = vi.spyOn(RowTable.prototype, 'get');
    expect(purge(bench, names, true)).toBe(2 * keys);
    for (let i = 0; i < 2 * keys && ask; i++) expect(bench.ask(`/${i}`)).toBe('GRACE');
    expect(purge(bench, names)).toBe(2 * keys);
    const count = get.mock.calls.length;
    get.mockRestore();
    bench.tick = 0.1;
    bench.settle();
    expect([bench.counters.n_object, bench.counters.n_objectcore]).toEqual([0, 0]);
    return count;
  }

  it.each([false, true])('cost as much for each, however many are at work; objects asked for: %s', (ask) => {
    expect(reads(800, ask)).toBeLessThan(4.4 * reads(200, ask));
  });

  it('do not look for each of their keys at all keys of their objects', () => {
    const bench = new Bench();
    const names = Array.from({ length: 2000 }, (_, i) => `k${i}`).join(' ');
    for (let i = 0; i < 20; i++) put(bench, `/${i}`, names);
    put(bench, '/other', 'other');
    bench.tick = 1000;
    const other = purge(bench, 'other');
    const get = vi.spyOn(RowTable.prototype, 'get');
    expect(other + purge(bench, names)).toBe(21);
    // One that went by all keys for each of them would read 80 million.
    expect(get.mock.calls.length).toBeLessThan(2_000_000);
  });

  it.each([
    [1, false],
    [8, false],
    [9, true],
  ])('remember their members only where one has many keys: %i', (keys, remembered) => {
    const bench = new Bench();
    const of = (i: number): string => Array.from({ length: keys }, (_, k) => `k${i % 100}-${k}`).join(' ');
    for (let i = 0; i < 800; i++) put(bench, `/${i}`, of(i));
    const names = Array.from({ length: 100 }, (_, i) => of(i)).join(' ');
    bench.tick = 1000;
    for (const soft of [true, false]) {
      const add = vi.spyOn(Set.prototype, 'add');
      expect(purge(bench, names, soft)).toBe(800);
      const members = add.mock.calls.filter(([member]) => typeof member === 'number').length;
      add.mockRestore();
      expect(members > 0).toBe(remembered);
    }
  });

  it('share the time of a turn', () => {
    const bench = new Bench();
    for (let i = 0; i < 2000; i++) put(bench, `/${i}`, `key${i % 200}`);
    bench.tick = 0.1;
    const step = vi.spyOn(TagPurges.prototype, 'step');
    for (let i = 0; i < 200; i++) expect(purge(bench, `key${i}`)).toBe(10);
    expect(step.mock.calls.length).toBeLessThan(10);
    bench.settle();
    expect(bench.counters.n_object).toBe(0);
  });

  it('soft, make an object stale as of the time of its own', () => {
    const bench = new Bench();
    for (let i = 0; i < 200; i++) put(bench, `/${i}`, i < 100 ? 'a' : 'b');
    bench.tick = 1000;
    expect(purge(bench, 'a', true)).toBe(100);
    bench.now += 20;
    expect(purge(bench, 'b', true)).toBe(100);
    bench.now += 40;
    // Its grace lasts 50 seconds from then on; the other purge was a minute ago.
    expect([bench.ask('/199'), bench.ask('/99')]).toEqual(['GRACE', 'MISS']);
  });
});

describe('the index', () => {
  it('goes with its objects', () => {
    const bench = new Bench();
    put(bench, '/1', 'a b');
    put(bench, '/2', 'a');
    bench.cache.maintenance.sample();
    expect([bench.counters.xkey_keys, bench.counters.xkey_links]).toEqual([2, 3]);
    bench.cache.invalidation.purge('/1', bench.now);
    bench.now += 1000;
    bench.cache.maintenance.expiry.step(bench.now, 1000);
    bench.cache.maintenance.sample();
    expect([bench.counters.xkey_keys, bench.counters.xkey_links, bench.counters.n_object]).toEqual([0, 0, 0]);
  });

  it('has an end: what finds no room is not kept', () => {
    const bench = new Bench();
    put(bench, '/1', 'a');
    bench.limits.tagSpace = 1;
    put(bench, '/2', 'b');
    expect([bench.ask('/1'), bench.ask('/2'), bench.counters.xkey_refused]).toEqual(['HIT', 'MISS', 1]);
    bench.limits.tagSpace = 0;
    put(bench, '/3', Array.from({ length: 5000 }, (_, i) => i.toString(36)).join(' '));
    expect([bench.ask('/3'), bench.counters.xkey_refused]).toEqual(['MISS', 2]);
  });

  it('has markers, too', () => {
    const bench = new Bench();
    complete(bench, begin(bench, '/1'), 'a', { flags: OF_HIT_MISS });
    expect(purge(bench, 'a')).toBe(1);
  });

  it('answers as a plain list does', () => {
    const url = fc.integer({ min: 0, max: 5 }).map((n) => `/${n}`);
    const keys = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c'), { minLength: 1 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('put' as const), url, keys }),
      fc.record({ do: fc.constant('begin' as const), url, keys }),
      fc.record({ do: fc.constant('end' as const) }),
      fc.record({ do: fc.constant('purge' as const), keys, soft: fc.boolean() }),
      fc.record({ do: fc.constant('drop' as const), url }),
      fc.record({ do: fc.constant('work' as const) }),
      fc.record({ do: fc.constant('later' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const bench = new Bench();
        bench.tick = 1;
        const model = new Map<string, { keys: string[]; stale: boolean }>();
        let fetch: { oc: Oc; url: string; keys: string[]; purged: boolean } | null = null;
        for (const s of steps) {
          if (s.do === 'put') {
            bench.cache.invalidation.purge(s.url, bench.now, null, fetch?.url === s.url ? fetch.oc : 0);
            put(bench, s.url, s.keys.join(' '));
            model.set(s.url, { keys: s.keys, stale: false });
          } else if (s.do === 'begin' && fetch === null) {
            fetch = { oc: begin(bench, s.url), url: s.url, keys: s.keys, purged: false };
          } else if (s.do === 'end' && fetch !== null) {
            const before = model.get(fetch.url);
            if (!fetch.purged) bench.cache.invalidation.purge(fetch.url, bench.now, null, fetch.oc);
            complete(bench, fetch.oc, fetch.keys.join(' '));
            if (!fetch.purged) model.set(fetch.url, { keys: fetch.keys, stale: false });
            else if (before === undefined) model.delete(fetch.url);
            fetch = null;
          } else if (s.do === 'purge') {
            let count = 0;
            for (const [u, object] of [...model]) {
              if (!object.keys.some((key) => s.keys.includes(key))) continue;
              if (!s.soft || !object.stale) count++;
              if (s.soft) object.stale = true;
              else model.delete(u);
            }
            if (fetch?.keys.some((key) => s.keys.includes(key)) === true) fetch.purged = true;
            expect(purge(bench, s.keys.join(','), s.soft)).toBe(count);
          } else if (s.do === 'drop') {
            bench.cache.invalidation.purge(s.url, bench.now, null, fetch?.url === s.url ? fetch.oc : 0);
            model.delete(s.url);
          } else if (s.do === 'work') {
            bench.settle();
          } else if (s.do === 'later') {
            bench.now += 0.01;
          }
          for (let i = 0; i < 6; i++) {
            const object = model.get(`/${i}`);
            const expected = object === undefined ? 'MISS' : object.stale ? 'GRACE' : 'HIT';
            expect(bench.ask(`/${i}`, {}, { hashIgnoreBusy: true })).toBe(expected);
          }
        }
        bench.settle();
        bench.cache.maintenance.sample();
        const links = [...model.values()].reduce((sum, object) => sum + object.keys.length, 0);
        expect(bench.counters.xkey_links).toBe(links);
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('soft bans', () => {
  it('make stale as of their own time, at a lookup and by the lurker', () => {
    for (const lurking of [false, true]) {
      const bench = new Bench();
      put(bench, '/1', 'a');
      put(bench, '/2', 'b');
      bench.now += 10;
      expect(bench.cache.bans.add(['obj.http.xkey', '==', 'a'], bench.now, true)).toBeNull();
      bench.now += 49;
      if (lurking) bench.lurk({ age: 0, batch: 100, sleep: 1, cutoff: 0, holdoff: 0 });
      expect([bench.ask('/1'), bench.ask('/2')]).toEqual(['GRACE', 'HIT']);
      bench.now += 2;
      expect(bench.ask('/1')).toBe('MISS');
      expect([bench.counters.bans_obj_softened, bench.counters.bans_lurker_obj_softened]).toEqual(
        lurking ? [0, 1] : [1, 0],
      );
    }
  });

  it('do not hide an older hard one, and are not taken for one', () => {
    const bench = new Bench();
    put(bench, '/1', 'a');
    bench.cache.bans.add(['obj.http.xkey', '==', 'a'], bench.now);
    bench.cache.bans.add(['obj.http.xkey', '==', 'a'], bench.now, true);
    expect(bench.counters.bans_dups).toBe(0);
    expect(bench.ask('/1')).toBe('MISS');
  });

  it('reach what was being fetched, and leave it its grace', () => {
    const bench = new Bench();
    const oc = begin(bench, '/1');
    bench.cache.bans.add(['obj.http.xkey', '==', 'a'], bench.now, true);
    bench.now += 1;
    complete(bench, oc, 'a');
    expect(bench.ask('/1')).toBe('GRACE');
  });
});

describe('a soft purge', () => {
  it('gives the lifetimes it names, to a stale object too, and longer ones until the old end', () => {
    const bench = new Bench();
    put(bench, '/1', 'a');
    const soft = (ttl: number, grace: number): number =>
      bench.cache.invalidation.purge('/1', bench.now, { ttl, grace, keep: -1 });
    expect(soft(20, 10)).toBe(1);
    bench.now += 25;
    expect(bench.ask('/1')).toBe('GRACE');
    expect(soft(0, -1)).toBe(1);
    bench.now += 4;
    bench.cache.maintenance.expiry.step(bench.now, 100);
    expect(bench.ask('/1')).toBe('GRACE');
    expect(soft(500, 500)).toBe(1);
    expect(bench.ask('/1')).toBe('HIT');
    bench.now += 2;
    bench.cache.maintenance.expiry.step(bench.now, 100);
    expect(bench.ask('/1')).toBe('MISS');
  });

  it('with less than nothing left, hides the object', () => {
    const bench = new Bench();
    put(bench, '/1', 'a');
    expect(bench.cache.invalidation.purge('/1', bench.now, { ttl: -1, grace: 100, keep: 100 })).toBe(1);
    expect(bench.ask('/1')).toBe('MISS');
    expect(bench.counters.n_object).toBe(1);
  });

  it('in the moment of the fetch leaves the grace', () => {
    const bench = new Bench();
    put(bench, '/1', 'a');
    bench.cache.invalidation.purge('/1', bench.now, { ttl: 0, grace: 5, keep: -1 });
    expect(bench.ask('/1')).toBe('GRACE');
    bench.now += 6;
    expect(bench.ask('/1')).toBe('MISS');
  });
});

describe('a dry run', () => {
  it('counts, touches nothing, and works in steps', () => {
    const bench = new Bench();
    for (let i = 0; i < 300; i++) put(bench, `/${i}\0host\0`, i % 3 === 0 ? 'a' : 'b');
    bench.tick = 1;
    const count = (plain: boolean, ...words: string[]): number[] => {
      const run = bench.cache.bans.count(words, bench.now, plain);
      if (typeof run === 'string') throw new Error(run);
      let steps = 1;
      while (!run.step()) steps++;
      expect(steps).toBeGreaterThan(3);
      return [run.matching, run.undecided, run.objects];
    };
    expect(count(true, 'obj.http.xkey', '==', 'a')).toEqual([100, 0, 300]);
    expect(count(true, 'req.url', '~', '^/1', '&&', 'req.http.host', '==', 'host')).toEqual([111, 0, 300]);
    expect(count(false, 'req.url', '~', '^/1', '&&', 'obj.http.xkey', '==', 'a')).toEqual([0, 100, 300]);
    expect(count(true, 'req.http.cookie', '==', 'x', '&&', 'req.url', '==', '/7')).toEqual([0, 1, 300]);
    expect(bench.counters.n_object).toBe(300);
    expect(bench.cache.bans.count(['obj.x', '==', 'a'], bench.now, true)).toBe(
      'Unknown or unsupported field "obj.x"',
    );
  });
});
