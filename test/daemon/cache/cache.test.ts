import { describe, expect, it } from 'vitest';
import { LookupAnswer } from '../../../daemon/cache/lookup-query.ts';
import {
  type Oc,
  OF_FAILURE,
  OF_FOR_WAITERS,
  OF_HIT_MISS,
  OF_HIT_PASS,
} from '../../../daemon/cache/objcore.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { Bench, type Life } from './cache-setup.ts';

function sized(size: number): { cache: Bench['cache']; put(bytes: number): boolean } {
  const b = new Bench([{ name: 's0', kind: 'malloc', size }]);
  let count = 0;
  return { cache: b.cache, put: (bytes) => b.put(`/sized/${count++}`, 1, 'x'.repeat(bytes)) };
}

describe('lookup', () => {
  it('misses, hits, serves in grace with one background fetch, and misses with the stale object in keep', () => {
    const b = new Bench();
    expect(b.put('/a', 7, 'body', { ttl: 10, grace: 5, keep: 20 })).toBe(true);
    const [hit, out] = b.lookup('/a');
    expect(hit).toBe(LookupAnswer.HIT);
    expect(b.cache.facts.vxidOf(out.oc)).toBe(7);
    expect(b.body(out.oc).toString()).toBe('body');
    b.cache.references.deref(out.oc);
    b.now += 11;
    const [grace, first] = b.lookup('/a');
    expect(grace).toBe(LookupAnswer.GRACE);
    expect(first.busy).not.toBe(0);
    const [again, second] = b.lookup('/a');
    expect(again).toBe(LookupAnswer.GRACE);
    expect(second.busy).toBe(0);
    expect(second.oc).toBe(first.oc);
    b.now += 5;
    expect(b.ask('/a')).toBe('BUSY');
    b.cache.references.deref(first.busy);
    const [miss, last] = b.lookup('/a');
    expect(miss).toBe(LookupAnswer.MISS);
    expect(last.stale).toBe(first.oc);
    expect(last.busy).not.toBe(0);
  });

  it('lets req.grace and req.ttl only shorten, as Varnish does', () => {
    const b = new Bench();
    b.put('/a', 7, '', { ttl: 10, grace: 5 });
    b.now += 3;
    expect(b.ask('/a', {}, { reqTtl: 2 })).toBe('MISS');
    expect(b.ask('/a', {}, { reqTtl: 0 })).toBe('HIT');
    expect(b.ask('/a', {}, { reqTtl: 50 })).toBe('HIT');
    b.now += 8;
    expect(b.ask('/a', {}, { reqGrace: 0 })).toBe('MISS');
    expect(b.ask('/a', {}, { reqGrace: 2 })).toBe('GRACE');
    b.now += 5;
    expect(b.ask('/a', {}, { reqGrace: 500 })).toBe('MISS');
  });

  it('never finds what has no ttl, whatever its grace', () => {
    const b = new Bench();
    b.put('/a', 7, '', { ttl: 0, grace: 100 });
    expect(b.ask('/a')).toBe('MISS');
  });

  it('prefers the newest object and skips the cache on demand', () => {
    const b = new Bench();
    b.put('/a', 1, 'old');
    b.put('/a', 2, 'new');
    const [, out] = b.lookup('/a');
    expect(b.cache.facts.vxidOf(out.oc)).toBe(2);
    expect(b.ask('/a', {}, { hashAlwaysMiss: true })).toBe('MISS');
    expect(b.ask('/a')).toBe('HIT');
  });

  it('reports how many variants a lookup has looked at in vain', () => {
    const b = new Bench();
    const langs = ['a', 'b', 'c'];
    for (const lang of langs) b.put('/v', 1, lang, { vary: 'L' }, { L: lang });
    const seen = [...langs, 'd'].map((L) => b.lookup('/v', { L })[1].variants);
    expect([...seen].sort()).toEqual([0, 1, 2, 3]);
    expect(seen.at(-1)).toBe(3);
    expect(b.lookup('/v', { L: 'd' }, { hashIgnoreVary: true })[1].variants).toBe(0);
  });

  it('keeps variants apart, two of them being fetched at once included', () => {
    const b = new Bench();
    b.put('/v', 1, 'de', { vary: 'Lang' }, { Lang: 'de' });
    expect(b.ask('/v', { Lang: 'de' })).toBe('HIT');
    const [en, enOut] = b.lookup('/v', { Lang: 'en' });
    expect(en).toBe(LookupAnswer.MISS);
    expect(b.ask('/v', { Lang: 'en' })).toBe('BUSY');
    const [fr, frOut] = b.lookup('/v', { Lang: 'fr' });
    expect(fr).toBe(LookupAnswer.MISS);
    expect(b.ask('/v', { Lang: 'en' }, { hashIgnoreBusy: true })).toBe('MISS');
    expect(b.ask('/v', { Lang: 'xx' }, { hashIgnoreVary: true })).toBe('HIT');
    b.fetch(frOut.busy, 3, 'fr', { vary: 'Lang' }, { Lang: 'fr' });
    b.fetch(enOut.busy, 2, 'en', { vary: 'Lang' }, { Lang: 'en' });
    for (const [lang, vxid] of [
      ['de', 1],
      ['en', 2],
      ['fr', 3],
    ] as const) {
      const [answer, out] = b.lookup('/v', { Lang: lang });
      expect(answer).toBe(LookupAnswer.HIT);
      expect(b.cache.facts.vxidOf(out.oc)).toBe(vxid);
      expect(b.body(out.oc).toString()).toBe(lang);
    }
    expect(b.ask('/v')).toBe('MISS');
  });

  it('does not serialise what is marked hit-for-miss, past its ttl included', () => {
    const b = new Bench();
    b.put('/a', 9, '', { ttl: 10, grace: 10, flags: OF_HIT_MISS });
    for (const later of [0, 15]) {
      b.now += later;
      const [one, first] = b.lookup('/a');
      const [two, second] = b.lookup('/a');
      expect([one, two]).toEqual([LookupAnswer.HITMISS, LookupAnswer.HITMISS]);
      expect(first.busy).not.toBe(second.busy);
      expect(first.hitVxid).toBe(9);
      expect(first.hitTtl).toBeCloseTo(10 - later, 6);
      b.cache.references.deref(first.busy);
      b.cache.references.deref(second.busy);
    }
  });

  it('passes on a hit-for-pass marker, and lets an ordinary object replace one', () => {
    const b = new Bench();
    b.put('/a', 9, '', { ttl: 10, flags: OF_HIT_PASS });
    const [answer, out] = b.lookup('/a');
    expect(answer).toBe(LookupAnswer.HITPASS);
    expect([out.busy, out.oc, out.hitVxid]).toEqual([0, 0, 9]);
    b.put('/m', 1, '', { flags: OF_HIT_MISS });
    const [, miss] = b.lookup('/m');
    b.fetch(miss.busy, 2, 'x');
    expect(b.ask('/m')).toBe('HIT');
  });
});

