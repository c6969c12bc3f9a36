// A tier shared by two threads, played in one: messages of one reach the other in a later turn, so what a test does before it waits
// happens while they are under way.
import { afterEach, describe, expect, it } from 'vitest';
import type { Cache } from '../../../daemon/cache/cache.ts';
import { LookupAnswer, LookupQuery, LookupResult } from '../../../daemon/cache/lookup-query.ts';
import type { Oc } from '../../../daemon/cache/objcore.ts';
import { varyKey } from '../../../daemon/cache/vary.ts';
import { noFigures } from '../../../daemon/disk/disk-options.ts';
import { DiskTier } from '../../../daemon/disk/disk-tier.ts';
import { EventOrder } from '../../../daemon/disk/event-order.ts';
import { SharedTier } from '../../../daemon/disk/shared-tier.ts';
import type { Peers } from '../../../daemon/threads/peers.ts';
import { request, response, T0 } from '../cache/cache-setup.ts';
import { cacheOf, closePorts, peersOfTwo } from '../cache/threads-setup.ts';
import { FaultyFiles } from './faulty-files.ts';

/** A 32nd of it is more than the large body. */
const SIZE = 512 << 20;
const MEMORY = 64 << 20;
afterEach(closePorts);

interface Put {
  readonly fields?: Record<string, string>;
  readonly head?: Record<string, string>;
  readonly vary?: string;
  readonly isForced?: boolean;
  readonly grace?: number;
}

class Thread {
  readonly cache: Cache;
  readonly tier: SharedTier;
  outcome = '';
  private next: number;

  constructor(peers: Peers) {
    this.next = 1000 * (peers.thread + 1);
    this.cache = cacheOf(peers, MEMORY);
    this.tier = new SharedTier({
      name: 'cold',
      objects: this.cache.tier,
      channel: peers.channel,
      memory: peers.part('disk'),
      now: () => T0,
      smallest: MEMORY,
    });
  }

  query(key: string, { fields = {}, isForced = false }: Put = {}): LookupQuery {
    const query = new LookupQuery(request(key, fields));
    query.key = key;
    query.now = T0 + 1;
    query.hashAlwaysMiss = isForced;
    return query;
  }

  find(key: string, put: Put = {}): [LookupAnswer, LookupResult] {
    const out = new LookupResult();
    return [this.cache.lookup.find(this.query(key, put), out), out];
  }

  put(key: string, body: string | Buffer, put: Put = {}): void {
    const { filling, references } = this.cache;
    const [answer, { busy }] = this.find(key, put);
    expect(answer).toBe(LookupAnswer.MISS);
    const { grace = 0 } = put;
    filling.setAttributes(busy, { tOrigin: T0, ttl: 100, grace, keep: 0, vxid: this.next++, flags: 0 });
    const vary = put.vary === undefined ? null : varyKey(put.vary, request(key, put.fields ?? {}));
    expect(filling.storeHead(busy, null, response(put.head ?? {}), vary)).toBe(true);
    const bytes = Buffer.from(body);
    expect(filling.append(busy, bytes, 0, bytes.length)).toBe(true);
    filling.finish(busy);
    references.deref(busy);
  }

  /** Removes an object from memory, and no more. */
  forget(key: string, put: Put = {}): void {
    const [answer, { oc }] = this.find(key, put);
    expect(answer).toBe(LookupAnswer.HIT);
    this.cache.tier.hold(() => this.cache.references.kill(oc));
    this.cache.references.deref(oc);
  }

  body(oc: Oc): string {
    const { reading } = this.cache;
    const into = Buffer.alloc(reading.bodyLength(oc));
    reading.copyBody(oc, 0, into, 0, into.length);
    return into.toString();
  }

  /** A request: the body that it gets from memory or disk, or null. */
  async ask(key: string, put: Put = {}): Promise<string | null> {
    const [answer, out] = this.find(key, put);
    if (answer === LookupAnswer.MISS) {
      const outcome = { text: '' };
      const isLoaded = await this.tier.load(this.query(key, put), out.busy, () => true, outcome);
      this.outcome = outcome.text;
      this.cache.references.deref(out.busy);
      if (!isLoaded) return null;
    } else expect(answer).toBe(LookupAnswer.HIT);
    const oc = answer === LookupAnswer.HIT ? out.oc : this.find(key, put)[1].oc;
    if (oc === 0) return null;
    const body = this.body(oc);
    this.cache.references.deref(oc);
    return body;
  }
}

async function pair(
  files = new FaultyFiles(),
): Promise<{ a: Thread; b: Thread; disk: DiskTier; reports: string[] }> {
  const [a, b] = peersOfTwo().map((peers) => new Thread(peers)) as [Thread, Thread];
  const reports: string[] = [];
  const owned = a.tier.own((underway) =>
    DiskTier.over(files, SIZE, {
      cache: a.cache,
      now: () => T0,
      sync: () => 'group',
      log: () => undefined,
      name: 'cold',
      figures: noFigures(),
      seed: () => [1, 2],
      report: (text) => reports.push(text),
      underway,
    }),
  );
  const [disk] = await Promise.all([owned, b.tier.follow()]);
  return { a, b, disk, reports };
}

