// A tier behind a cache: round trips, and a device that fails when it is opened, written or emptied.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Oc, OF_HIT_MISS, OF_HIT_PASS } from '../../../daemon/cache/objcore.ts';
import { type DiskSync, noFigures } from '../../../daemon/disk/disk-options.ts';
import { DiskTier } from '../../../daemon/disk/disk-tier.ts';
import { Bench, T0 } from '../cache/cache-setup.ts';
import { FaultyFiles } from './faulty-files.ts';

const SIZE = 64 << 20;

afterEach(() => {
  vi.useRealTimers();
});

class TierBench extends Bench {
  readonly reports: string[] = [];
  readonly log: string[] = [];
  sync: DiskSync = 'group';
  readonly figures = noFigures();
  tier!: DiskTier;

  static async over(files: FaultyFiles, size = SIZE, memory = 64 << 20): Promise<TierBench> {
    const bench = new TierBench([{ name: 's0', kind: 'malloc', size: memory }]);
    bench.tier = await DiskTier.over(files, size, {
      cache: bench.cache,
      now: () => bench.now,
      sync: () => bench.sync,
      log: (text) => bench.log.push(text),
      name: 'cold',
      figures: bench.figures,
      seed: () => [1, 2],
      report: (text) => bench.reports.push(text),
    });
    return bench;
  }

  /** The body on disk for a request that misses memory; null without one. */
  async load(url: string): Promise<string | null> {
    const [, out] = this.lookup(url);
    const isLoaded = await this.tier.load(this.query(url), out.busy, () => true);
    const body = isLoaded ? this.body(out.busy as Oc).toString() : null;
    this.cache.references.deref(out.busy);
    return body;
  }
}

/** Files with an object under /a. */
async function filled(): Promise<FaultyFiles> {
  const files = new FaultyFiles();
  const bench = await TierBench.over(files);
  bench.put('/a', 1, 'from disk');
  await bench.tier.close();
  return files;
}

const broken =
  (...calls: string[]) =>
  (call: string) =>
    calls.includes(call) ? new Error('EIO') : null;

it('gives an object back that memory does not have', async () => {
  const bench = await TierBench.over(await filled());
  expect(bench.tier.mayHave('/b')).toBe(false);
  expect(await bench.load('/a')).toBe('from disk');
  expect(bench.reports).toEqual([]);
});

it('begins empty after an invalidation that could not be written', async () => {
  const files = await filled();
  const bench = await TierBench.over(files);
  files.fails = broken('sync');
  bench.cache.invalidation.purge('/other', T0);
  expect(await bench.tier.settled()).toBe(true);
  expect(bench.tier.mayHave('/a')).toBe(false);
  expect(bench.reports).toEqual(['The disk tier is off, and begins empty with the next worker: EIO']);
  files.fails = null;
  const next = await TierBench.over(files.after(null));
  expect(next.tier.mayHave('/a')).toBe(false);
  expect(next.tier.store?.objects).toBe(0);
});

