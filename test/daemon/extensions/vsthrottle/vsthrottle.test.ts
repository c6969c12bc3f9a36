// Token buckets on a clock that the test moves, and the functions that a program calls.
import { describe, expect, it } from 'vitest';
import { OwnState } from '../../../../daemon/contract/own-state.ts';
import { Buckets } from '../../../../daemon/extensions/vsthrottle/vsthrottle.ts';
import { task } from '../../vcl/fake-task.ts';

const RULE = { limit: 3, period: 3, block: 0 };

function denials(b: Buckets, times: readonly number[], rule = RULE): boolean[] {
  return times.map((now) => b.isDenied('k', rule, now));
}

describe('a bucket', () => {
  it('gives its tokens, and whole new ones as time passes', () => {
    const b = new Buckets(new OwnState());
    expect(denials(b, [0, 0, 0, 0, 0.9])).toEqual([false, false, false, true, true]);
    // As varnishd has it: the first token after a second, counted from the last one taken.
    expect(denials(b, [1, 1.9, 2])).toEqual([false, true, false]);
  });

  it('never holds more than its limit', () => {
    const b = new Buckets(new OwnState());
    expect(denials(b, [0, 1000, 1000, 1000, 1000])).toEqual([false, false, false, false, true]);
  });

  it('loses no token when a thread comes late that read the clock before another', () => {
    const b = new Buckets(new OwnState());
    expect(denials(b, [5, 4.999, 5, 4.999])).toEqual([false, false, false, true]);
    // New tokens count from the latest hour.
    expect(denials(b, [5.9995, 6])).toEqual([true, false]);
  });

  it('reports how many remain without changing it', () => {
    const b = new Buckets(new OwnState());
    expect(b.remaining('k', RULE, 0)).toBe(3);
    denials(b, [0, 0, 0]);
    for (const now of [1.0, 1.2, 1.4, 1.6, 1.8]) expect(b.remaining('k', RULE, now)).toBe(1);
    expect(b.remaining('k', RULE, 2)).toBe(2);
  });

  it('takes tokens back up to the limit', () => {
    const b = new Buckets(new OwnState());
    denials(b, [0, 0]);
    b.returnToken('k', RULE, 0);
    expect(b.remaining('k', RULE, 0)).toBe(2);
    for (let i = 0; i < 5; i++) b.returnToken('k', RULE, 0);
    expect(b.remaining('k', RULE, 0)).toBe(3);
  });

  it('is another one for another rule, and gone when it is removed', () => {
    const b = new Buckets(new OwnState());
    denials(b, [0, 0, 0]);
    expect(b.isDenied('k', { ...RULE, period: 4 }, 0)).toBe(false);
    expect(b.isDenied('k', { ...RULE, block: 1 }, 0)).toBe(false);
    expect(b.isDenied('other', RULE, 0)).toBe(false);
    b.remove('k', RULE);
    expect(b.remaining('k', RULE, 0)).toBe(3);
  });

  it('blocks a key whose tokens are used up', () => {
    const b = new Buckets(new OwnState());
    const rule = { limit: 1, period: 1, block: 5 };
    expect(denials(b, [0, 0], rule)).toEqual([false, true]);
    expect([b.blocked('k', rule, 1), b.blocked('k', rule, 6)]).toEqual([4, 0]);
    expect(denials(b, [0.5, 5.1], rule)).toEqual([true, false]);
  });

  it('takes what comes back from who continues while blocked', () => {
    const b = new Buckets(new OwnState());
    const rule = { limit: 1, period: 1, block: 5 };
    // The token of 4.5 is used up when the block ends at 5: the next one blocks again.
    expect(denials(b, [0, 0, 4.5, 5.2], rule)).toEqual([false, true, true, true]);
    expect(b.blocked('k', rule, 6)).toBeCloseTo(4.2);
    expect(denials(b, [10.3], rule)).toEqual([false]);
  });

  it.each([
    { limit: 0, period: 1, block: 0 },
    { limit: -1, period: 1, block: 0 },
    { limit: 1, period: 0, block: 0 },
    { limit: 1, period: -1, block: 0 },
  ])('denies under a rule without sense, and keeps nothing: %j', (rule) => {
    const b = new Buckets(new OwnState());
    expect(b.isDenied('k', rule, 0)).toBe(true);
    expect(b.remaining('k', rule, 0)).toBe(Math.max(0, rule.limit));
    expect(b.size).toBe(0);
  });
});

describe('memory', () => {
  it('is bounded: the key not asked for longest goes', () => {
    const b = new Buckets(new OwnState(), 100);
    const rule = { limit: 1, period: 1000, block: 0 };
    b.isDenied('first', rule, 0);
    for (let i = 0; i < 99; i++) b.isDenied(`k${i}`, rule, 0);
    b.isDenied('first', rule, 0);
    for (let i = 0; i < 50; i++) b.isDenied(`n${i}`, rule, 0);
    expect(b.size).toBeLessThanOrEqual(100);
    expect(b.isDenied('first', rule, 0)).toBe(true);
    expect(b.isDenied('k0', rule, 0)).toBe(false);
  });

  it('forgets what is full again', () => {
    const b = new Buckets(new OwnState());
    for (let i = 0; i < 1000; i++) b.isDenied(`k${i}`, RULE, 0);
    for (let i = 0; i < 600; i++) b.isDenied('again', { ...RULE, limit: i + 1 }, 100);
    expect(b.size).toBeLessThan(700);
  });

  it('does not keep long keys, and does not mix them up', () => {
    const b = new Buckets(new OwnState());
    const long = 'x'.repeat(5000);
    denials(b, [0]);
    expect(b.isDenied(`${long}a`, { ...RULE, limit: 1 }, 0)).toBe(false);
    expect(b.isDenied(`${long}b`, { ...RULE, limit: 1 }, 0)).toBe(false);
    expect(b.isDenied(`${long}a`, { ...RULE, limit: 1 }, 0)).toBe(true);
  });
});

describe('the functions', () => {
  it('share their buckets, and know a key that is not there', () => {
    const t = task(
      `import vsthrottle; sub vcl_recv {
      set req.http.a = vsthrottle.is_denied(req.http.k, 2, 1000s);
      set req.http.b = vsthrottle.remaining(req.http.k, 2, 1000s);
      set req.http.c = vsthrottle.blocked(req.http.k, 2, 1000s, 0s);
      vsthrottle.return_token(req.http.k, 2, 1000s);
      set req.http.d = vsthrottle.remaining(req.http.k, 2, 1000s);
      set req.http.e = vsthrottle.is_denied(req.http.none, 2, 1000s) + " " + vsthrottle.remaining(req.http.none, 2, 1000s) + " " + vsthrottle.blocked(req.http.none, 2, 1000s, 0s);
      vsthrottle.remove_bucket(req.http.k, 2, 1000s);
      return (pass); }`,
      { k: 'unit-test-key' },
    );
    expect(t.run('recv')).toBe('pass');
    expect(['a', 'b', 'c', 'd', 'e'].map((n) => t.req.http.get(n))).toEqual([
      'false',
      '1',
      '0.000',
      '2',
      'true -1 -1.000',
    ]);
  });
});