/** Two threads, and an object that the second has stored, on disk alone. */
async function onDisk(
  files = new FaultyFiles(),
  body: string | Buffer = 'from disk',
  put: Put = {},
): ReturnType<typeof pair> {
  const threads = await pair(files);
  const { b, disk } = threads;
  b.put('/a', body, put);
  await expect.poll(() => disk.store?.objects).toBe(1);
  b.forget('/a', put);
  return threads;
}

it.each(['a', 'b'] as const)(
  'gives an object of one thread to thread %s, and leaves nothing behind',
  async (name) => {
    const { disk, ...threads } = await onDisk();
    const { [name]: thread } = threads;
    expect(thread.tier.mayHave('/a')).toBe(true);
    expect(thread.tier.mayHave('/b')).toBe(false);
    expect(await thread.ask('/a')).toBe('from disk');
    expect(thread.outcome).toBe('found');
    // Memory has it for both, and nobody else.
    expect(threads.a.find('/a')[0]).toBe(LookupAnswer.HIT);
    expect(threads.b.find('/a')[0]).toBe(LookupAnswer.HIT);
    await disk.close();
  },
);

it('takes the variant by the headers of a request on the other thread, and lets that one fetch what is missing', async () => {
  const de = { fields: { Lang: 'de' }, vary: 'Lang' };
  const fr = { fields: { Lang: 'fr' }, vary: 'Lang' };
  const { b } = await onDisk(new FaultyFiles(), 'deutsch', de);
  expect(await b.ask('/a', fr)).toBeNull();
  expect(b.outcome).toBe('other variants alone');
  expect(await b.ask('/a', de)).toBe('deutsch');
  b.put('/a', 'francais', fr);
  expect(await b.ask('/a', fr)).toBe('francais');
});

it('gives a large body while it is read', async () => {
  const body = Buffer.alloc(9 << 20, 'large ');
  const { a, b } = await onDisk(new FaultyFiles(), body);
  const [, out] = b.find('/a');
  expect(await b.tier.load(b.query('/a'), out.busy, () => true)).toBe(true);
  b.cache.references.deref(out.busy);
  const [answer, { oc }] = b.find('/a');
  expect(answer).toBe(LookupAnswer.HIT);
  await new Promise<void>((resolve) => {
    const reader = { progress: () => (b.cache.facts.isFinished(oc) ? resolve() : undefined) };
    if (b.cache.reading.onProgress(oc, reader) === null) resolve();
  });
  expect(b.body(oc) === body.toString()).toBe(true);
  b.cache.references.deref(oc);
  expect(a.find('/a')[0]).toBe(LookupAnswer.HIT);
});

it.each([
  ['objects', 300, 1, 256],
  ['bytes', 6, 1 << 20, 4],
])(
  'what waits for the first thread has a bound in %s, and what is over it is not on disk',
  async (_what, count, size, kept) => {
    const { b, disk } = await pair();
    // In one turn, in which the first thread receives nothing.
    for (let i = 0; i < count; i++) b.put(`/${i}`, Buffer.alloc(size));
    expect(await b.tier.settled()).toBe(true);
    await expect.poll(() => disk.store?.objects).toBe(kept);
    expect([b.tier.mayHave(`/${kept - 1}`), b.tier.mayHave(`/${kept}`)]).toEqual([true, false]);
    // They are in memory, and the place of those that were taken over is free again.
    expect(b.find(`/${kept}`)[0]).toBe(LookupAnswer.HIT);
    b.put('/later', Buffer.alloc(size));
    await expect.poll(() => disk.store?.objects).toBe(kept + 1);
  },
);

const WAYS: readonly (readonly [string, (thread: Thread) => void])[] = [
  ['a purge', ({ cache }) => void cache.invalidation.purge('/a', T0)],
  ['a purge by surrogate key', ({ cache }) => void cache.invalidation.purgeTags('k', false, T0)],
  ['a soft purge by surrogate key', ({ cache }) => void cache.invalidation.purgeTags('k', true, T0)],
  ['a ban', ({ cache }) => void cache.bans.addText('obj.http.name == a', T0)],
  ['a forced miss', (thread) => thread.put('/a', 'new', { isForced: true })],
  ['a drop', ({ tier }) => void tier.empty()],
];
const HEAD = { head: { xkey: 'k', name: 'a' } };

it('does not fill an object with one that another thread replaces at the last moment', async () => {
  const { a, b } = await onDisk(new FaultyFiles(), 'old');
  const { tier } = a.cache;
  const fill = tier.fill.bind(tier);
  tier.fill = (...args) => {
    // The lock is free until then.
    b.put('/a', 'new', { isForced: true });
    return fill(...args);
  };
  expect(await a.ask('/a')).toBeNull();
  expect(await a.ask('/a')).toBe('new');
});

