import { afterEach, expect, it, vi } from 'vitest';
import { newScene, startDrama } from '../../../console/demo/drama.ts';
import { page } from '../../../console/demo/site.ts';
import { seeded } from '../../../console/demo/traffic.ts';

afterEach(() => vi.useRealTimers());

it('has acts that begin, end and come again, and none after it was stopped', async () => {
  vi.useFakeTimers();
  const scene = newScene();
  const reported: string[] = [];
  const done: string[] = [];
  const hand = {
    banStatic: () => Promise.resolve(done.push('ban') > 0 ? 'banned' : ''),
    loadBadProgram: () => Promise.resolve(done.push('load') > 0 ? 'refused' : ''),
  };
  const drama = startDrama(scene, hand, (line) => reported.push(line));
  const to = (seconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(seconds * 1000);
  await to(13);
  expect(scene).toEqual({ imagesSick: true, slowness: 0, burst: 0, release: 1 });
  await to(15);
  expect(scene.imagesSick).toBe(false);
  await to(20);
  expect(scene).toEqual({ imagesSick: false, slowness: 0, burst: 4, release: 2 });
  expect(done).toEqual(['ban']);
  await to(22);
  expect(scene).toEqual({ imagesSick: false, slowness: 900, burst: 0, release: 2 });
  expect(done).toEqual(['ban', 'load']);
  await to(19);
  expect(scene.slowness).toBe(0);
  expect(reported).toHaveLength(10);
  expect(reported.slice(2, 4)).toEqual([expect.stringContaining('a new release'), 'banned']);
  await to(15);
  expect(scene.imagesSick).toBe(true);
  drama.stop();
  await to(600);
  expect(scene).toEqual({ imagesSick: true, slowness: 0, burst: 0, release: 2 });
});

it('shows in what the origin answers', () => {
  const ask = (path: string, change: Partial<ReturnType<typeof newScene>>) =>
    page({
      path,
      query: new URLSearchParams(),
      language: 'en',
      luck: seeded(1)(),
      scene: { ...newScene(), ...change },
    });
  expect(ask('/health/images', {}).status).toBe(200);
  expect(ask('/health/images', { imagesSick: true }).status).toBe(503);
  expect(ask('/health/shop', { imagesSick: true }).status).toBe(200);
  expect(ask('/img/1.svg', { imagesSick: true }).status).toBe(503);
  expect(ask('/articles/a', { slowness: 900 }).delay).toBe(ask('/articles/a', {}).delay + 900);
  expect(ask('/static/app.css', { release: 2 }).headers.ETag).not.toBe(
    ask('/static/app.css', {}).headers.ETag,
  );
});
