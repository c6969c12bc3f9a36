import { MessageChannel, Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { SharedMemory } from '../../../daemon/threads/shared-memory.ts';

function pair(): [SharedMemory, SharedMemory, () => void] {
  const { port1, port2 } = new MessageChannel();
  const one = new SharedMemory(undefined, [port1]);
  return [one, new SharedMemory(one.offer(), [port2]), () => port1.close()];
}

it('gives both the same piece, once the second has looked', () => {
  const [one, two, close] = pair();
  const made = new Int32Array(one.piece('a', 8));
  made[0] = 5;
  expect(two.find('a')).toBeUndefined();
  two.sync();
  expect(new Int32Array(two.find('a') as SharedArrayBuffer)[0]).toBe(5);
  expect(two.piece('a', 8)).toBe(two.find('a'));
  close();
});

it('never makes a piece by looking for it, and finds what is there before it makes one', () => {
  const [one, two, close] = pair();
  expect(two.find('a')).toBeUndefined();
  new Int32Array(one.piece('a', 4))[0] = 7;
  // Not looked at yet: a second piece of this name would be another one.
  expect(new Int32Array(two.piece('a', 4))[0]).toBe(7);
  close();
});

it('has all look again when a word that names a piece has changed, and only then', () => {
  const [one, two, close] = pair();
  two.sync();
  let looks = 0;
  two.onGrowth(() => looks++);
  two.sync();
  expect(looks).toBe(0);
  one.piece('a', 4);
  two.sync();
  two.sync();
  expect(looks).toBe(1);
  one.announce();
  two.sync();
  expect(looks).toBe(2);
  close();
});

it('is seen by another thread at once, without a turn of its event loop', async () => {
  const { port1, port2 } = new MessageChannel();
  const memory = new SharedMemory(undefined, [port1]);
  const words = new Int32Array(new SharedArrayBuffer(8));
  const thread = new Worker(new URL('../../harness/threads/lock-thread.js', import.meta.url), {
    workerData: { job: 'grow', words, offer: memory.offer(), port: port2 },
    transferList: [port2],
  });
  const next = (): Promise<unknown> =>
    new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject));
  await next();
  const answer = next();
  new Int32Array(memory.piece('grown', 4))[0] = 11;
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  expect(await answer).toEqual({ before: false, value: 11, looks: [4] });
  port1.close();
});