describe('markers that a newer object hides', () => {
  /** Ten fetches that start from one marker, as they do when requests for an uncacheable URL come at once. */
  function refetch(b: Bench, url: string, life: Life, fields: Record<string, string> = {}): void {
    const looked = Array.from({ length: 10 }, () => b.lookup(url, fields)[1]);
    for (const [i, out] of looked.entries()) {
      if (out.stale !== 0) b.cache.references.deref(out.stale);
      b.fetch(out.busy, 2 + i, 'x', life, fields);
    }
  }

  it.each([
    ['', {}],
    ['L', { L: 'a' }],
  ])('go when the fetch is complete (Vary: %s)', (vary, fields: Record<string, string>) => {
    const b = new Bench();
    const life = vary === '' ? {} : { vary };
    b.put('/a', 1, 'x', { ...life, flags: OF_HIT_MISS }, fields);
    for (let i = 0; i < 3; i++) refetch(b, '/a', { ...life, flags: OF_HIT_MISS }, fields);
    expect(b.counters).toMatchObject({ n_object: 1, n_objectcore: 1 });
    expect(b.ask('/a', fields)).toBe('HITMISS');
    const [, out] = b.lookup('/a', fields);
    b.cache.references.deref(out.stale);
    b.fetch(out.busy, 99, 'x', life, fields);
    expect(b.counters).toMatchObject({ n_object: 1, n_objectcore: 1 });
    expect(b.ask('/a', fields)).toBe('HIT');
  });

  it('are those of its variant only, and only when it can be found itself', () => {
    const b = new Bench();
    for (const lang of ['a', 'b', 'c']) {
      b.put('/v', 1, 'x', { vary: 'L', flags: OF_HIT_MISS }, { L: lang });
    }
    b.put('/v', 2, 'x', { vary: 'L' }, { L: 'b' });
    expect(b.counters.n_object).toBe(3);
    b.put('/v', 3, 'x', { ttl: 0, vary: 'L' }, { L: 'c' });
    expect(b.ask('/v', { L: 'c' })).toBe('HITMISS');
    expect(b.ask('/v', { L: 'a' })).toBe('HITMISS');
    expect(b.ask('/v', { L: 'b' })).toBe('HIT');
  });
});