describe('a soft purge', () => {
  type Way = (bench: TierBench) => void;
  const soft =
    (ttl: number, grace: number, keep: number, shortens = false): Way =>
    ({ cache, now }) =>
      void cache.invalidation.purge('/a', now, { ttl, grace, keep, ...(shortens && { shortens }) });
  const byTag: Way = ({ cache, now }) => void cache.invalidation.purgeTags('k', true, now);

  /** Lifetimes, the origin from T0; null where requests do not find it. */
  function lives({ cache }: TierBench, url: string, oc: Oc): number[] | null {
    const { facts } = cache;
    if (oc === 0) return null;
    const all = [facts.tOriginOf(oc) - T0, facts.ttlOf(oc), facts.graceOf(oc), facts.keepOf(oc)];
    cache.references.deref(oc);
    expect(url).toBe('/a');
    return all;
  }

  it.each<[what: string, at: number, ways: Way[]]>([
    ['leaves grace and keep', 10, [soft(0, -1, -1)]],
    ['sets all three', 10, [soft(5, 20, 7)]],
    ['may leave nothing', 10, [soft(0, 0, 0)]],
    ['only shortens', 10, [soft(0, 500, 10, true)]],
    ['does not lengthen a ttl', 95, [soft(50, 500, 10, true)]],
    ['is followed by another', 10, [soft(40, 30, -1), soft(0, -1, 5)]],
    ['makes what is stale stale anew', 120, [soft(0, 20, -1)]],
    ['is not found with a negative ttl', 10, [soft(-1, -1, -1)]],
    ['comes at the moment of the fetch', 0, [soft(0, -1, -1)]],
    ['is by surrogate key', 10, [byTag]],
    ['by surrogate key is the second', 10, [byTag, byTag]],
    ['is followed by a purge', 10, [byTag, ({ cache, now }) => void cache.invalidation.purge('/a', now)]],
  ])('%s, also after a start', async (_what, at, ways) => {
    const files = new FaultyFiles();
    const bench = await TierBench.over(files);
    bench.put('/a', 1, 'from disk', { grace: 50, keep: 30, head: { xkey: 'k' } });
    for (const [i, way] of ways.entries()) {
      bench.now = T0 + at + i;
      way(bench);
    }
    bench.settle();
    bench.maintain();
    const found = (each: TierBench): number[] | null => {
      const [, out] = each.lookup('/a');
      if (out.busy !== 0) each.cache.references.deref(out.busy);
      if (out.oc !== 0 && out.stale !== 0) each.cache.references.deref(out.stale);
      return lives(each, '/a', out.oc === 0 ? out.stale : out.oc);
    };
    const wanted = found(bench);
    expect(wanted).not.toEqual([0, 100, 50, 30]);
    await bench.tier.close();
    const next = await TierBench.over(files);
    next.now = bench.now;
    const isThere = (await next.load('/a')) !== null;
    expect(isThere).toBe(wanted !== null);
    if (wanted !== null) expect(found(next)).toEqual(wanted.map((each) => expect.closeTo(each, 4)));
  });

  it('that is the seventeenth of its name counts as a purge on disk', async () => {
    const files = new FaultyFiles();
    const bench = await TierBench.over(files);
    bench.put('/a', 1, 'from disk', { grace: 500 });
    for (let i = 0; i < 17; i++) bench.cache.invalidation.purge('/a', T0, { ttl: 0, grace: -1, keep: -1 });
    await bench.tier.close();
    expect(await (await TierBench.over(files)).load('/a')).toBeNull();
  });
});

describe('a marker', () => {
  const MARK = { flags: OF_HIT_MISS, ttl: 120, storage: 'Transient' };

  /** The answer to a request that finds nothing in memory, or what is on disk. */
  async function answer(bench: TierBench): Promise<string> {
    await bench.load('/a');
    return bench.ask('/a');
  }

  it.each([
    ['HITMISS', OF_HIT_MISS],
    ['HITPASS', OF_HIT_PASS],
  ])('for %s is found after a start, and bans know it', async (name, flags) => {
    const files = new FaultyFiles();
    const bench = await TierBench.over(files);
    bench.put('/a', 7, 'for one client', { ...MARK, flags });
    await bench.tier.close();
    const next = await TierBench.over(files);
    next.cache.bans.addText(`obj.${name === 'HITMISS' ? 'hfp' : 'hfm'} == true`, T0);
    expect(await answer(next)).toBe(name);
    expect(next.lookup('/a')[1].hitVxid).toBe(7);
    await next.tier.close();
    const last = await TierBench.over(files);
    last.cache.bans.addText('obj.uncacheable == true', T0);
    expect(await answer(last)).toBe('MISS');
  });

  it('is written once for many responses, and again in time', async () => {
    const files = new FaultyFiles();
    const bench = await TierBench.over(files);
    const written = async (): Promise<number> => {
      await expect.poll(() => bench.tier.store?.figures.g_waiting).toBe(0);
      return bench.figures.c_write;
    };
    for (let i = 0; i < 20; i++) bench.put('/a', i, 'for one client', MARK);
    expect(await written()).toBe(1);
    bench.now = T0 + 70;
    for (let i = 0; i < 20; i++) bench.put('/a', i, 'for one client', MARK);
    expect(await written()).toBe(2);
    bench.cache.invalidation.purge('/a', bench.now);
    for (let i = 0; i < 20; i++) bench.put('/a', i, 'for one client', MARK);
    expect(await written()).toBe(3);
  });

  it('hides what was stored, and is hidden by what is', async () => {
    const files = new FaultyFiles();
    const bench = await TierBench.over(files);
    bench.put('/a', 1, 'old', { vary: 'X' });
    bench.put('/a', 2, 'for one client', MARK);
    await bench.tier.close();
    const next = await TierBench.over(files);
    expect(await answer(next)).toBe('HITMISS');
    next.put('/a', 3, 'new', {});
    next.put('/a', 4, 'for one client', MARK);
    next.put('/a', 5, 'newer', {});
    await next.tier.close();
    expect(await (await TierBench.over(files)).load('/a')).toBe('newer');
  });
});

