// Limits on a clock that the test moves: windows, penalties, those who wait and those who leave, calls at once.
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type LimitOptions, limit } from '../../../daemon/throttle/throttle.ts';
import { HandClock, settled } from './hand-clock.ts';

function made(options: Partial<LimitOptions> = {}, start = 0) {
  const clock = new HandClock(start);
  const api = limit({ calls: 30, period: 60, clock, ...options });
  /** When the calls were made. */
  const made: number[] = [];
  const call = api.sleepAndRetry(() => made.push(clock.time - start));
  return { clock, api, call, made };
}

describe.each([false, true])('a limit, strict: %s', (strict) => {
  it.each([0, 12_345, 1e9 + 0.25, Date.now()])(
    '60 calls at 30 a minute are 30, a wait, and 30: from %d',
    async (start) => {
      const { clock, call, made: times } = made({ strict }, start);
      const all = Promise.all(Array.from({ length: 60 }, () => call()));
      await settled();
      expect(times).toEqual(Array(30).fill(0));
      await clock.advance(59_999);
      expect(times).toHaveLength(30);
      await clock.advance(2);
      await all;
      expect(times).toHaveLength(60);
      for (const time of times.slice(30)) {
        expect(time).toBeGreaterThanOrEqual(60_000);
        expect(time).toBeLessThanOrEqual(60_001);
      }
      expect(clock.pending).toBe(0);
    },
  );

  it('one call a period, the shortest period and the most calls', async () => {
    const one = made({ strict, calls: 1, period: 0.001 });
    const all = Promise.all([one.call(), one.call(), one.call()]);
    await one.clock.advance(10);
    await all;
    expect(one.made).toEqual([0, 1, 2]);
    const most = made({ strict, calls: 1_048_575, period: 31_622_400 });
    expect(most.api.tryTake(1_048_575)).toBeTypeOf('function');
    expect(most.api.tryTake()).toBeUndefined();
    await most.clock.advance(31_622_400_000 - 1);
    expect(most.api.tryTake()).toBeUndefined();
    await most.clock.advance(1);
    expect(most.api.tryTake(1_048_575)).toBeTypeOf('function');
  });

  it('a period that is no whole number of milliseconds is rounded up, whatever the hour', async () => {
    const { clock, api } = made({ strict, calls: 1, period: 0.0105 }, 100.9);
    expect(api.tryTake()).toBeDefined();
    await clock.advance(10.5);
    expect(api.tryTake()).toBeUndefined();
    await clock.advance(1.6);
    expect(api.tryTake()).toBeDefined();
  });

  it('several calls at once are all or none', async () => {
    const { clock, api } = made({ strict, calls: 5 });
    expect(api.tryTake(4)).toBeDefined();
    expect(api.tryTake(2)).toBeUndefined();
    expect(api.snapshot()).toMatchObject({ used: 4, left: 1, wait: 0 });
    expect(api.tryTake()).toBeDefined();
    expect(api.snapshot()).toMatchObject({ used: 5, left: 0, wait: 60_000 });
    await clock.advance(60_000);
    expect(api.snapshot()).toMatchObject({ used: 0, left: 5, wait: 0 });
  });

  it('a penalty holds all calls back and opens the next window, and a shorter one does not end it', async () => {
    const { clock, api, call, made: times } = made({ strict, calls: 2 });
    await call();
    api.penalize(90_000);
    api.penalize(10);
    expect(api.snapshot()).toMatchObject({ penalty: 90_000, wait: 90_000 });
    const all = Promise.all([call(), call(), call()]);
    await clock.advance(89_999);
    expect(times).toEqual([0]);
    await clock.advance(60_001);
    await all;
    expect(times).toEqual([0, 90_000, 90_000, 150_000]);
  });

  it('a penalty shorter than the window gives back nothing of it', async () => {
    const { clock, api, call, made: times } = made({ strict, calls: 2 });
    await Promise.all([call(), call()]);
    api.penalize(1000);
    const third = call();
    await clock.advance(59_999);
    expect(times).toHaveLength(2);
    await clock.advance(1);
    await third;
  });

  it('a clock that goes back makes no wait longer and gives no call more', async () => {
    const { clock, api, call, made: times } = made({ strict, calls: 2 }, 1e6);
    await Promise.all([call(), call()]);
    const third = call();
    clock.time -= 500_000;
    expect(api.tryTake()).toBeUndefined();
    expect(api.snapshot().wait).toBe(60_000);
    api.penalize(70_000);
    clock.time -= 400_000;
    expect(api.snapshot().penalty).toBe(70_000);
    await clock.advance(69_999);
    expect(times).toHaveLength(2);
    await clock.advance(960_000);
    await third;
    expect(api.snapshot().used).toBe(0);
  });

  it('a thread whose clock lags the others waits for one period at most', async () => {
    const first = made({ strict, calls: 2 }, 1e6);
    expect(first.api.tryTake(2)).toBeDefined();
    const behind = made({ strict, calls: 2, shared: first.api.shared }, 1000);
    const calls = Promise.all([behind.call(), behind.call(), behind.call()]);
    await behind.clock.advance(59_999);
    expect(behind.made).toEqual([]);
    await behind.clock.advance(60_002);
    await calls;
    expect(behind.made).toHaveLength(3);
  });
});