describe('a forced miss', () => {
  const langs = ['a', 'b', 'c'];
  const filled = (): Bench => {
    const b = new Bench();
    for (const lang of langs) b.put('/v', 1, lang, { vary: 'L' }, { L: lang });
    return b;
  };
  const vxid = (b: Bench, L: string): number => {
    const [, out] = b.lookup('/v', { L });
    return out.oc === 0 ? 0 : b.cache.facts.vxidOf(out.oc);
  };

  it('replaces the variant that was asked for', () => {
    const b = filled();
    b.put('/v', 2, 'new', { vary: 'L' }, { L: 'b' });
    expect(langs.map((lang) => vxid(b, lang))).toEqual([1, 2, 1]);
    expect(b.counters.n_object).toBe(3);
  });

  it('replaces all variants with hash_ignore_vary', () => {
    const b = filled();
    const [, out] = b.lookup('/v', { L: 'b' }, { hashAlwaysMiss: true, hashIgnoreVary: true });
    b.fetch(out.busy, 2, 'new', { vary: 'L' }, { L: 'b' });
    expect(langs.map((lang) => vxid(b, lang))).toEqual([0, 2, 0]);
    expect(b.counters.n_object).toBe(1);
  });

  it.each([
    ['one that failed', (b: Bench, oc: number) => b.cache.filling.fail(oc)],
    [
      'one that brings a marker',
      (b: Bench, oc: number) => b.fetch(oc, 2, '', { ttl: 10, flags: OF_HIT_MISS, vary: 'L' }, { L: 'b' }),
    ],
    [
      'one that brings nothing to keep',
      (b: Bench, oc: number) => b.fetch(oc, 2, '', { ttl: 0, grace: 0, vary: 'L' }, { L: 'b' }),
    ],
  ])('replaces nothing: %s', (_what, end) => {
    const b = filled();
    const [, out] = b.lookup('/v', { L: 'b' }, { hashAlwaysMiss: true, hashIgnoreVary: true });
    end(b, out.busy);
    const others = ['a', 'c'].map((lang) => vxid(b, lang));
    expect(others).toEqual([1, 1]);
  });
});

describe('a failure that is not for keeping', () => {
  const marker = { ttl: 20, grace: 0, flags: OF_HIT_MISS | OF_FAILURE };
  const answers = (b: Bench, fields: Record<string, string> = {}): string => {
    const [answer, out] = b.lookup('/a', fields);
    const given = [out.oc, out.stale].map((oc) => (oc === 0 ? 0 : b.cache.facts.vxidOf(oc)));
    for (const oc of [out.oc, out.stale, out.busy]) if (oc !== 0) b.cache.references.deref(oc);
    const name = Object.entries(LookupAnswer).find(([, value]) => value === answer)?.[0];
    return `${name} ${given.join(' ')}`;
  };

  it('does not hide what was there, while that serves', () => {
    const b = new Bench();
    b.put('/a', 1, 'good', { ttl: 10, grace: 5, keep: 100 });
    b.put('/a', 2, 'bad', marker);
    expect(answers(b)).toBe('HIT 1 0');
    b.now += 12;
    expect(answers(b)).toBe('GRACE 1 0');
    // It may still be revalidated in the background.
    b.now += 5;
    expect(answers(b)).toBe('HITMISS 0 1');
    b.now += 5;
    expect(answers(b)).toBe('HITMISS 0 1');
  });

  it('counts for those who find nothing better', () => {
    const b = new Bench();
    b.put('/a', 1, 'good', { vary: 'L' }, { L: 'a' });
    b.put('/a', 2, 'bad', marker);
    expect(answers(b, { L: 'a' })).toBe('HIT 1 0');
    expect(answers(b, { L: 'b' })).toBe('HITMISS 0 2');
    b.put('/a', 3, 'bad', { ...marker, flags: OF_HIT_PASS | OF_FAILURE });
    expect(answers(b, { L: 'a' })).toBe('HIT 1 0');
    expect(answers(b, { L: 'b' })).toBe('HITPASS 0 0');
    // Only the newest is left, and goes as soon as there is an object of its variant.
    expect(b.counters.n_object).toBe(2);
    b.put('/a', 4, 'good');
    expect(b.counters.n_object).toBe(2);
  });

  it('keeps markers that are not of a failure: the objects under them must not reappear', () => {
    const b = new Bench();
    b.put('/a', 1, 'public');
    b.put('/a', 2, 'private', { ttl: 20, grace: 0, flags: OF_HIT_MISS });
    b.put('/a', 3, 'bad', marker);
    expect(answers(b)).toBe('HITMISS 0 2');
  });

  it('replaces nothing while it is a response for waiters', () => {
    const b = new Bench();
    b.put('/a', 1, 'good', { vary: 'L' }, { L: 'a' });
    const [, out] = b.lookup('/a', {}, { hashAlwaysMiss: true, hashIgnoreVary: true });
    b.fetch(out.busy, 2, 'bad', { ttl: 1, flags: OF_FOR_WAITERS | OF_FAILURE });
    expect(answers(b, { L: 'a' })).toBe('HIT 1 0');
  });
});

