// Crowds: random histories of keys with many variants, compared with a cache that goes through the chain. And that a
// look-up's work does not grow with the variants.
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { CacheState } from '../../../daemon/cache/cache-state.ts';
import { LookupAnswer } from '../../../daemon/cache/lookup-query.ts';
import { type Oc, OF_FAILURE, OF_HIT_MISS, OF_HIT_PASS } from '../../../daemon/cache/objcore.ts';
import type { StorageSpec } from '../../../daemon/link.ts';
import { Bench } from './cache-setup.ts';

const KEYS = ['/v', '/v', '/v', '/w'];
const VALUES = Array.from({ length: 24 }, (_, i) => `value ${i}`);
/** Those that are asked for again and again. */
const SOME = VALUES.slice(0, 5);
/** Few of them, and now and then more than a crowd may have. */
const LISTS = ['L', 'L, M', 'M', 'L, Accept-Encoding'];
const MANY = [...LISTS, '*', 'N', 'M, L', 'N, L', 'N, M', 'L, N', 'M, N'];

const stateOf = (b: Bench): CacheState => (b.cache.hits as unknown as { state: CacheState }).state;

const SMALL: StorageSpec[] = [{ name: 's0', kind: 'malloc', size: 1 << 20 }];

/** A cache whose look-ups go through chains. */
function plain(): Bench {
  const b = new Bench(SMALL);
  vi.spyOn(stateOf(b).objheads, 'makeCrowd').mockImplementation(() => undefined);
  return b;
}

const fields = fc.record(
  { L: fc.constantFrom(...SOME), M: fc.constantFrom('x', 'y', 'z'), N: fc.constantFrom('1', '2') },
  { requiredKeys: ['L'] },
) as fc.Arbitrary<Record<string, string>>;
const key = fc.constantFrom(...KEYS);
const FLAGS = fc.oneof(
  { weight: 8, arbitrary: fc.constant(0) },
  fc.constantFrom(OF_HIT_MISS, OF_HIT_PASS, OF_FAILURE, OF_FAILURE | OF_HIT_MISS),
);
const life = fc.record({
  flags: FLAGS,
  ttl: fc.integer({ min: 1, max: 30 }),
  grace: fc.integer({ min: 0, max: 5 }),
});
const list = fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...LISTS) }, fc.constantFrom(...MANY));
const put = fc.record({
  op: fc.constant('put' as const),
  key,
  fields,
  life,
  vary: fc.option(list, { freq: 20 }),
});
const common = [
  { weight: 20, arbitrary: put },
  {
    weight: 20,
    arbitrary: fc.record({
      op: fc.constant('get' as const),
      key,
      fields,
      more: fc.record({
        hashIgnoreBusy: fc.boolean(),
        hashIgnoreVary: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('purge' as const), key }) },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant('wait' as const), seconds: fc.integer({ max: 6, min: 0 }) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('expire' as const) }) },
];
/** Outcome of a fetch in progress. */
const end = fc.record({
  op: fc.constant('end' as const),
  at: fc.nat(30),
  life,
  becomes: fc.constantFrom('object', 'object', 'object', 'failure', 'nothing'),
  vary: fc.constant(null),
});
const ban = fc.record({ op: fc.constant('ban' as const), vxid: fc.integer({ min: 1, max: 40 }) });
/** A crowd of objects to begin with. */
const FIRST = [
  ...VALUES.map((L) => ({
    op: 'put',
    key: '/v',
    fields: { L },
    life: { ttl: 20, grace: 5, flags: 0 },
    vary: 'L',
  })),
  { op: 'get', key: '/v', fields: { L: 'none' }, more: {} },
];

/** A history, every other one without markers. */
const plainly = (steps: readonly Record<string, unknown>[], markers: boolean): Record<string, unknown>[] =>
  steps.map((step) =>
    markers || !('life' in step) ? step : { ...step, life: { ...(step.life as object), flags: 0 } },
  );