describe('a window', () => {
  it('is opened by the first call, and by the first call after its end', async () => {
    const { clock, api } = made({ calls: 2 });
    await clock.advance(45_000);
    expect(api.tryTake()).toBeDefined();
    await clock.advance(59_999);
    expect(api.tryTake(2)).toBeUndefined();
    await clock.advance(30_001);
    expect(api.tryTake(2)).toBeDefined();
    await clock.advance(59_999);
    expect(api.tryTake()).toBeUndefined();
    await clock.advance(1);
    expect(api.tryTake()).toBeDefined();
  });

  it('lets twice as many through at its border, where it is not strict', async () => {
    for (const [strict, later] of [
      [false, 6],
      [true, 4],
    ] as const) {
      const { clock, call, made: times } = made({ strict, calls: 3 });
      await call();
      await clock.advance(59_000);
      await Promise.all([call(), call()]);
      const all = Promise.all([call(), call(), call()]);
      await clock.advance(1000);
      expect([strict, times.length]).toEqual([strict, later]);
      await clock.advance(120_000);
      await all;
    }
  });
});

describe('waiters', () => {
  it('are served in the order of their arrival, and nobody overtakes', async () => {
    const { clock, api } = made({ calls: 3 });
    const order: string[] = [];
    const take = (name: string, n: number) => api.take(n).then(() => order.push(name));
    const all = [take('a', 2), take('b', 3), take('c', 1), take('d', 1)];
    await settled();
    // One call is left, but b came before c.
    expect(order).toEqual(['a']);
    expect(api.tryTake()).toBeUndefined();
    expect(api.snapshot()).toMatchObject({ waiting: 3, left: 1 });
    await clock.advance(60_000);
    expect(order).toEqual(['a', 'b']);
    await clock.advance(60_000);
    await Promise.all(all);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
    expect(api.snapshot().waiting).toBe(0);
  });

  it('make way when they leave, and take nothing', async () => {
    const { clock, api } = made({ calls: 3 });
    expect(api.tryTake(2)).toBeDefined();
    const leaving = new AbortController();
    const first = api.take(3, leaving.signal);
    const second = api.take(1);
    const refused = expect(first).rejects.toThrow('too late');
    await settled();
    leaving.abort(new Error('too late'));
    await refused;
    await second;
    expect(api.snapshot()).toMatchObject({ used: 3, waiting: 0 });
    expect(clock.pending).toBe(0);
    await expect(api.take(1, leaving.signal)).rejects.toThrow('too late');
    await clock.advance(60_000);
    await expect(api.take(1, leaving.signal)).rejects.toThrow('too late');
    expect(api.snapshot().used).toBe(0);
  });

  it('leave from the middle without a change for the others', async () => {
    const { clock, api } = made({ calls: 1 });
    const order: number[] = [];
    const leaving = new AbortController();
    const all = [0, 1, 2, 3].map((i) =>
      api.take(1, i === 2 ? leaving.signal : undefined).then(() => order.push(i)),
    );
    await settled();
    leaving.abort();
    await expect(all[2]).rejects.toThrow('aborted');
    await clock.advance(120_000);
    expect(order).toEqual([0, 1, 3]);
    expect(clock.pending).toBe(0);
  });

  it('and got their turn leave nothing at a signal that lives longer', async () => {
    const { clock, api } = made({ calls: 1 });
    const { signal } = new AbortController();
    const both = Promise.all([api.take(1, signal), api.take(1, signal)]);
    await settled();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await clock.advance(60_000);
    await both;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('keep one timer, and none when the last has left', async () => {
    const { clock, api } = made({ calls: 1 });
    const leaving = new AbortController();
    expect(api.tryTake()).toBeDefined();
    expect(clock.pending).toBe(0);
    const all = Promise.allSettled(Array.from({ length: 10 }, () => api.take(1, leaving.signal)));
    await settled();
    expect(clock.pending).toBe(1);
    leaving.abort();
    expect(clock.pending).toBe(0);
    expect((await all).every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('get the error of a clock that gives no number', async () => {
    const { clock, api } = made({ calls: 1 });
    expect(api.tryTake()).toBeDefined();
    const waiting = expect(api.take()).rejects.toThrow('clock.now() gave NaN');
    await settled();
    clock.now = () => Number.NaN;
    await clock.advance(60_000);
    await waiting;
  });
});

describe('calls at once', () => {
  it('are never more than the concurrency: 50 a minute, 5 at once', async () => {
    const { clock, api } = made({ calls: 50, concurrency: 5 });
    let running = 0;
    let most = 0;
    let done = 0;
    const call = api.sleepAndRetry(async () => {
      most = Math.max(most, ++running);
      expect(api.snapshot().running).toBeGreaterThanOrEqual(running);
      expect(api.snapshot().running).toBeLessThanOrEqual(5);
      await new Promise<void>((resolve) => clock.after(1000, resolve));
      running--;
      done++;
    });
    const all = Promise.all(Array.from({ length: 60 }, () => call()));
    await clock.advance(4000);
    expect([done, most]).toEqual([20, 5]);
    await clock.advance(55_999);
    expect(done).toBe(50);
    await clock.advance(3001);
    await all;
    expect([done, most, api.snapshot().running]).toEqual([60, 5, 0]);
  });

  it('give their slots back when they fail, and a slot only once', async () => {
    const { api } = made({ concurrency: 1 });
    const fail = api.sleepAndRetry((text: string) => {
      throw new Error(text);
    });
    await expect(fail('one')).rejects.toThrow('one');
    const release = await api.take();
    const next = api.take();
    release();
    const kept = await next;
    release();
    expect(api.snapshot().running).toBe(1);
    expect(api.tryTake()).toBeUndefined();
    kept();
    expect(api.tryTake()).toBeDefined();
  });

  it('count when they begin, not when they came: a slot that comes free late is of the later window', async () => {
    const { clock, api, call, made: times } = made({ calls: 2, concurrency: 1 });
    const release = await api.take();
    const waiting = call();
    await clock.advance(60_000);
    expect(times).toEqual([]);
    expect(api.snapshot().used).toBe(0);
    release();
    await waiting;
    expect(times).toEqual([60_000]);
    expect(api.snapshot().used).toBe(1);
  });

  it('are held back by a penalty as others are', async () => {
    const { clock, api } = made({ calls: 2, concurrency: 1 });
    api.penalize(1000);
    expect(api.tryTake()).toBeUndefined();
    expect(api.snapshot()).toMatchObject({ running: 0, wait: 1000 });
    await clock.advance(1000);
    expect(api.tryTake()).toBeDefined();
  });

  it('use no slot while they wait for the window', async () => {
    const { clock, api } = made({ calls: 1, concurrency: 1 });
    (await api.take())();
    const second = api.take();
    await settled();
    expect(api.snapshot()).toMatchObject({ running: 0, waiting: 1 });
    await clock.advance(60_000);
    (await second)();
  });
});

describe('the function of sleepAndRetry', () => {
  it('gets its arguments, gives its result, and stops waiting by the signal', async () => {
    const { api } = made({ calls: 2 });
    const leaving = new AbortController();
    const sum = api.sleepAndRetry(async (a: number, b: number) => a + b, leaving.signal);
    expect(await sum(1, 2)).toBe(3);
    expect(await sum(3, 4)).toBe(7);
    const third = expect(sum(5, 6)).rejects.toThrow('aborted');
    leaving.abort();
    await third;
  });
});

describe('what cannot be', () => {
  const cases: [Partial<Record<keyof LimitOptions, unknown>>, string][] = [
    [
      { calls: 0 },
      'limit(): calls is 0; give a whole number from 1 to 1048575: how many calls a period allows',
    ],
    [{ calls: 1.5 }, 'calls is 1.5'],
    [{ calls: '30' }, "calls is the text '30'"],
    [{ calls: 1_048_576 }, 'calls is 1048576'],
    [{ calls: undefined }, 'calls is undefined'],
    [{ period: 0 }, 'limit(): period is 0; give seconds from 0.001 to 31622400: how long a period is'],
    [{ period: Number.NaN }, 'period is NaN'],
    [{ period: 1e9 }, 'period is 1000000000'],
    [{ strict: 1 }, 'limit(): strict is 1; give true or false'],
    [{ concurrency: 0 }, 'concurrency is 0; give a whole number from 1 to 4096'],
    [{ concurrency: 5000 }, 'concurrency is 5000'],
    [{ lease: -1 }, 'lease is -1; give seconds'],
    [
      { shared: new ArrayBuffer(1024) },
      'shared is an object (ArrayBuffer); give what `shared` is of a limit',
    ],
    [{ shared: new SharedArrayBuffer(1024) }, 'not the memory of a limit'],
    [{ shared: new SharedArrayBuffer(8) }, 'shared is an object (SharedArrayBuffer)'],
  ];
  it.each(cases)('%j is refused', (options, text) => {
    expect(() => made(options as Partial<LimitOptions>)).toThrow(text);
  });

  it.each([
    [{ calls: 31 }, 'calls is 31 here, but 30 where the memory was made; give all threads the same'],
    [{ period: 0.5 }, 'period is 0.5 s here, but 60 s where'],
    [{ strict: true }, 'strict is true here, but false where'],
    [{ concurrency: 5 }, 'concurrency is 5 here, but not limited where'],
  ] as [Partial<LimitOptions>, string][])(
    'another limit in the same memory is refused: %j',
    (options, text) => {
      const { api } = made();
      expect(() => made({ ...options, shared: api.shared })).toThrow(text);
    },
  );

  it('arguments are refused by name', async () => {
    const { api } = made();
    await expect(api.take(0)).rejects.toThrow(
      'take(): the number of calls is 0; give a whole number from 1 to 30: as many as the limit can ever give at once',
    );
    expect(() => api.tryTake(31)).toThrow('tryTake(): the number of calls is 31');
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => api.penalize(ms)).toThrow(`penalize(): the time is ${ms}; give milliseconds from 0 to`);
    expect(() => api.sleepAndRetry('f' as never)).toThrow("sleepAndRetry(): its argument is the text 'f'");
    expect(() => api.watch({ threadId: -1, once: () => undefined })).toThrow('watch(): the thread');
    expect(api.snapshot().used).toBe(0);
  });
});