describe('waiting', () => {
  it('wakes waiters when the head is there, and they hit the object while it streams', () => {
    const b = new Bench();
    const [, miss] = b.lookup('/a');
    const answers: string[] = [];
    for (let i = 0; i < 30; i++) {
      expect(b.ask('/a')).toBe('BUSY');
      b.cache.lookup.wait('/a', { wake: () => answers.push(b.ask('/a')) });
    }
    b.prepare(miss.busy, 1, 'xxxx', {});
    b.settle();
    expect(answers).toEqual([]);
    b.cache.filling.unbusy(miss.busy);
    b.settle();
    expect(answers).toEqual(new Array(30).fill('HIT'));
  });

  it.each(['fail', 'abandon'] as const)('wakes them after %s, and the first takes the fetch over', (how) => {
    const b = new Bench();
    const [, miss] = b.lookup('/a');
    let fetchers = 0;
    let alone = 0;
    const wait = (): void => {
      b.cache.lookup.wait('/a', {
        wake: (isAlone) => {
          if (isAlone) alone++;
          const [answer] = b.lookup('/a');
          if (answer === LookupAnswer.MISS) fetchers++;
          else wait();
        },
      });
    };
    for (let i = 0; i < 10; i++) wait();
    if (how === 'fail') b.cache.filling.fail(miss.busy);
    b.cache.references.deref(miss.busy);
    b.settle();
    expect(fetchers).toBe(1);
    expect(alone).toBe(how === 'fail' ? 10 : 0);
  });

  it('wakes all waiters in parallel when the result cannot be shared', () => {
    const b = new Bench();
    const [, miss] = b.lookup('/a');
    const answers: string[] = [];
    const busy: number[] = [];
    for (let i = 0; i < 20; i++) {
      b.cache.lookup.wait('/a', {
        wake: () => {
          const [answer, out] = b.lookup('/a');
          busy.push(out.busy);
          answers.push(answer === LookupAnswer.HITMISS ? 'HITMISS' : 'other');
        },
      });
    }
    b.fetch(miss.busy, 1, 'private', { flags: OF_HIT_MISS });
    b.settle();
    expect(answers).toEqual(new Array(20).fill('HITMISS'));
    expect(new Set(busy).size).toBe(20);
  });

  it('wakes the waiter of a key that was removed meanwhile, and removes unused keys', () => {
    const b = new Bench();
    let woken = 0;
    b.cache.lookup.wait('/never', { wake: () => woken++ });
    const leave = b.cache.lookup.wait('/never', { wake: () => woken++ });
    leave();
    b.settle();
    expect(woken).toBe(1);
    const [, miss] = b.lookup('/a');
    const go = b.cache.lookup.wait('/a', { wake: () => woken++ });
    b.cache.references.deref(miss.busy);
    go();
    b.settle();
    expect(woken).toBe(1);
    expect(b.counters.n_objecthead).toBe(0);
  });
});

/** The whole body, view by view. */
function slices(b: Bench, oc: Oc): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; ; ) {
    const piece = b.cache.reading.slice(oc, at, Number.MAX_SAFE_INTEGER);
    if (piece.length === 0) return found;
    // The object is held as long as these are looked at.
    found.push(piece as unknown as Buffer);
    at += piece.length;
  }
}

describe('a long body', () => {
  it('is the same to readers at many places, each with its own or none', () => {
    const b = new Bench();
    const body = Array.from({ length: 60_000 }, (_, i) => `${i};`).join('');
    const [, out] = b.lookup('/long');
    expect(b.fetch(out.busy, 1, body, { length: false })).toBe(true);
    const oc = b.lookup('/long')[1].oc;
    const { reading } = b.cache;
    const readers = Array.from({ length: 8 }, (_, i) => ({
      at: i * 40_000,
      place: i % 4 === 3 ? undefined : reading.place(oc),
      size: 1000 + 7919 * i,
    }));
    expect(readers[0]?.place).toBeDefined();
    for (let round = 0; round < 400; round++) {
      const reader = readers[(round * 5) % readers.length];
      if (reader === undefined || reader.at >= body.length) continue;
      const piece = reading.slice(oc, reader.at, reader.size, reader.place);
      expect(piece.toString()).toBe(body.slice(reader.at, reader.at + piece.length));
      expect(piece.length).toBeGreaterThan(0);
      reader.at += piece.length;
    }
  });

  it('has no places to keep while it is made, nor when what was read goes', () => {
    const b = new Bench();
    const [, out] = b.lookup('/made');
    b.prepare(out.busy, 1, 'begin', { length: false });
    expect(b.cache.reading.place(out.busy)).toBeUndefined();
    const oc = b.cache.filling.newPrivate();
    b.prepare(oc, 1, 'all', { length: false, storage: 'Transient' });
    b.cache.filling.finish(oc);
    expect(b.cache.reading.place(oc)).toBeUndefined();
  });
});