describe('a journal that finds no room', () => {
  let creates = 0;
  const noRoom = (call: string): Error | null => {
    if (call === 'create') creates++;
    return call === 'write' || call === 'create'
      ? Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
      : null;
  };

  async function off(): Promise<{ files: FaultyFiles; bench: TierBench }> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const files = await filled();
    const bench = await TierBench.over(files);
    files.fails = noRoom;
    bench.cache.invalidation.purge('/a', T0);
    expect(await bench.tier.settled()).toBe(true);
    expect([bench.tier.mayHave('/a'), bench.tier.space().happy]).toEqual([false, false]);
    return { files, bench };
  }

  const onceTrue = async (test: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 10_000 && !test(); turn++) await new Promise(setImmediate);
    expect(test()).toBe(true);
  };

  it('is replaced by another once there is room, and nothing from before is found', async () => {
    const { files, bench } = await off();
    const before = creates;
    vi.advanceTimersByTime(60_000);
    await onceTrue(() => creates > before);
    bench.cache.invalidation.purge('/b', T0);
    expect(await bench.tier.settled()).toBe(true);
    bench.put('/b', 2, 'not stored');
    files.fails = null;
    await onceTrue(() => vi.getTimerCount() > 0);
    vi.advanceTimersByTime(60_000);
    await onceTrue(() => bench.tier.space().happy);
    expect(bench.reports).toEqual([
      'The disk tier is off, and begins empty once there is room: ENOSPC',
      'The device of the disk tier is full before the tier is: the oldest objects are removed',
      'The disk tier has room for its journal and is on again, empty',
    ]);
    expect([await bench.load('/a'), bench.tier.mayHave('/b')]).toEqual([null, false]);
    for (const url of ['/c', '/d']) bench.put(url, 3, `new ${url}`);
    bench.cache.invalidation.purge('/d', T0);
    expect(await bench.tier.settled()).toBe(true);
    await onceTrue(() => bench.tier.store?.figures.g_waiting === 0);
    const next = await TierBench.over(files.after(null));
    expect(next.tier.store?.start).toBe('whole');
    const found = await Promise.all(['/a', '/b', '/c', '/d'].map((url) => next.load(url)));
    expect(found).toEqual([null, null, 'new /c', null]);
    await bench.tier.close();
  });

  it('is off again where the room was not enough', async () => {
    const { files, bench } = await off();
    files.fails = null;
    vi.advanceTimersByTime(60_000);
    await onceTrue(() => bench.tier.space().happy);
    bench.put('/a', 2, 'new');
    files.fails = noRoom;
    bench.cache.invalidation.purge('/a', T0);
    expect(await bench.tier.settled()).toBe(true);
    expect(bench.tier.mayHave('/a')).toBe(false);
    expect(bench.reports.filter((text) => text.includes('is off'))).toHaveLength(2);
    files.fails = null;
    const next = await TierBench.over(files.after(null));
    expect(next.tier.mayHave('/a')).toBe(false);
  });

  it('writes what is purged while another begins', async () => {
    const { files, bench } = await off();
    files.fails = null;
    const store = bench.tier.store as NonNullable<DiskTier['store']>;
    const one = { kind: 'key', text: '/e', at: T0, ttl: -1, grace: -1, keep: -1 } as const;
    let purged: Promise<void> = Promise.reject(new Error('not purged'));
    purged.catch(() => undefined);
    await store.beginAgain(() => {
      purged = store.invalidate(one);
    });
    await purged;
    const { newest } = store;
    const next = await TierBench.over(files.after(null));
    expect([next.tier.store?.start, next.tier.newest]).toEqual(['whole', newest]);
  });

  it('is not replaced after the stop', async () => {
    const { files, bench } = await off();
    await bench.tier.close();
    files.fails = null;
    vi.advanceTimersByTime(600_000);
    expect(vi.getTimerCount()).toBe(0);
    expect((await files.names()).filter((name) => name.startsWith('journal-'))).toEqual([]);
  });
});

