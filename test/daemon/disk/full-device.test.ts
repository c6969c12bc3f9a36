// A device that is full before the store is: what goes, what stays, and what a purge costs.
import { expect, it } from 'vitest';
import type { DiskOptions } from '../../../daemon/disk/disk-options.ts';
import type { DiskStore } from '../../../daemon/disk/disk-store.ts';
import { bodyIn, bodyOf, object, openStore, purge } from './disk-setup.ts';
import { FaultyFiles } from './faulty-files.ts';

const SEGMENT = 100_000;
const BODY = 20_000;
/** Objects of that size in a segment. */
const EACH = 4;

const names = (files: FaultyFiles): string[] =>
  [...files.contents.keys()].filter((name) => name.startsWith('segment-'));

/** A store that has filled these segments, and the files of it. */
async function filled(
  segments: number,
  changes: Partial<DiskOptions> = {},
): Promise<{ files: FaultyFiles; store: DiskStore }> {
  const files = new FaultyFiles();
  const store = await openStore(files, { segmentBytes: SEGMENT, ...changes });
  for (let i = 0; i < segments * EACH; i++) await put(store, i);
  return { files, store };
}

function put(store: DiskStore, i: number): Promise<string> {
  return store.put(object(store, `/${i}`, { body: bodyOf(i, BODY) }));
}

async function found(store: DiskStore, most: number): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < most; i++) {
    const body = await bodyIn(store, `/${i}`);
    if (body === null) continue;
    expect(body !== 'cut' && body.equals(bodyOf(i, BODY)), `/${i}`).toBe(true);
    all.push(i);
  }
  return all;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

it('removes the oldest segment for new objects, one after the other, and keeps the rest', async () => {
  const { files, store } = await filled(5);
  files.room = files.used;
  expect(store.isAging(1)).toBe(false);
  for (let i = 20; i < 60; i++) expect(await put(store, i), `/${i}`).toBe('stored');
  expect(store.figures).toMatchObject({ c_write_fail: 0, c_full_drop: 10 });
  const there = await found(store, 60);
  expect(there).toEqual(range(there[0] as number, 60));
  expect(there.length).toBeGreaterThanOrEqual(3 * EACH);
  expect(names(files).length).toBeLessThanOrEqual(5);
  // Those that are in use are written again, as on a tier that is full.
  const [oldest = 0, , , , newest = 0] = [...store.segments.keys()];
  expect([store.isAging(oldest), store.isAging(newest)]).toEqual([true, false]);
  await store.close();
  const next = await openStore(files.after(null), { segmentBytes: SEGMENT });
  expect([next.start, await found(next, 60)]).toEqual(['whole', there]);
});

it('loses a segment a minute, no more, where another program takes the room', async () => {
  let now = 1000;
  const { files, store } = await filled(5, { now: () => now });
  files.room = files.used;
  const greedy = (): void => {
    files.room = files.used;
  };
  files.onRemove = greedy;
  const answers: string[] = [];
  for (let i = 20; i < 40; i++) answers.push(await put(store, i));
  expect(answers).toEqual(Array(20).fill('failed'));
  expect(store.figures.c_full_drop).toBe(1);
  expect(await found(store, 40)).toEqual(range(4, 20));
  now += 60;
  await put(store, 40);
  expect(await found(store, 40)).toEqual(range(8, 20));
  // There is room again.
  files.onRemove = null;
  files.room = Number.POSITIVE_INFINITY;
  for (let i = 41; i < 45; i++) expect(await put(store, i)).toBe('stored');
});

it('has a purge on disk before it is answered, for the oldest segment, and keeps the others', async () => {
  const { files, store } = await filled(3);
  files.room = files.used;
  await purge(store, '/5');
  await purge(store, '/9');
  expect(store.figures.c_full_drop).toBe(1);
  const next = await openStore(files.after(null), { segmentBytes: SEGMENT });
  expect(next.start).toBe('whole');
  expect(await found(next, 12)).toEqual([4, 6, 7, 8, 10, 11]);
});

it('fails a purge once nothing is left to remove', async () => {
  const { files, store } = await filled(3);
  files.room = files.used;
  files.onRemove = () => {
    files.room = files.used;
  };
  await expect(purge(store, '/1')).rejects.toThrow('ENOSPC');
  // Not the one that is being written.
  expect(store.figures.c_full_drop).toBe(2);
  expect(await bodyIn(store, '/1')).toBeNull();
});

it('seals a segment that a record does not fit into any more', async () => {
  const { files, store } = await filled(0);
  for (const i of [0, 1]) await put(store, i);
  files.room = files.used + BODY / 2;
  expect(await put(store, 2)).toBe('failed');
  expect(store.segments.get(1)?.isSealed).toBe(true);
  const next = await openStore(files.after(null), { segmentBytes: SEGMENT });
  expect(await found(next, 3)).toEqual([0, 1]);
});

it('starts on a full device with all that it has but the oldest segment', async () => {
  const { files, store } = await filled(3);
  await purge(store, '/9');
  for (const end of ['kill', 'stop']) {
    if (end === 'stop') await store.close();
    const left = files.after(null);
    left.room = left.used;
    const next = await openStore(left, { segmentBytes: SEGMENT });
    expect([end, next.start, await found(next, 12)]).toEqual([end, 'whole', [4, 5, 6, 7, 8, 10, 11]]);
    const third = await openStore(left.after(null), { segmentBytes: SEGMENT });
    expect([third.start, await found(third, 12)]).toEqual(['whole', [4, 5, 6, 7, 8, 10, 11]]);
  }
});

it('begins empty on a full device with a journal that is of no use', async () => {
  const { files, store } = await filled(3);
  await store.close();
  const left = files.after(null);
  for (const name of left.contents.keys()) if (name.startsWith('journal-')) left.flip(name, 100);
  left.room = left.used;
  const next = await openStore(left, { segmentBytes: SEGMENT });
  expect([next.start, await found(next, 12), names(left)]).toEqual(['damaged journal', [], []]);
  expect(await put(next, 1)).toBe('stored');
});

it('writes on with the journal that it has where there is no room for a shorter one', async () => {
  const { files, store } = await filled(1, { invalidations: 10 });
  const text = 'x'.repeat(50_000);
  let creates = 0;
  // The first copy is whole each time.
  files.fails = (call) =>
    call === 'create' && ++creates % 2 === 0 ? Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }) : null;
  for (let i = 0; i < 100; i++) await purge(store, text + i);
  await purge(store, '/2');
  expect(creates).toBeGreaterThan(1);
  expect([...files.contents.keys()].filter((name) => name.startsWith('journal-'))).toHaveLength(2);
  files.fails = null;
  const next = await openStore(files.after(null), { segmentBytes: SEGMENT, invalidations: 1000 });
  expect([next.start, await found(next, 4)]).toEqual(['whole', [0, 1, 3]]);
  for (let i = 0; i < 200; i++) await purge(store, text + i);
  expect(files.used).toBeLessThan(16 << 20);
});