describe('streaming', () => {
  it('notifies readers of growth and end, and lets them read what there is', () => {
    const b = new Bench();
    const [, miss] = b.lookup('/a');
    const oc = miss.busy;
    const seen: string[] = [];
    b.cache.reading.onProgress(oc, {
      progress: () =>
        seen.push(
          `${b.cache.facts.isFinished(oc) ? 'finished' : 'stream'}:${b.cache.reading.bodyLength(oc)}`,
        ),
    });
    b.prepare(oc, 1, '', { length: false });
    b.cache.filling.unbusy(oc);
    const [answer, hit] = b.lookup('/a');
    expect(answer).toBe(LookupAnswer.HIT);
    b.cache.filling.append(oc, Buffer.from('hello '), 0, 6);
    expect(b.body(hit.oc).toString()).toBe('hello ');
    b.cache.filling.append(oc, Buffer.from('..world..'), 2, 7);
    b.cache.filling.finish(oc);
    expect(b.body(hit.oc).toString()).toBe('hello world');
    expect(seen).toEqual(['stream:0', 'stream:6', 'stream:11', 'finished:11']);
    expect(b.cache.facts.isFinished(hit.oc)).toBe(true);
  });

  it('notifies attached readers of a failure; lookups do not find the object, an older one stays', () => {
    const b = new Bench();
    b.put('/a', 1, 'old', { ttl: 10, grace: 100 });
    b.now += 20;
    const [, stale] = b.lookup('/a');
    b.prepare(stale.busy, 2, 'xxxx', {});
    b.cache.filling.unbusy(stale.busy);
    const [, hit] = b.lookup('/a');
    expect(hit.oc).toBe(stale.busy);
    let reported = 0;
    b.cache.reading.onProgress(hit.oc, {
      progress: () => {
        reported++;
        expect(b.cache.facts.isFailed(hit.oc)).toBe(true);
        b.cache.references.deref(hit.oc);
      },
    });
    b.cache.filling.fail(stale.busy);
    b.cache.references.deref(stale.busy);
    expect(reported).toBe(1);
    const [grace, again] = b.lookup('/a');
    expect(grace).toBe(LookupAnswer.GRACE);
    expect(b.cache.facts.vxidOf(again.oc)).toBe(1);
  });

  it('keeps what is being delivered through purge and expiry, and frees it with the last reader', () => {
    const b = new Bench();
    const body = Buffer.alloc(200_000, 'x');
    b.put('/a', 1, body, { ttl: 10, grace: 0 });
    b.put('/b', 2, body, { ttl: 10, grace: 0 });
    const [, one] = b.lookup('/a');
    const [, two] = b.lookup('/b');
    expect(b.cache.invalidation.purge('/a', b.now)).toBe(1);
    b.now += 50;
    expect(b.cache.maintenance.expiry.step(b.now, 100)).toBe(1);
    expect(b.ask('/a')).toBe('MISS');
    expect(b.ask('/b')).toBe('MISS');
    expect(b.body(one.oc).equals(body)).toBe(true);
    expect(b.body(two.oc).equals(body)).toBe(true);
    b.cache.references.deref(one.oc);
    b.cache.references.deref(two.oc);
    expect(b.cache.storages.stats('s0')).toMatchObject({ g_bytes: 0, g_alloc: 0 });
    expect(b.counters).toMatchObject({ n_object: 0, n_objectcore: 0, n_objecthead: 0, n_expired: 2 });
  });

  it('holds no more of a private body than its reader has still to take', () => {
    const b = new Bench();
    const oc = b.cache.filling.newPrivate();
    b.prepare(oc, 1, '', { length: false, storage: 'Transient' });
    b.cache.references.ref(oc);
    b.cache.filling.unbusy(oc);
    let paced = 0;
    b.cache.filling.onConsume(oc, () => paced++);
    const chunk = Buffer.alloc(64 << 10);
    let at = 0;
    for (let i = 0; i < 200; i++) {
      chunk.fill(i);
      expect(b.cache.filling.append(oc, chunk, 0, chunk.length)).toBe(true);
      expect(b.cache.filling.inTransit(oc)).toBeLessThanOrEqual(chunk.length);
      while (at < b.cache.reading.bodyLength(oc)) {
        const piece = b.cache.reading.slice(oc, at, 10_000);
        for (let k = 0; k < piece.length; k++) {
          if (piece[k] !== Math.floor((at + k) / chunk.length)) throw new Error(`wrong byte at ${at + k}`);
        }
        at += piece.length;
        b.cache.reading.consume(oc, at);
      }
    }
    expect(at).toBe(200 * chunk.length);
    expect(paced).toBeGreaterThan(200);
    expect(b.cache.storages.stats('Transient')?.g_bytes).toBeLessThan(300_000);
    expect(b.cache.filling.isAbandoned(oc)).toBe(false);
    b.cache.references.deref(oc);
    expect(b.cache.filling.isAbandoned(oc)).toBe(true);
    b.cache.filling.finish(oc);
    b.cache.references.deref(oc);
    expect(b.cache.storages.stats('Transient')).toMatchObject({ g_bytes: 0, g_alloc: 0 });
  });
});

