// One limit for real threads on the real clock: what they get together, and what is left when one of them is killed.
import { afterAll, describe, expect, it } from 'vitest';
import { WORD } from '../../../daemon/throttle/limit-options.ts';
import { timeOf } from '../../../daemon/throttle/stamped-word.ts';
import { type LimitOptions, limit } from '../../../daemon/throttle/throttle.ts';
import { until } from '../../harness/processes.ts';
import { isFull } from '../../harness/runs.ts';
import { type Thread, Threads } from './threads.ts';

const threads = new Threads();
afterAll(() => threads.dispose());

/** Starts this many threads, releases them together and collects their reports. */
async function together<T>(count: number, options: LimitOptions, body: string): Promise<T[]> {
  const { shared } = limit(options);
  const started = await Promise.all(
    Array.from({ length: count }, () => threads.start(options, shared, `await permission(); ${body}`)),
  );
  for (const thread of started) thread.tell();
  return Promise.all(started.map((thread) => thread.next<T>()));
}

describe.each([1, 3])('%d threads', (count) => {
  it.each([false, true])('get the limit in all, at once: strict %s', async (strict) => {
    const got = await together<number>(
      count,
      { calls: 30, period: 60, strict },
      'let got = 0; for (let i = 0; i < 20000; i++) if (api.tryTake()) got++; report(got);',
    );
    expect(got.reduce((sum, one) => sum + one)).toBe(30);
  });

  it('lose no call and gain none when they all take at the same time', async () => {
    const [most, tries] = isFull ? [900_000, 600_000] : [180_000, 120_000];
    const got = await together<number>(
      count,
      { calls: most, period: 600 },
      `let got = 0; for (let i = 0; i < ${tries}; i++) if (api.tryTake()) got++; report(got);`,
    );
    expect(got.reduce((sum, one) => sum + one)).toBe(Math.min(most, tries * count));
  });

  it.each([false, true])('60 calls are 30, a wait, and 30, on the real clock: strict %s', async (strict) => {
    const calls = 60 / count;
    const reports = await together<{ asked: number; times: number[] }>(
      count,
      { calls: 30, period: 1.5, strict },
      `const now = () => { const [s, ns] = process.hrtime(); return s * 1000 + ns / 1e6; };
       const times = [];
       const call = api.sleepAndRetry(() => times.push(now()));
       const asked = now();
       await Promise.all(Array.from({ length: ${calls} }, () => call()));
       report({ asked, times });`,
    );
    const asked = Math.min(...reports.map((one) => one.asked));
    const times = reports.flatMap((one) => one.times.map((time) => time - asked)).sort((a, b) => a - b);
    expect(times).toHaveLength(60);
    // How soon they come, limit.test.ts has on a clock of its own: this one runs on while the machine is busy.
    expect(times[30]).toBeGreaterThanOrEqual(1500);
    expect(times[59]).toBeLessThan(20_000);
  });

  it('never have more in a period when it is strict, however hard they try', async () => {
    const pairs = (
      await together<[number, number][]>(
        count,
        { calls: 40, period: 0.02, strict: true },
        `const times = [];
         const now = () => { const [s, ns] = process.hrtime(); return s * 1000 + ns / 1e6; };
         const end = now() + 400;
         // The hours before and after: a thread may pause between.
         for (let t = now(); t < end; t = now()) if (api.tryTake()) times.push([t, now()]);
         report(times);`,
      )
    ).flat();
    // Calls certainly within one period: none begun before its first was made, all made before its end.
    pairs.sort((a, b) => a[0] - b[0]);
    let most = 0;
    for (const [from] of pairs) {
      const within = pairs.filter(([begun, made]) => begun >= from && made < from + 20).length;
      most = Math.max(most, within);
    }
    expect(pairs.length).toBeGreaterThan(200);
    expect(most).toBeLessThanOrEqual(40);
  });
});

