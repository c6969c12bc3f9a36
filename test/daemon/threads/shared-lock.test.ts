import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { LOCK_WORDS, SharedLock } from '../../../daemon/threads/shared-lock.ts';

function sharedWords(count = LOCK_WORDS): Int32Array {
  return new Int32Array(new SharedArrayBuffer(count * 4));
}

it('is taken by one at a time, and again by whoever has it', () => {
  const words = sharedWords();
  const [one, two] = [new SharedLock(words, 0, 0), new SharedLock(words, 0, 1)];
  let taken = 0;
  one.entered = () => taken++;
  one.enter();
  one.enter();
  expect(one.tryEnter()).toBe(true);
  expect(two.tryEnter()).toBe(false);
  one.leave();
  one.leave();
  expect(one.isHeld).toBe(true);
  expect(two.tryEnter()).toBe(false);
  one.leave();
  expect(one.isHeld).toBe(false);
  expect(two.tryEnter()).toBe(true);
  expect(one.tryEnter()).toBe(false);
  two.leave();
  expect(taken).toBe(1);
});

it('runs at once what is to come after it, or when the last leave is over', () => {
  const lock = new SharedLock(sharedWords(), 0, 0);
  const ran: string[] = [];
  lock.after(() => void ran.push('free'));
  lock.enter();
  lock.after(() => {
    ran.push(`first, held: ${lock.isHeld}`);
    lock.enter();
    lock.after(() => void ran.push('of the first'));
    lock.leave();
  });
  lock.after(() => void ran.push('second'));
  lock.enter();
  lock.leave();
  expect(ran).toEqual(['free']);
  lock.leave();
  expect(ran).toEqual(['free', 'first, held: false', 'of the first', 'second']);
});

const failing = (): never => {
  throw new Error('fails');
};

it.each(['entered', 'delay'] as const)('is free again when %s throws', (hook) => {
  const words = sharedWords();
  const [one, two] = [new SharedLock(words, 0, 0), new SharedLock(words, 0, 1)];
  const before = one[hook] as () => void;
  for (const take of [() => one.enter(), () => one.tryEnter()]) {
    one[hook] = failing;
    expect(take).toThrow('fails');
    expect(one.isHeld).toBe(false);
    expect(two.tryEnter()).toBe(true);
    two.leave();
    one[hook] = before;
    take();
    expect(two.tryEnter()).toBe(false);
    one.leave();
  }
  expect(words[1]).toBe(0);
});

it('is free again when what is called as it is left throws', () => {
  const words = sharedWords();
  const [one, two] = [new SharedLock(words, 0, 0), new SharedLock(words, 0, 1)];
  one.enter();
  one.delay = failing;
  expect(() => one.leave()).toThrow('fails');
  expect([one.isHeld, two.tryEnter()]).toEqual([false, true]);
});

it('runs all that is to come after it, whatever one of them throws', () => {
  const lock = new SharedLock(sharedWords(), 0, 0);
  const ran: string[] = [];
  lock.enter();
  lock.after(() => {
    lock.enter();
    lock.after(() => void ran.push('of the first'));
    lock.leave();
    failing();
  });
  lock.after(() => void ran.push('second'));
  expect(() => lock.leave()).toThrow('fails');
  expect(ran).toEqual(['of the first', 'second']);
  expect(lock.isHeld).toBe(false);
});

it('gives up, and names who has it, when it is not released', () => {
  const words = sharedWords();
  const [dead, waiting] = [new SharedLock(words, 0, 3), new SharedLock(words, 0, 1, 50)];
  dead.enter();
  expect(() => waiting.enter()).toThrow('A lock was not released within 0.05 s; thread 3 has it');
  expect(waiting.isHeld).toBe(false);
  dead.leave();
  waiting.enter();
  waiting.leave();
});

it('lets no two of four threads in at once, and each of them in', async () => {
  const words = sharedWords(4);
  const times = 20_000;
  const threads = [0, 1, 2, 3].map(
    (thread) =>
      new Worker(new URL('../../harness/threads/lock-thread.js', import.meta.url), {
        workerData: { job: 'count', words, thread, times },
      }),
  );
  await Promise.all(
    threads.map(
      (each) => new Promise((resolve, reject) => each.once('message', resolve).once('error', reject)),
    ),
  );
  expect(words[2]).toBe(4 * times);
  expect(Atomics.load(words, 0)).toBe(0);
});