describe('storage', () => {
  it('keeps no body for a marker once its reader is done', () => {
    const b = new Bench();
    const [, miss] = b.lookup('/a');
    b.cache.references.ref(miss.busy);
    b.fetch(miss.busy, 1, Buffer.alloc(300_000, 'z'), { flags: OF_HIT_MISS });
    expect(b.body(miss.busy).every((byte) => byte === 122)).toBe(true);
    b.cache.references.deref(miss.busy);
    expect(b.cache.storages.stats('s0')?.g_bytes).toBeLessThan(1000);
    expect(b.ask('/a')).toBe('HITMISS');
  });

  it('knows what a storage could hold were it empty', () => {
    const { cache, put } = sized(1 << 20);
    const bytes = 1_040_000;
    expect(cache.storages.couldHold('s0', bytes)).toBe(true);
    expect(put(bytes)).toBe(true);
    expect(cache.storages.couldHold('s0', 1 << 20)).toBe(false);
    expect(put(1 << 20)).toBe(false);
    expect(cache.storages.couldHold('Transient', 60 << 20)).toBe(true);
  });

  it('gives back heads and bodies of every size, announced or not', () => {
    const b = new Bench();
    for (const size of [0, 1, 1024, 4095, 32_000, 65_536, 300_001]) {
      const body = Buffer.alloc(size);
      for (let i = 0; i < size; i++) body[i] = i * 7;
      for (const length of [true, false]) {
        const url = `/${size}-${length}`;
        expect(b.put(url, 5, body, { length })).toBe(true);
        const [, out] = b.lookup(url);
        expect(b.body(out.oc).equals(body)).toBe(true);
        expect(Buffer.concat(slices(b, out.oc)).equals(body)).toBe(true);
        const part = Buffer.alloc(100);
        const middle = Math.floor(size / 2);
        const got = b.cache.reading.copyBody(out.oc, middle, part, 0, 100);
        expect(part.subarray(0, got).equals(body.subarray(middle, middle + 100))).toBe(true);
        const head = new HttpMessage(0);
        b.cache.reading.head(out.oc, head);
        expect(head.get('date')).toBe('now');
        expect(head.status).toBe(200);
        b.cache.references.deref(out.oc);
      }
    }
  });

  it('takes up little more room than a body needs once it is finished, however it came', () => {
    const b = new Bench();
    const before = b.cache.storages.stats('s0')?.g_bytes as number;
    const [, miss] = b.lookup('/a');
    b.prepare(miss.busy, 1, '', { length: false });
    for (let i = 0; i < 50; i++) b.cache.filling.append(miss.busy, Buffer.alloc(700, i), 0, 700);
    b.cache.filling.unbusy(miss.busy);
    b.cache.filling.finish(miss.busy);
    b.cache.references.deref(miss.busy);
    expect((b.cache.storages.stats('s0')?.g_bytes as number) - before).toBeLessThan(35_000 * 1.13 + 300);
    const [, out] = b.lookup('/a');
    expect(
      b
        .body(out.oc)
        .subarray(34_900)
        .every((byte) => byte === 49),
    ).toBe(true);
  });

  it('evicts the least recently used, never what is in use, and stays within its size', () => {
    const b = new Bench([{ name: 's0', kind: 'malloc', size: 4 << 20 }]);
    const body = Buffer.alloc(10_000, 'y');
    for (let i = 0; i < 100; i++) b.put(`/${i}`, i, body);
    const [, held] = b.lookup('/0');
    b.now += 10;
    const [, used] = b.lookup('/1');
    b.cache.hits.touch(used.oc, b.now);
    b.cache.references.deref(used.oc);
    for (let i = 100; i < 460; i++) expect(b.put(`/${i}`, i, body)).toBe(true);
    expect(b.counters.n_lru_nuked).toBeGreaterThan(40);
    expect(b.cache.storages.stats('s0')?.g_bytes).toBeLessThanOrEqual(4 << 20);
    expect(b.ask('/0')).toBe('HIT');
    expect(b.ask('/1')).toBe('HIT');
    expect(b.ask('/2')).toBe('MISS');
    expect(b.ask('/459')).toBe('HIT');
    expect(b.body(held.oc).equals(body)).toBe(true);
    expect(b.killed[0]).toBe('LRU 2');
  });

  it('makes room for large objects out of small ones, and the other way round', () => {
    const b = new Bench([{ name: 's0', kind: 'malloc', size: 2 << 20 }]);
    const small = Buffer.alloc(500, 's');
    const large = Buffer.alloc(20_000, 'l');
    for (let i = 0; i < 4000; i++) expect(b.put(`/s${i}`, i, small)).toBe(true);
    let stored = 0;
    for (let i = 0; i < 50; i++) if (b.put(`/l${i}`, i, large, { length: i % 2 === 0 })) stored++;
    expect(stored).toBe(50);
    const [, out] = b.lookup('/l49');
    expect(b.body(out.oc).equals(large)).toBe(true);
    b.cache.references.deref(out.oc);
    for (let i = 4000; i < 8000; i++) expect(b.put(`/s${i}`, i, small)).toBe(true);
  });

  it('fails what can never fit without pushing everything out, and what needs too many evictions', () => {
    const b = new Bench([{ name: 's0', kind: 'malloc', size: 1 << 20 }]);
    for (let i = 0; i < 50; i++) b.put(`/${i}`, i, Buffer.alloc(2000));
    expect(b.put('/huge', 1, Buffer.alloc(3 << 20))).toBe(false);
    expect(b.counters.n_lru_nuked).toBe(0);
    b.limits.nukeLimit = 3;
    for (let i = 50; i < 600; i++) b.put(`/${i}`, i, Buffer.alloc(2000));
    expect(b.put('/big', 1, Buffer.alloc(500_000))).toBe(false);
    expect(b.counters.n_lru_limited).toBeGreaterThan(0);
    expect(b.ask('/big')).toBe('MISS');
  });

  it('puts objects into the named storage, in turn if none is named, and adds Transient', () => {
    const b = new Bench([
      { name: 'one', kind: 'malloc', size: 1 << 20 },
      { name: 'two', kind: 'malloc', size: 1 << 20 },
    ]);
    expect(b.cache.storages.names()).toEqual(['one', 'two', 'Transient']);
    const used: string[] = [];
    for (let i = 0; i < 4; i++) {
      b.put(`/${i}`, i, 'x');
      const [, out] = b.lookup(`/${i}`);
      used.push(b.cache.facts.storageOf(out.oc));
    }
    expect(used).toEqual(['one', 'two', 'one', 'two']);
    expect([b.cache.storages.next(), b.cache.storages.next()]).toEqual(['one', 'two']);
    b.put('/t', 1, 'x', { storage: 'Transient' });
    const [, out] = b.lookup('/t');
    expect(b.cache.facts.storageOf(out.oc)).toBe('Transient');
    expect(b.put('/n', 1, 'x', { storage: 'nowhere' })).toBe(false);
  });
});

