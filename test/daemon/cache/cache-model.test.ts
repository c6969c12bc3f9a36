import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LookupAnswer } from '../../../daemon/cache/lookup-query.ts';
import { runs } from '../../harness/runs.ts';
import { Bench } from './cache-setup.ts';

interface Entry {
  key: string;
  lang: string | null;
  born: number;
  ttl: number;
  grace: number;
  vxid: number;
}

// The naive cache: a list of objects, newest first, searched from the front.
class Model {
  entries: Entry[] = [];

  find(key: string, lang: string | null, now: number): { answer: string; vxid: number } {
    const mine = this.entries.filter((e) => e.key === key && e.lang === lang && e.ttl > 0);
    const fresh = mine.find((e) => e.born + e.ttl > now);
    if (fresh !== undefined) return { answer: 'HIT', vxid: fresh.vxid };
    let newest: Entry | undefined;
    for (const e of mine) if (newest === undefined || e.born > newest.born) newest = e;
    if (newest !== undefined && newest.born + newest.ttl + newest.grace >= now) {
      return { answer: 'GRACE', vxid: newest.vxid };
    }
    return { answer: 'MISS', vxid: newest?.vxid ?? 0 };
  }

  expire(now: number): void {
    this.entries = this.entries.filter((e) => e.born + e.ttl + e.grace > now);
  }
}

it('answers as a naive list does, through fetches, failures, purges, bans and expiry', () => {
  const key = fc.constantFrom('/a', '/b', '/c', '/d');
  const lang = fc.constantFrom(null, '', 'de', 'en');
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ op: fc.constant('get' as const), key, lang }) },
    {
      weight: 6,
      arbitrary: fc.record({
        op: fc.constant('put' as const),
        key,
        lang,
        ttl: fc.integer({ min: 0, max: 8 }),
        grace: fc.integer({ min: 0, max: 5 }),
        size: fc.integer({ min: 0, max: 9000 }),
        announced: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('fail' as const), key, lang }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('purge' as const), key }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('ban' as const), key }) },
    {
      weight: 3,
      arbitrary: fc.record({ op: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: 4 }) }),
    },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('expire' as const) }) },
  );
  const fields = (value: string | null): Record<string, string> => (value === null ? {} : { Lang: value });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const b = new Bench();
      const model = new Model();
      let vxid = 0;
      for (const s of steps) {
        switch (s.op) {
          case 'get': {
            const [answer, out] = b.lookup(s.key, fields(s.lang));
            const oc = out.oc !== 0 ? out.oc : out.stale;
            const name = Object.entries(LookupAnswer).find(([, value]) => value === answer)?.[0];
            // An expired object may be gone or not: only a conditional fetch would see it.
            const expected = model.find(s.key, s.lang, b.now);
            expect(name).toBe(expected.answer);
            if (out.oc !== 0) {
              expect(b.cache.facts.vxidOf(oc)).toBe(expected.vxid);
              const body = b.body(oc);
              expect(body.every((byte) => byte === (expected.vxid & 255))).toBe(true);
            }
            for (const held of [out.oc, out.stale, out.busy]) if (held !== 0) b.cache.references.deref(held);
            break;
          }
          case 'put':
            vxid++;
            b.put(
              s.key,
              vxid,
              Buffer.alloc(s.size, vxid),
              { ttl: s.ttl, grace: s.grace, vary: 'Lang', length: s.announced },
              fields(s.lang),
            );
            // A forced miss replaces what its variant had.
            if (s.ttl > 0)
              model.entries = model.entries.filter((e) => e.key !== s.key || e.lang !== s.lang || e.ttl <= 0);
            model.entries.unshift({
              key: s.key,
              lang: s.lang,
              born: b.now,
              ttl: s.ttl,
              grace: s.grace,
              vxid,
            });
            break;
          case 'fail': {
            const [, out] = b.lookup(s.key, fields(s.lang), { hashAlwaysMiss: true });
            b.prepare(out.busy, 9999, 'xx', {}, fields(s.lang));
            b.cache.filling.unbusy(out.busy);
            b.cache.filling.fail(out.busy);
            b.cache.references.deref(out.busy);
            break;
          }
          case 'purge':
            b.cache.invalidation.purge(s.key, b.now);
            model.entries = model.entries.filter((e) => e.key !== s.key);
            break;
          case 'ban':
            expect(b.cache.bans.addText(`req.url == ${s.key}`, b.now)).toBeNull();
            model.entries = model.entries.filter((e) => e.key !== s.key);
            break;
          case 'wait':
            b.now += s.seconds;
            break;
          default:
            b.cache.maintenance.expiry.step(b.now, 1000);
            model.expire(b.now);
        }
        b.settle();
      }
      for (const k of ['/a', '/b', '/c', '/d']) b.cache.invalidation.purge(k, b.now);
      expect(b.cache.storages.stats('s0')).toMatchObject({ g_bytes: 0, g_alloc: 0 });
      expect(b.counters).toMatchObject({ n_object: 0, n_objectcore: 0, n_objecthead: 0 });
      expect(b.cache.maintenance.expiry.nextEnd()).toBe(Number.POSITIVE_INFINITY);
    }),
    { numRuns: runs(150) },
  );
});
