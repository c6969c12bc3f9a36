// Several limits at once: all or none, in order of arrival, without overtaking.
import { describe, expect, it } from 'vitest';
import { allOf, type Limit, type LimitOptions, limit } from '../../../daemon/throttle/throttle.ts';
import { HandClock, settled } from './hand-clock.ts';

const clock = new HandClock();
const make = (calls: number, more: Partial<LimitOptions> = {}) =>
  limit({ calls, period: 60, clock, ...more });
const used = (...limits: Limit[]) => limits.map((one) => one.snapshot().used);

describe.each([false, true])('limits together, strict: %s', (strict) => {
  it('are taken all or none', async () => {
    const [requests, objects] = [make(2, { strict }), make(100, { strict })];
    const both = allOf([requests, objects]);
    expect(both.tryTake([1, 60])).toBeDefined();
    expect(used(requests, objects)).toEqual([1, 60]);
    expect(both.tryTake([1, 60])).toBeUndefined();
    expect(used(requests, objects)).toEqual([1, 60]);
    expect(both.tryTake()).toBeDefined();
    expect(both.tryTake()).toBeUndefined();
    expect(used(requests, objects)).toEqual([2, 61]);
  });

  it('give back what they took when another thread comes between', () => {
    const [first, second] = [make(3, { strict, concurrency: 1 }), make(3, { strict })];
    const elsewhere = make(3, { strict, shared: second.shared });
    // The other thread takes all of the second limit after it has been looked at.
    const look = first.gate.attempt.bind(first.gate);
    first.gate.attempt = (calls) => {
      elsewhere.tryTake(3);
      return look(calls);
    };
    const both = allOf([first, second]);
    expect(both.tryTake(2)).toBeUndefined();
    expect(first.snapshot()).toMatchObject({ used: 0, running: 0 });
    expect(used(second)).toEqual([3]);
  });

  it('wait for the last of them', async () => {
    const [fast, slow] = [make(1, { strict, period: 1 }), make(1, { strict, period: 60 })];
    const times: number[] = [];
    const start = clock.time;
    const call = allOf([fast, slow]).sleepAndRetry((x: string) => times.push(clock.time - start) && x);
    const all = Promise.all([call('a'), call('b'), call('c')]);
    await clock.advance(120_000);
    expect(await all).toEqual(['a', 'b', 'c']);
    expect(times).toEqual([0, 60_000, 120_000]);
    expect(clock.pending).toBe(0);
  });
});

describe('waiters for several limits', () => {
  it('overtake nobody who waits at one of them, though there is a call left', async () => {
    const [a, b] = [make(2), make(2)];
    expect(a.tryTake()).toBeDefined();
    const waiting = a.take(2);
    await settled();
    expect([a.snapshot().left, allOf([b, a]).tryTake()]).toEqual([1, undefined]);
    await clock.advance(60_000);
    await waiting;
  });

  it('are served after those who came before', async () => {
    const [a, b] = [make(1), make(2)];
    const order: string[] = [];
    expect(a.tryTake()).toBeDefined();
    const all = [
      a.take().then(() => order.push('one')),
      allOf([b, a])
        .take()
        .then(() => order.push('both')),
    ];
    await clock.advance(60_000);
    expect(order).toEqual(['one']);
    await clock.advance(60_000);
    await Promise.all(all);
    expect(order).toEqual(['one', 'both']);
  });

  it('continue when a slot or a queue of one becomes free, without a timer', async () => {
    const [a, b] = [make(10, { concurrency: 1 }), make(10)];
    const both = allOf([a, b]);
    const first = await both.take();
    const second = both.take();
    await settled();
    expect([a.snapshot().running, clock.pending]).toEqual([1, 0]);
    first();
    (await second)();
    expect([a.snapshot().running, ...used(a, b)]).toEqual([0, 2, 2]);
  });

  it('leave by the signal, and listen to no limit any more', async () => {
    const a = make(1);
    const both = allOf([a]);
    const leaving = new AbortController();
    expect(a.tryTake()).toBeDefined();
    const waiting = expect(both.take(1, leaving.signal)).rejects.toThrow('enough');
    await settled();
    expect(clock.pending).toBe(1);
    leaving.abort(new Error('enough'));
    await waiting;
    expect(clock.pending).toBe(0);
    expect(a.queue).toMatchObject({ watchers: new Set() });
  });
});

describe('a list of limits', () => {
  it('is refused when it cannot be', async () => {
    const a = make(2);
    expect(() => allOf([])).toThrow(
      'allOf(): its argument is not a list of limits; give [limit({…}), limit({…})]',
    );
    expect(() => allOf([{} as Limit])).toThrow('not a list of limits');
    expect(() => allOf([a, a])).toThrow('a limit is in the list twice');
    const both = allOf([a, make(5)]);
    expect(() => both.tryTake([1])).toThrow('give one number, or 2 in a list, one for each limit');
    expect(() => both.tryTake([1, 6])).toThrow(
      'tryTake() of limit 2: the number of calls is 6; give a whole number from 1 to 5',
    );
    await expect(both.take(3)).rejects.toThrow('take() of limit 1: the number of calls is 3');
    expect(used(a)).toEqual([0]);
  });
});