it.each(['names', 'remove', 'syncNames'])(
  'says that a purge may come back when the journal cannot be removed either (%s)',
  async (call) => {
    const files = await filled();
    const bench = await TierBench.over(files);
    files.fails = broken('write', call);
    bench.cache.invalidation.purge('/a', T0);
    expect(await bench.tier.settled()).toBe(false);
    expect(bench.reports.join()).toContain('Remove its files before the next start');
    // Objects on disk are not used any more, whatever they are.
    expect(bench.tier.mayHave('/a')).toBe(false);
    expect(await bench.load('/a')).toBeNull();
    // Not tried twice: the answers stay the same.
    bench.cache.invalidation.purge('/b', T0);
    expect(await bench.tier.settled()).toBe(false);
    expect(bench.reports).toHaveLength(1);
  },
);

it('lets memory serve alone when it cannot be opened, and keeps what is on disk until something is invalidated', async () => {
  const files = await filled();
  files.fails = broken('open');
  const bench = await TierBench.over(files);
  expect(bench.reports).toEqual(['The disk tier cannot be opened, memory serves alone: EIO']);
  bench.put('/a', 2, 'from memory');
  expect(bench.ask('/a')).toBe('HIT');
  expect(bench.tier.mayHave('/a')).toBe(false);
  await bench.tier.close();
  files.fails = null;
  expect(await (await TierBench.over(files.after(null))).load('/a')).toBe('from disk');

  files.fails = broken('open');
  const second = await TierBench.over(files);
  second.cache.invalidation.purge('/a', T0);
  expect(await second.tier.settled()).toBe(true);
  files.fails = null;
  expect(await (await TierBench.over(files.after(null))).load('/a')).toBeNull();
});

it('is emptied on disk alone, and counts what memory takes from it', async () => {
  const files = await filled();
  const bench = await TierBench.over(files);
  bench.put('/b', 2, 'in both');
  expect(await bench.load('/a')).toBe('from disk');
  expect(bench.figures).toMatchObject({ c_hit: 1, c_promote: 1, c_promote_fail: 0 });
  expect(bench.tier.space()).toMatchObject({ happy: true });
  expect(await bench.tier.empty()).toBe(true);
  expect(bench.ask('/b')).toBe('HIT');
  expect(bench.tier.mayHave('/b')).toBe(false);
  expect(bench.tier.space().usedSpace).toBe(0);
  expect(await bench.tier.check()).toEqual({ objects: 0, bytes: 0, damaged: 0, unreadable: 0 });
  await bench.tier.close();
  expect((await TierBench.over(files.after(null))).tier.store?.objects).toBe(0);
});

it('does not keep an answer waiting for a device that hangs', async () => {
  vi.useFakeTimers();
  const files = new FaultyFiles();
  const bench = await TierBench.over(files);
  let goOn = (): void => undefined;
  files.pause = () => new Promise((resolve) => (goOn = resolve));
  bench.cache.invalidation.purge('/a', T0);
  const first = bench.tier.settled();
  await vi.advanceTimersByTimeAsync(4999);
  const second = bench.tier.settled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await first).toBe(false);
  files.pause = null;
  goOn();
  expect(await second).toBe(true);
  expect(bench.tier.mayHave('/a')).toBe(false);
  expect(bench.reports).toEqual([]);
});

describe('disk_sync', () => {
  /** Syncs that a purge and an object cost. */
  async function syncs(bench: TierBench, files: FaultyFiles): Promise<[number, number]> {
    let count = 0;
    files.fails = (call) => {
      if (call === 'sync') count++;
      return null;
    };
    bench.cache.invalidation.purge('/gone', T0);
    expect(await bench.tier.settled()).toBe(true);
    const ofPurge = count;
    bench.put('/b', 2, 'new');
    await vi.waitFor(() => expect(bench.figures.c_write).toBe(1), { timeout: 20_000 });
    await vi.waitFor(() => expect(bench.tier.mayHave('/b')).toBe(true), { timeout: 20_000 });
    files.fails = null;
    return [ofPurge, count - ofPurge];
  }

  it.each([
    ['group', [2, 0]],
    ['always', [2, 1]],
    ['off', [0, 0]],
  ] as const)('%s', async (sync, expected) => {
    const files = await filled();
    const bench = await TierBench.over(files);
    bench.sync = sync;
    bench.cache.invalidation.purge('/a', T0);
    expect(await bench.tier.settled()).toBe(true);
    expect(await syncs(bench, files)).toEqual(expected);
    // Killed, not without power.
    const next = await TierBench.over(files.after(null));
    expect(await next.load('/a')).toBeNull();
    expect(await next.load('/b')).toBe('new');
  });
});