it('threads together never have more calls running than the concurrency, and do have as many', async () => {
  const most = await together<number>(
    3,
    { calls: 100_000, period: 60, concurrency: 5 },
    `let most = 0;
     const call = api.sleepAndRetry(async () => {
       most = Math.max(most, Atomics.add(counter, 0, 1) + 1);
       await new Promise((resolve) => setImmediate(resolve));
       Atomics.sub(counter, 0, 1);
     });
     await Promise.all(Array.from({ length: 300 }, () => call()));
     report(most);`,
  );
  expect(Math.max(...most)).toBe(5);
  expect(threads.counter[0]).toBe(0);
});

it('threads that ask as fast as they can get no slot twice', async () => {
  const most = await together<number>(
    3,
    { calls: 1_048_575, period: 0.001, concurrency: 1 },
    `let most = 0;
     for (let i = 0; i < ${isFull ? 300_000 : 60_000}; i++) {
       const release = api.tryTake();
       if (!release) continue;
       most = Math.max(most, Atomics.add(counter, 0, 1) + 1);
       Atomics.sub(counter, 0, 1);
       release();
     }
     report(most);`,
  );
  expect(Math.max(...most)).toBe(1);
});

it('a limit on which nobody waits keeps no timer, and one that lends slots keeps no process', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const api = limit({ calls: 2, period: 3600, concurrency: 2 });
  expect(api.shared.byteLength).toBeGreaterThan(0);
  const release = await api.take();
  api.tryTake();
  expect(timers()).toBe(before);
  const leaving = new AbortController();
  const waiting = expect(api.take(1, leaving.signal)).rejects.toThrow('aborted');
  expect(timers()).toBe(before + 1);
  leaving.abort();
  await waiting;
  release();
  expect(timers()).toBe(before);
});

describe('a thread that is killed', () => {
  async function holder(options: LimitOptions, shared: SharedArrayBuffer): Promise<Thread> {
    const body =
      "const release = await api.take(); report('has'); await permission(); release(); report('gave');";
    const thread = await threads.start(options, shared, body);
    expect(await thread.next()).toBe('has');
    return thread;
  }

  it('leaves its slots free at once to those who watch it', async () => {
    // The lease alone would take an hour.
    const options = { calls: 1000, period: 60, concurrency: 2, lease: 3600 };
    const api = limit(options);
    const holders = [await holder(options, api.shared), await holder(options, api.shared)];
    for (const { worker } of holders) api.watch(worker);
    expect(api.tryTake()).toBeUndefined();
    const waiting = api.take();
    await holders[0]?.kill();
    const release = await waiting;
    expect(api.snapshot().running).toBe(2);
    expect(api.tryTake()).toBeUndefined();
    release();
    expect(api.snapshot().running).toBe(1);
  });

  it('leaves its slots free after the lease to all, and one that lives keeps its own', async () => {
    const options = { calls: 1000, period: 60, concurrency: 2, lease: 1 };
    const api = limit(options);
    const words = new BigInt64Array(api.shared);
    const [dies, lives] = [await holder(options, api.shared), await holder(options, api.shared)];
    const began = timeOf(Atomics.load(words, WORD.slots + 1));
    expect(api.tryTake()).toBeUndefined();
    await dies.kill();
    const release = await api.take();
    await until('signs of life for longer than a lease', () => {
      return timeOf(Atomics.load(words, WORD.slots + 1)) > began + 1000;
    });
    expect(api.snapshot().running).toBe(2);
    expect(api.tryTake()).toBeUndefined();
    // It frees the slot by its last sign of life, whatever that was.
    lives.tell();
    expect(await lives.next()).toBe('gave');
    expect(api.snapshot().running).toBe(1);
    release();
  });

  it.each([false, true])('at any moment leaves the count whole: strict %s', async (strict) => {
    const options = { calls: 7, period: 0.001, strict };
    const api = limit(options);
    for (let i = 0; i < (isFull ? 8 : 4); i++) {
      const thread = await threads.start(options, api.shared, "report('runs'); for (;;) api.tryTake();");
      await thread.next();
      await thread.kill();
    }
    for (let i = 0; i < 20; i++) await api.take(7);
    expect(api.snapshot().used).toBeLessThanOrEqual(7);
  });
});
