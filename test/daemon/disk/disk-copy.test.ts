// A directory that was copied: used as it is after a stop, and not when it may lack purges.
import { expect, it } from 'vitest';
import { bodyIn, bodyOf, object, openStore, purge } from './disk-setup.ts';
import { FaultyFiles } from './faulty-files.ts';

const DAY = 86_400;

/** Files with /a, and /b, which was purged. */
async function running(): Promise<{ files: FaultyFiles; store: Awaited<ReturnType<typeof openStore>> }> {
  const files = new FaultyFiles();
  const store = await openStore(files);
  for (const key of ['/a', '/b']) await store.put(object(store, key));
  await purge(store, '/b');
  return { files, store };
}

it.each([
  ['at once', 0],
  ['within a day', DAY],
  ['by a clock that was ahead', -60],
])('is used where it was copied after a stop: %s', async (_, later) => {
  const { files, store } = await running();
  await store.close();
  const copy = files.copied();
  const next = await openStore(copy, { now: () => 1000 + later });
  expect([next.start, next.isCopy]).toEqual(['whole', true]);
  expect([await bodyIn(next, '/a'), await bodyIn(next, '/b')]).toEqual([bodyOf(1, 1000), null]);
  // It is no copy from now on.
  const third = await openStore(copy.after(null), { now: () => 1000 + 30 * DAY });
  expect([third.start, third.isCopy, await bodyIn(third, '/a')]).toEqual(['whole', false, bodyOf(1, 1000)]);
});

it('begins empty where it was copied while it was in use: a purge may have come since', async () => {
  const { files, store } = await running();
  const copy = files.copied();
  await purge(store, '/a');
  const next = await openStore(copy);
  expect([next.start, next.objects, await bodyIn(next, '/a')]).toEqual(['copied while in use', 0, null]);
  await next.put(object(next, '/c'));
  await next.close();
  const third = await openStore(copy.copied());
  expect([third.start, await bodyIn(third, '/a'), await bodyIn(third, '/c')]).toEqual([
    'whole',
    null,
    bodyOf(1, 1000),
  ]);
});

it('begins empty where it was copied after a stop that is more than a day ago', async () => {
  const { files, store } = await running();
  await store.close();
  const next = await openStore(files.copied(), { now: () => 1001 + DAY });
  expect([next.start, next.objects]).toEqual(['an old copy', 0]);
  // The directory itself may have rested as long as it likes.
  const own = await openStore(files.after(null), { now: () => 1001 + DAY });
  expect([own.start, own.objects]).toEqual(['whole', 2]);
});

it('counts a stop whose last entry could not be written as none', async () => {
  const { files, store } = await running();
  files.fails = (call) => (call === 'write' ? new Error('EIO') : null);
  await expect(store.close()).rejects.toThrow('EIO');
  expect((await openStore(files.copied())).start).toBe('copied while in use');
  expect((await openStore(files.after(null))).start).toBe('whole');
});