it('says that a program asks for other keys than those on disk, once', async () => {
  const files = new FaultyFiles();
  const first = await TierBench.over(files);
  for (let i = 0; i < 1000; i++) first.put(`/${i}`, i + 1, 'x');
  await first.tier.close();
  const same = await TierBench.over(files.after(null));
  expect(same.tier.mayHave('/999')).toBe(true);
  const other = await TierBench.over(files.after(null));
  for (const { tier } of [same, other]) for (let i = 0; i < 2000; i++) tier.mayHave(`other /${i}`);
  expect(same.log).toEqual([]);
  expect(other.log).toEqual([
    'disk: none of the first 1000 keys is among 1000 objects: another program, with another vcl_hash, may have stored them',
  ]);
});

it('says once a minute that reads fail', async () => {
  const files = await filled();
  const bench = await TierBench.over(files);
  files.fails = broken('read');
  for (let i = 0; i < 3; i++) expect(await bench.load('/a')).toBeNull();
  expect(bench.figures.c_read_fail).toBe(3);
  bench.now += 60;
  expect(await bench.load('/a')).toBeNull();
  const text = 'The disk tier cannot read objects, they are fetched again: EIO';
  expect(bench.reports).toEqual([text, text]);
  files.fails = null;
  expect(await bench.load('/a')).toBe('from disk');
});