describe('invalidation', () => {
  it('purges all variants at once, or makes them stale', () => {
    const b = new Bench();
    for (const lang of ['a', 'b']) b.put('/v', 1, lang, { vary: 'L', ttl: 100, grace: 50 }, { L: lang });
    b.now += 30;
    expect(b.cache.invalidation.purge('/v', b.now, { ttl: 0, grace: -1, keep: -1 })).toBe(2);
    expect(b.ask('/v', { L: 'a' })).toBe('GRACE');
    b.now += 51;
    expect(b.ask('/v', { L: 'b' })).toBe('MISS');
    expect(b.cache.maintenance.expiry.step(b.now, 100)).toBe(2);
    for (const lang of ['a', 'b']) b.put('/v', 1, lang, { vary: 'L' }, { L: lang });
    expect(b.cache.invalidation.purge('/v', b.now)).toBe(2);
    expect(b.cache.invalidation.purge('/v', b.now)).toBe(0);
    expect(b.counters.n_object).toBe(0);
  });

  it('keeps a fetch that began before a purge or a ban from answering requests after it', () => {
    const b = new Bench();
    const [, purged] = b.lookup('/a');
    b.cache.invalidation.purge('/a', b.now);
    const [after, own] = b.lookup('/a');
    expect(after).toBe(LookupAnswer.MISS);
    b.fetch(purged.busy, 1, 'old');
    expect(b.ask('/a')).toBe('BUSY');
    b.cache.invalidation.purge('/a', b.now, null, own.busy);
    b.fetch(own.busy, 2, 'new');
    const [, hit] = b.lookup('/a');
    expect(b.body(hit.oc).toString()).toBe('new');
    const [, miss] = b.lookup('/b');
    expect(b.cache.bans.addText('req.url == /b', b.now)).toBeNull();
    b.fetch(miss.busy, 3, 'old');
    expect(b.ask('/b')).toBe('MISS');
  });

  it('bans what matches at its next lookup, and tests an object against each ban once', () => {
    const b = new Bench();
    b.put('/a', 1, 'x');
    b.put('/b', 2, 'x');
    expect(b.cache.bans.add(['req.url', '~', '^/a', '&&', 'obj.status', '==', '200'], b.now)).toBeNull();
    expect(b.cache.bans.add(['req.url', '?', 'x'], b.now)).toMatch(/^expected conditional/);
    expect(b.ask('/a')).toBe('MISS');
    expect(b.ask('/b')).toBe('HIT');
    expect(b.ask('/b')).toBe('HIT');
    expect(b.counters).toMatchObject({ bans_obj_killed: 1, bans_tested: 2, n_object: 1 });
    b.put('/a', 3, 'x');
    expect(b.ask('/a')).toBe('HIT');
    b.cache.maintenance.expiry.step(b.now, 100);
    expect([...b.cache.bans.list()]).toHaveLength(1);
  });

  it('continues with a key whose only object was banned', () => {
    const b = new Bench();
    b.put('/a', 1, 'x');
    b.cache.bans.addText('obj.status == 200', b.now);
    const [answer, out] = b.lookup('/a');
    expect(answer).toBe(LookupAnswer.MISS);
    b.fetch(out.busy, 2, 'y');
    const [, hit] = b.lookup('/a');
    expect(b.cache.facts.vxidOf(hit.oc)).toBe(2);
  });
});