describe.each(WAYS)('%s', (what, invalidate) => {
  const isNew = what === 'a forced miss';

  it.each(['ab', 'ba'])('is known to a request that comes after it (%s)', async (order) => {
    const threads = await onDisk(new FaultyFiles(), 'old', HEAD);
    const [first, second] = [...order].map((name) => threads[name as 'a' | 'b']) as [Thread, Thread];
    // Commands run in the first thread.
    invalidate(what === 'a drop' ? threads.a : first);
    if (isNew) first.forget('/a');
    expect(await second.ask('/a')).not.toBe('old');
    expect(await first.ask('/a')).not.toBe('old');
  });

  it.each(['ab', 'ba'])('is known to a request that waits for the disk (%s)', async (order) => {
    const files = new FaultyFiles();
    const threads = await onDisk(files, 'old', HEAD);
    const [first, second] = [...order].map((name) => threads[name as 'a' | 'b']) as [Thread, Thread];
    let goOn = (): void => undefined;
    let isReading = (): void => undefined;
    const reading = new Promise<void>((resolve) => {
      isReading = resolve;
    });
    files.pause = () => {
      isReading();
      files.pause = null;
      return new Promise((resolve) => {
        goOn = resolve;
      });
    };
    const asked = second.ask('/a');
    await reading;
    invalidate(what === 'a drop' ? threads.a : first);
    goOn();
    await asked;
    // The request itself may get what there was when it came; no later one may.
    const [answer, { oc }] = first.find('/a');
    if (isNew) expect(first.body(oc)).toBe('new');
    else expect(answer).toBe(LookupAnswer.MISS);
  });
});

it.each([
  ['ab', 'key'],
  ['ba', 'key'],
  ['ab', 'surrogate key'],
  ['ba', 'surrogate key'],
])('a soft purge leaves the grace of what is on disk (%s, by %s)', async (order, by) => {
  const threads = await onDisk(new FaultyFiles(), 'old', { ...HEAD, grace: 50 });
  const [first, second] = [...order].map((name) => threads[name as 'a' | 'b']) as [Thread, Thread];
  const { invalidation } = first.cache;
  if (by === 'key') invalidation.purge('/a', T0, { ttl: 0, grace: 30, keep: 0 });
  else invalidation.purgeTags('k', true, T0);
  const [, { busy }] = second.find('/a');
  expect(await second.tier.load(second.query('/a'), busy, () => true)).toBe(true);
  second.cache.references.deref(busy);
  const [answer, out] = first.find('/a');
  expect(answer).toBe(LookupAnswer.GRACE);
  expect(first.body(out.oc)).toBe('old');
  expect(first.cache.facts.graceOf(out.oc)).toBe(by === 'key' ? 30 : 50);
});

it('keeps the invalidations of all threads, in the order in which they were numbered', async () => {
  const files = new FaultyFiles();
  const { a, b, disk } = await onDisk(files);
  b.cache.invalidation.purge('/x', T0);
  a.cache.invalidation.purge('/y', T0);
  const dropped = a.tier.empty();
  b.cache.invalidation.purge('/a', T0);
  expect(await b.tier.settled()).toBe(true);
  expect(await dropped).toBe(true);
  expect([a.tier.newest, b.tier.newest, disk.newest]).toEqual([4, 4, 4]);
  await disk.close();
  const next = await pair(files.after(null));
  expect(next.b.tier.newest).toBe(4);
  expect(await next.b.ask('/a')).toBeNull();
});

it('says on each thread whether a purge would survive, and is off on all when it would not', async () => {
  const files = new FaultyFiles();
  const { a, b, reports } = await onDisk(files);
  files.fails = (call) => (call === 'sync' || call === 'remove' ? new Error('EIO') : null);
  // The purge comes after what the other thread has done, and waits for it.
  b.put('/b', 'under way');
  a.cache.invalidation.purge('/x', T0);
  expect(await a.tier.settled()).toBe(false);
  expect(await b.tier.settled()).toBe(false);
  expect(reports).toHaveLength(1);
  expect(await b.ask('/a')).toBeNull();
});

it('is off on all threads when its directory cannot be opened', async () => {
  const files = new FaultyFiles();
  files.fails = (call) => (call === 'names' ? new Error('EIO') : null);
  const { a, b } = await pair(files);
  b.put('/a', 'in memory');
  expect(await a.ask('/a')).toBe('in memory');
  expect(b.tier.mayHave('/a')).toBe(false);
  expect(b.tier.space().happy).toBe(false);
});

it('applies events in the order of their numbers', async () => {
  const order = new EventOrder();
  const seen: number[] = [];
  const reached = order.reached(2).then(() => seen.push(0));
  for (const number of [3, 2, 1]) order.add(number, () => seen.push(number));
  await reached;
  expect(seen).toEqual([1, 2, 3, 0]);
  expect([order.has(3), order.has(4)]).toEqual([true, false]);
});