describe('a large body', () => {
  const BODY = Buffer.alloc(9 << 20, 'a large body, ');
  const LARGE = 1 << 30;

  async function stored(): Promise<FaultyFiles> {
    const files = new FaultyFiles();
    const bench = await TierBench.over(files, LARGE);
    bench.put('/a', 1, BODY);
    await bench.tier.close();
    expect(bench.figures).toMatchObject({ c_write: 1, g_waiting: 0 });
    return files;
  }

  /** Lets reads through one by one. */
  function stepped(files: FaultyFiles): () => void {
    const waiting: (() => void)[] = [];
    files.pause = () => new Promise((resolve) => void waiting.push(resolve));
    return () => waiting.shift()?.();
  }

  it('is sent from its first block on, to all who ask, each block read once', async () => {
    const files = await stored();
    const bench = await TierBench.over(files, LARGE);
    let reads = 0;
    files.fails = (call) => {
      if (call === 'read') reads++;
      return null;
    };
    const [, out] = bench.lookup('/a');
    const busy = out.busy as Oc;
    const next = stepped(files);
    let isVisible = false;
    const loaded = bench.tier
      .load(bench.query('/a'), busy, () => true)
      .then((found) => {
        isVisible = found;
      });
    while (!isVisible) {
      next();
      await new Promise(setImmediate);
    }
    await loaded;
    // The head, and the first block.
    expect(bench.cache.facts.isFinished(busy)).toBe(false);
    expect(reads).toBeLessThan(5);
    expect(bench.cache.reading.bodyLength(busy)).toBe(64 * 1024);
    expect(bench.cache.reading.declaredLength(busy)).toBe(BODY.length);
    expect(bench.ask('/a')).toBe('HIT');
    files.pause = null;
    next();
    await vi.waitFor(() => expect(bench.cache.facts.isFinished(busy)).toBe(true), { timeout: 20_000 });
    expect(bench.body(busy).equals(BODY)).toBe(true);
    expect(reads).toBeLessThan(BODY.length / (64 * 1024) + 5);
    bench.cache.references.deref(busy);
    expect(bench.ask('/a')).toBe('HIT');
    expect(bench.figures).toMatchObject({ c_promote: 1, c_write: 0 });
  });

  it.each([
    ['a wrong bit', (files: FaultyFiles) => files.flip('segment-1', (4 << 20) * 8)],
    [
      'a device that fails',
      (files: FaultyFiles) => {
        let reads = 0;
        files.fails = (call) => (call === 'read' && ++reads > 5 ? new Error('EIO') : null);
      },
    ],
  ])('is cut by %s, and is a miss then', async (_, damage) => {
    const files = await stored();
    const bench = await TierBench.over(files, LARGE);
    damage(files);
    const [, out] = bench.lookup('/a');
    const busy = out.busy as Oc;
    expect(await bench.tier.load(bench.query('/a'), busy, () => true)).toBe(true);
    await vi.waitFor(() => expect(bench.cache.facts.isFailed(busy)).toBe(true), { timeout: 20_000 });
    bench.cache.references.deref(busy);
    expect(bench.tier.mayHave('/a')).toBe(false);
    expect(bench.ask('/a')).toBe('MISS');
  });

  it('takes as much room as it needs, and is cut when there is none, once', async () => {
    const files = await stored();
    const bench = await TierBench.over(files, LARGE, 16 << 20);
    bench.limits.nukeLimit = 5;
    const small = Buffer.alloc(100_000, 's');
    for (let i = 0; i < 170; i++) bench.put(`/${i}`, i + 2, small);
    const load = async (one: TierBench): Promise<Oc> => {
      const { cache, tier } = one;
      const busy = one.lookup('/a')[1].busy as Oc;
      expect(await tier.load(one.query('/a'), busy, () => true)).toBe(true);
      const isOver = (): boolean => cache.facts.isFinished(busy) || cache.facts.isFailed(busy);
      await vi.waitFor(() => expect(isOver()).toBe(true), { timeout: 20_000 });
      return busy;
    };
    const whole = await load(bench);
    expect(bench.body(whole).equals(BODY)).toBe(true);
    bench.cache.references.deref(whole);
    // All that is there is held: nothing can go.
    const held = await TierBench.over(files.after(null), LARGE, 16 << 20);
    for (let i = 0; i < 90; i++) {
      held.put(`/${i}`, i + 2, small);
      held.lookup(`/${i}`);
    }
    expect(held.cache.facts.isFailed(await load(held))).toBe(true);
    expect(held.log).toEqual(['disk: a body was cut: no room in memory']);
    expect(held.tier.mayHave('/a')).toBe(false);
  });

  it('is a miss where memory is smaller than it is, and cuts nobody', async () => {
    const files = await stored();
    const bench = await TierBench.over(files, LARGE, 8 << 20);
    bench.cache.storages.behind = bench.tier.name;
    const [, out] = bench.lookup('/a');
    const outcome = { text: '' };
    expect(await bench.tier.load(bench.query('/a'), out.busy, () => true, outcome)).toBe(false);
    expect(outcome.text).toBe('larger than memory');
    expect(bench.cache.facts.isFailed(out.busy)).toBe(false);
    expect(bench.log).toEqual([]);
    expect(bench.tier.mayHave('/a')).toBe(true);
  });

  it('that was purged while it was sent is read to its end, and not found any more', async () => {
    const files = await stored();
    const bench = await TierBench.over(files, LARGE);
    const [, out] = bench.lookup('/a');
    const busy = out.busy as Oc;
    expect(await bench.tier.load(bench.query('/a'), busy, () => true)).toBe(true);
    expect(bench.cache.facts.isFinished(busy)).toBe(false);
    bench.cache.invalidation.purge('/a', T0);
    await vi.waitFor(() => expect(bench.cache.facts.isFinished(busy)).toBe(true), { timeout: 20_000 });
    expect(bench.body(busy).equals(BODY)).toBe(true);
    bench.cache.references.deref(busy);
    expect(bench.ask('/a')).toBe('MISS');
    expect(await bench.load('/a')).toBeNull();
  });

  it('of which a write has not come to its end is not found', async () => {
    const files = new FaultyFiles();
    const bench = await TierBench.over(files, LARGE);
    let writes = 0;
    files.fails = (call) => (call === 'write' && ++writes === 4 ? new Error('EIO') : null);
    bench.put('/a', 1, BODY);
    await vi.waitFor(() => expect(bench.figures.c_write_fail).toBe(1), { timeout: 20_000 });
    expect(bench.tier.mayHave('/a')).toBe(false);
    expect(bench.figures.g_waiting).toBe(0);
    files.fails = null;
    const next = await TierBench.over(files.after(null), LARGE);
    expect(next.tier.mayHave('/a')).toBe(false);
  });
});