describe('expiry', () => {
  it('removes what is past ttl, grace and keep, in steps no longer than allowed', () => {
    const b = new Bench();
    for (let i = 0; i < 500; i++) b.put(`/${i}`, i, '', { ttl: 1 + (i % 2), grace: 1, keep: 1 });
    expect(b.cache.maintenance.expiry.nextEnd()).toBeGreaterThanOrEqual(b.now + 3);
    b.now += 3.1;
    b.tick = 1;
    const steps: number[] = [];
    for (; steps.length < 300 && b.cache.maintenance.expiry.nextEnd() <= b.now; )
      steps.push(b.cache.maintenance.expiry.step(b.now, 3));
    expect(steps.reduce((sum, count) => sum + count)).toBe(250);
    // The first two learn how long an object takes: here a whole millisecond.
    expect(Math.max(...steps.slice(2))).toBe(3);
    expect(b.counters).toMatchObject({ n_expired: 250, n_object: 250 });
  });

  it('frees a large body in pieces, after its object is gone and before anything has to be evicted', () => {
    const b = new Bench([{ name: 's0', kind: 'malloc', size: 64 << 20 }]);
    const body = Buffer.alloc(40 << 20, 'x');
    const held = (): number => b.cache.storages.stats('s0')?.g_bytes as number;
    b.put('/small', 1, 'y');
    const before = held();
    b.put('/a', 2, body, { ttl: 1, grace: 0 });
    b.now += 2;
    b.tick = 1;
    expect(b.cache.maintenance.expiry.step(b.now, 1)).toBe(1);
    expect(b.counters.n_objectcore).toBe(1);
    expect(b.ask('/a')).toBe('MISS');
    let steps = 0;
    for (let last = held(); last > before; last = held()) {
      expect(b.cache.maintenance.expiry.step(b.now, 1)).toBe(0);
      expect(last - held()).toBeGreaterThan(0);
      expect(last - held()).toBeLessThan(6 << 20);
      steps++;
    }
    expect(steps).toBeGreaterThan(5);
    expect(b.counters.n_object).toBe(1);
    b.put('/b', 3, body);
    b.cache.invalidation.purge('/b', b.now);
    expect(b.put('/c', 4, body)).toBe(true);
    expect(b.counters.n_lru_nuked).toBe(0);
    const [, out] = b.lookup('/c');
    expect(b.body(out.oc).equals(body)).toBe(true);
    expect(b.ask('/small')).toBe('HIT');
  });

  it('drops unneeded bans a limited number at a time, when they were listed and when a lookup tests', () => {
    const b = new Bench();
    b.put('/a', 1, 'x');
    for (let i = 0; i < 2500; i++) b.cache.bans.addText(`req.url == /${i}`, b.now);
    b.cache.invalidation.purge('/a', b.now);
    b.cache.maintenance.expiry.step(b.now, 100);
    expect(b.counters.bans).toBe(2501);
    b.cache.bans.tidy();
    expect(b.counters.bans).toBe(1501);
    b.put('/b', 2, 'x');
    b.cache.bans.addText('req.url == /more', b.now);
    expect(b.ask('/b')).toBe('HIT');
    expect(b.counters.bans).toBe(502);
    b.cache.bans.tidy();
    expect(b.counters.bans).toBe(1);
  });
});