/** Plays a history on both and compares each answer. @param only the list of all objects; null: each has its own */
function play(steps: readonly Record<string, unknown>[], only: string | null): void {
  const both = [new Bench(SMALL), plain()] as const;
  const pending: { key: string; fields: Record<string, string>; ocs: [Oc, Oc] }[] = [];
  let vxid = 0;
  let most = 0;
  const each = <T>(act: (b: Bench, i: number) => T): T => {
    const [own, other] = both.map(act) as [T, T];
    expect(own).toEqual(other);
    return own;
  };
  const hasMarkers = steps.some(({ life }) => ((life as { flags: number } | undefined)?.flags ?? 0) !== 0);
  /** Removal of objects: a marker hidden by a new object stays in a chain if it is further along than is searched, and
   * is found by an index. */
  const count = (act: (b: Bench) => number): void => {
    const [own, other] = both.map(act) as [number, number];
    if (hasMarkers) expect(own).toBeLessThanOrEqual(other);
    else expect(own).toBe(other);
  };
  for (const step of steps) {
    const s = step as {
      op: string;
      key: string;
      fields: Record<string, string>;
      life: { ttl: number; grace: number; flags: number };
      vary: string | null;
      more: { hashIgnoreBusy: boolean; hashIgnoreVary: boolean };
      seconds: number;
      at: number;
      becomes: string;
      vxid: number;
    };
    const vary = only ?? s.vary;
    const how = { ...s.life, keep: 3, ...(vary === null || vary === undefined ? {} : { vary }) };
    if (s.op === 'put') {
      vxid++;
      each((b) => b.put(s.key, vxid, 'x', how, s.fields));
    } else if (s.op === 'get') {
      const ocs: Oc[] = [];
      each((b) => {
        const [answer, out] = b.lookup(s.key, s.fields, s.more);
        const { facts, references } = b.cache;
        const reported = [
          answer,
          ...[out.oc, out.stale].map((oc) => (oc === 0 ? 0 : facts.vxidOf(oc))),
          out.busy !== 0,
        ];
        for (const oc of [out.oc, out.stale]) if (oc !== 0) references.deref(oc);
        if (only === null && out.busy !== 0) references.deref(out.busy);
        ocs.push(out.busy);
        return reported;
      });
      if (only !== null && ocs[0] !== 0) pending.push({ key: s.key, fields: s.fields, ocs: ocs as [Oc, Oc] });
    } else if (s.op === 'end' && pending.length > 0) {
      const [one] = pending.splice(s.at % pending.length, 1);
      vxid++;
      each((b, i) => {
        const oc = one?.ocs[i] as Oc;
        if (s.becomes === 'object') return b.fetch(oc, vxid, 'x', how, one?.fields);
        if (s.becomes === 'failure') b.cache.filling.fail(oc);
        b.cache.references.deref(oc);
        return true;
      });
    } else if (s.op === 'purge') count((b) => b.cache.invalidation.purge(s.key, b.now));
    else if (s.op === 'wait') for (const b of both) b.now += s.seconds;
    else if (s.op === 'expire') count((b) => b.cache.maintenance.expiry.step(b.now, 1000));
    else if (s.op === 'ban')
      each((b) => b.cache.bans.addText(`obj.http.Content-Length != 1 || obj.age > ${s.vxid}s`, b.now));
    for (const b of both) b.settle();
    most = Math.max(most, stateOf(both[0]).crowds.inUse);
  }
  for (const { ocs } of pending) each((b, i) => b.cache.references.deref(ocs[i] as Oc));
  for (const k of KEYS) count((b) => b.cache.invalidation.purge(k, b.now));
  expect(stateOf(both[0]).crowds.inUse).toBe(0);
  expect(both[0].counters).toMatchObject({ n_object: 0, n_objectcore: 0, n_objecthead: 0 });
  expect(most).toBeGreaterThan(0);
}

/** Without shrinking, which would take minutes and keep everything recorded by the spies in memory. */
const RUNS = { numRuns: 25, endOnFailure: true };

it('answers as the chain does: many lists of names, bans', () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.array(fc.oneof(...common, { weight: 1, arbitrary: ban }), { minLength: 60, maxLength: 100 }),
      (markers, steps) => {
        play([...FIRST, ...plainly(steps, markers)], null);
      },
    ),
    RUNS,
  );
});

it('answers as the chain does: fetches under way of one list', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('L', 'L, M', 'M, L, N'),
      fc.boolean(),
      fc.array(fc.oneof(...common, { weight: 12, arbitrary: end }), { minLength: 60, maxLength: 100 }),
      (only, markers, steps) => {
        play([...FIRST, ...plainly(steps, markers)], only);
      },
    ),
    RUNS,
  );
});

/** A key with n variants, and n fetches for others. */
function crowd(n: number): Bench {
  const b = new Bench();
  for (let i = 0; i < n; i++) {
    const [answer, out] = b.lookup('/v', { L: `l${i}` });
    expect(answer).toBe(LookupAnswer.MISS);
    b.fetch(out.busy, i + 1, 'x', { vary: 'L' }, { L: `l${i}` });
  }
  for (let i = 0; i < n; i++) b.lookup('/v', { L: `m${i}` });
  return b;
}

/** Words of objects that something reads. */
function reads(b: Bench, act: () => void): number {
  const get = vi.spyOn(stateOf(b).objcores, 'get');
  act();
  const { length } = get.mock.calls;
  get.mockRestore();
  return length;
}

it('reads as little of two thousand variants as of two hundred', () => {
  const [few, many] = [crowd(200), crowd(2000)];
  for (const value of ['l0', 'l150', 'm0', 'new'])
    expect(reads(many, () => void many.ask('/v', { L: value }))).toBeLessThanOrEqual(
      reads(few, () => void few.ask('/v', { L: value })),
    );
  const waiter = { wake: () => undefined };
  many.put('/v', 9999, 'x', { vary: 'L' }, { L: 'newest' });
  expect(reads(many, () => many.cache.lookup.wait('/v', waiter)())).toBeLessThan(10);
});

it('waits for a fetch whose variant has other names than the newest object', () => {
  const b = crowd(20);
  // It is expected to become a variant by L, as all others have.
  expect(b.ask('/v', { L: 'another', M: 'x' })).toBe('MISS');
  b.put('/v', 1000, 'x', { vary: 'M' }, { M: 'y' });
  expect(b.ask('/v', { L: 'another', M: 'x' })).toBe('BUSY');
});

it('estimates how many variants a walk of the chain would have passed, if that is close', () => {
  const b = crowd(100);
  // A hundred fetches are in front of them.
  b.cache.invalidation.purge('/v', b.now);
  for (let i = 0; i < 100; i++) b.put('/v', i + 1, 'x', { vary: 'L' }, { L: `l${i}` });
  const variants = (value: string): number => b.lookup('/v', { L: value })[1].variants;
  expect(variants('none')).toBe(100);
  expect([variants('l99'), variants('l90'), variants('l50'), variants('l0')]).toEqual([0, 9, 49, 100]);
});
