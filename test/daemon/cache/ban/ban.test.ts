import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Ban, banElements, banLines } from '../../../../daemon/cache/ban/ban.ts';
import {
  type BanExpression,
  type BanSubject,
  banMatches,
  durationText,
  parseBan,
  parseBanText,
} from '../../../../daemon/cache/ban/ban-expression.ts';
import { BanList, type BanVerdict, BanWalk, type TestBudget } from '../../../../daemon/cache/ban/ban-list.ts';
import { newCacheCounters } from '../../../../daemon/cache/cache-counters.ts';
import { HttpMessage } from '../../../../daemon/http1/message.ts';
import { runs } from '../../../harness/runs.ts';

function compileRegex(pattern: string): { test(text: string): boolean } {
  try {
    return new RegExp(pattern);
  } catch {
    throw new Error('missing closing parenthesis');
  }
}

function http(url: string, status: number, fields: [string, string][]): HttpMessage {
  const msg = new HttpMessage(0);
  msg.url = url;
  msg.status = status;
  for (const [name, value] of fields) msg.push(name.toLowerCase(), `${name}: ${value}`);
  return msg;
}

function parsed(text: string): BanExpression {
  const ban = parseBanText(text, compileRegex);
  if (typeof ban === 'string') throw new Error(ban);
  return ban;
}

const SUBJECT: BanSubject = {
  http: http('', 200, [
    ['Foo', 'bar'],
    ['ETag', '"x"'],
  ]),
  ttl: 100,
  age: 20,
  unused: 8,
  grace: 10,
  keep: 0,
  hitMiss: true,
  hitPass: false,
};
const REQUEST = http('/a/b', 0, [['Host', 'h']]);

describe('ban expressions', () => {
  // As varnishadm 7.1.1 answers.
  it.each([
    [['req.url', '~', '('], 'Regex compile error: missing closing parenthesis'],
    [['foo', '==', 'bar'], 'Unknown or unsupported field "foo"'],
    [['req.httpx.foo', '==', '1'], 'Unknown or unsupported field "req.httpx.foo"'],
    [['req.url', '=', 'x'], 'expected conditional (==, !=, ~ or !~) got "="'],
    [['obj.status', '>', '200'], 'expected conditional (==, !=, ~ or !~) got ">"'],
    [['obj.ttl', '~', '5'], 'expected conditional (==, !=, >, >=, < or <=) got "~"'],
    [['obj.ttl', '>', '5'], 'expected duration <n.nn>[ms|s|m|h|d|w|y] got "5"'],
    [['obj.last_hit', '~', '5s'], 'expected conditional (==, !=, >, >=, < or <=) got "~"'],
    [['obj.last_hit', '>', 'x'], 'expected duration <n.nn>[ms|s|m|h|d|w|y] got "x"'],
    // vmod_std(3) of Varnish after 9.0.
    [['obj.hfm', '~', 'true'], 'expected conditional (== or !=) got "~"'],
    [['obj.uncacheable', '==', '1'], 'expected boolean (true or false) got "1"'],
    [['obj.age', '>', '1m30s'], 'expected duration <n.nn>[ms|s|m|h|d|w|y] got "1m30s"'],
    [['req.url', '==', 'a', '||', 'req.url', '==', 'b'], 'Found "||" expected &&'],
    [['req.url', '==', 'a', '&&', 'x'], 'Wrong number of arguments'],
    [['req.url', '=='], 'Too few parameters'],
  ])('refuses %j', (words, message) => {
    expect(parseBan(words, compileRegex)).toBe(message);
  });

  // As reported by std.ban_error() of 7.1.1.
  it.each([
    ['', 'No ban conditions found.'],
    ['req.url', 'Expected comparison operator.'],
    ['req.url ==', 'Expected second operand.'],
    ['req.url ~ foo && ', 'No ban conditions found.'],
    ['req.url == a && x', 'Expected comparison operator.'],
    ['req.url == a || x == b', 'Expected && between conditions, found "||"'],
    ['req.url == a && x == b', 'Unknown or unsupported field "x"'],
    ['req.url == a && x == b || req.url', 'Unknown or unsupported field "x"'],
    ['x == b && req.url', 'Unknown or unsupported field "x"'],
  ])('refuses the text %j', (text, message) => {
    expect(parseBanText(text, compileRegex)).toBe(message);
  });

  it.each([
    ['req.url ~ ^/a', true],
    ['req.url !~ ^/a', false],
    ['req.url == /a/b && obj.http.foo == bar', true],
    ['req.url == /a/b && obj.http.foo == baz', false],
    ['obj.http.ETag == "x"', true],
    ['obj.http.absent == x', false],
    ['obj.http.absent != x', true],
    ['obj.http.absent ~ .', false],
    ['obj.http.absent !~ .', false],
    ['req.http.host != h', false],
    ['obj.status == 200', true],
    ['obj.status ~ ^5', false],
    ['obj.ttl > 99s', true],
    ['obj.ttl > 100s', false],
    ['obj.ttl >= 100s', true],
    ['obj.age < 20s', false],
    ['obj.age <= 20s', true],
    ['obj.grace == 10s', true],
    ['obj.keep != 0s', false],
    ['obj.last_hit > 7s', true],
    ['obj.last_hit >= 8s', true],
    ['obj.last_hit > 8s', false],
    ['obj.hfm == true', true],
    ['obj.hfm != true', false],
    ['obj.hfp == true', false],
    ['obj.hfp == false && obj.uncacheable == true', true],
    ['obj.uncacheable != true', false],
  ])('%s holds: %s', (text, holds) => {
    expect(banMatches(parsed(text), SUBJECT, REQUEST)).toBe(holds);
  });

  it('shows durations as Varnish does', () => {
    const shown = [1.25, 0.5, 3600, 90, 1000, 0, 0.0001, 31536000, 1209600, 691200, 3660, 0.1].map(
      durationText,
    );
    expect(shown).toEqual([
      '1.250s',
      '500ms',
      '1h',
      '90s',
      '1000s',
      '0s',
      '0s',
      '1y',
      '2w',
      '8d',
      '61m',
      '100ms',
    ]);
    expect(parsed('obj.grace < 1.5h').text).toBe('obj.grace < 90m');
  });
});

/** This many tests, and no more. */
function budget(tests: number): TestBudget {
  let left = tests;
  return {
    get more() {
      return left > 0;
    },
    spent(some) {
      left -= some;
    },
  };
}

/** Whether a ban newer than `from` takes an object out, tested in one go. */
function matches(list: BanList, from: number, of: BanSubject): boolean {
  const walk = new BanWalk();
  list.begin(walk);
  return list.test(walk, from, () => of, REQUEST, 200, budget(1000)) === 'banned';
}

describe('BanList', () => {
  const subject = (): BanSubject => SUBJECT;

  it('tests an object only against bans that are newer than the one it knows', () => {
    const counters = newCacheCounters();
    const list = new BanList(100, counters);
    list.ref();
    list.add(parsed('obj.http.foo == bar'), 101, true);
    const known = list.ref();
    list.add(parsed('obj.http.foo == other'), 102, true);
    expect(matches(list, known, SUBJECT)).toBe(false);
    expect(counters).toMatchObject({ bans_tested: 1, bans_tests_tested: 1 });
    expect(matches(list, 1, SUBJECT)).toBe(true);
  });

  it('completes older bans that say the same', () => {
    const counters = newCacheCounters();
    const list = new BanList(100, counters);
    list.ref();
    list.add(parsed('req.url ~ zz'), 101, true);
    list.add(parsed('obj.status == 1'), 102, true);
    list.add(parsed('req.url   ~ zz'), 103, true);
    expect(counters).toMatchObject({ bans: 4, bans_completed: 2, bans_dups: 1, bans_obj: 1, bans_req: 2 });
    matches(list, 1, SUBJECT);
    expect(counters).toMatchObject({ bans_tested: 1, bans_tests_tested: 2 });
  });

  it('finds them by what they say, however many there are', () => {
    const list = new BanList(100, newCacheCounters());
    for (let i = 0; i < 2000; i++) list.add(parsed(`req.url == /${i}`), 101, true);
    const completed = vi.spyOn(Ban.prototype, 'completed', 'get');
    for (let i = 0; i < 100; i++) list.add(parsed(`req.url == /${i}`), 102, true);
    for (let i = 0; i < 100; i++) list.add(parsed(`req.url == /new/${i}`), 102, true);
    const looks = completed.mock.calls.length;
    completed.mockRestore();
    expect(looks).toBeLessThan(500);
  });

  it('completes what going through all of them would, whatever goes meanwhile', () => {
    const step = fc.oneof(
      {
        arbitrary: fc.record({
          k: fc.constant('add' as const),
          n: fc.nat(2),
          soft: fc.boolean(),
          dups: fc.boolean(),
        }),
        weight: 4,
      },
      fc.record({ k: fc.constant('complete' as const), n: fc.nat(10) }),
      fc.record({ k: fc.constant('drop' as const), n: fc.nat(3) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const counters = newCacheCounters();
        const list = new BanList(100, counters);
        let model = [{ text: '', completed: true }];
        let dups = 0;
        for (const s of steps) {
          if (s.k === 'add') {
            const text = `obj.status == ${s.n}`;
            for (const old of model) {
              if (!s.dups || s.soft || old.completed || old.text !== text) continue;
              old.completed = true;
              dups++;
            }
            list.add(parsed(text), 101, s.dups, s.soft);
            model = [{ text, completed: false }, ...model];
          } else if (s.k === 'complete') {
            const bans = [...list];
            list.complete(bans[s.n % bans.length] as Ban);
            (model[s.n % model.length] as { completed: boolean }).completed = true;
          } else {
            model = model.slice(0, model.length - list.dropTail(s.n));
          }
          expect([...list].map(({ completed, expression: { text } }) => ({ completed, text }))).toEqual(
            model,
          );
          for (const ban of list) {
            const { refs } = ban;
            list.refAt(ban.number);
            expect(ban.refs).toBe(refs + 1);
            list.unref(ban.number);
          }
        }
        expect([counters.bans_dups, counters.bans]).toEqual([dups, model.length]);
      }),
      { numRuns: runs(300) },
    );
  });

  it('asks for ttl and age as they were when the ban was made, so that no two of them say the same', () => {
    const counters = newCacheCounters();
    const list = new BanList(100, counters);
    const first = list.ref();
    const aged = { ...SUBJECT, age: 10, ttl: 5 };
    list.add(parsed('obj.age > 7s'), 195, true);
    expect(matches(list, first, aged)).toBe(false);
    list.add(parsed('obj.ttl < 7s'), 197, true);
    expect(matches(list, first, aged)).toBe(false);
    list.add(parsed('obj.age > 7s'), 198, true);
    expect(matches(list, first, aged)).toBe(true);
    expect(counters.bans_dups).toBe(0);
  });

  it('compares numbers that wrap by their distance, and never uses 0', () => {
    for (const start of [2 ** 31 - 2, -3]) {
      const list = new BanList(100, newCacheCounters(), null, start);
      const refs = Array.from({ length: 6 }, (_, i) => {
        const number = list.ref();
        list.add(parsed(`req.url == /${i}`), 101 + i, false);
        return number;
      });
      expect(refs).not.toContain(0);
      expect(new Set(refs).size).toBe(6);
      const asked = new HttpMessage(0);
      asked.url = '/3';
      const banned = refs.map((number) => {
        const walk = new BanWalk();
        list.begin(walk);
        const budget = { more: true, spent: () => undefined };
        return list.test(walk, number, () => SUBJECT, asked, 200, budget) === 'banned';
      });
      expect(banned).toEqual([true, true, true, true, false, false]);
      for (const number of refs) list.unref(number);
      expect(list.dropTail()).toBe(6);
    }
  });

  it('drops bans from the old end as soon as no object needs them, and keeps one', () => {
    const counters = newCacheCounters();
    const list = new BanList(100, counters);
    const first = list.ref();
    list.add(parsed('req.url ~ a'), 101, false);
    const second = list.ref();
    list.add(parsed('req.url ~ b'), 102, false);
    expect(list.dropTail()).toBe(0);
    list.unref(second);
    expect(list.dropTail()).toBe(0);
    list.unref(first);
    expect(list.dropTail()).toBe(2);
    expect([...list].map((ban) => ban.expression.text)).toEqual(['req.url ~ b']);
    expect(counters).toMatchObject({ bans: 1, bans_deleted: 2, bans_req: 1, bans_completed: 0 });
  });

  it('counts what asks for both a request and the object as either', () => {
    const counters = newCacheCounters();
    const list = new BanList(100, counters);
    list.add(parsed('req.url ~ a && obj.status == 200'), 101, false);
    expect(counters).toMatchObject({ bans: 2, bans_req: 1, bans_obj: 1 });
    expect(counters.bans_persisted_bytes).toBeGreaterThan(32);
    list.add(parsed('obj.status == 200'), 102, false);
    list.dropTail();
    expect(counters).toMatchObject({ bans: 1, bans_req: 0, bans_obj: 1 });
    expect(counters.bans_persisted_fragmentation).toBeGreaterThan(32);
  });

  it('continues with a test where its budget ended, and takes in later what has come meanwhile', () => {
    const counters = newCacheCounters();
    const list = new BanList(100, counters);
    const first = list.ref();
    for (let i = 0; i < 5; i++) list.add(parsed(`req.url == /${i}`), 101, false);
    const walk = new BanWalk();
    list.begin(walk);
    const top = list.current;
    const go = (tests: number): BanVerdict => list.test(walk, first, subject, REQUEST, 200, budget(tests));
    expect([go(2), counters.bans_tests_tested]).toEqual(['unfinished', 2]);
    list.add(parsed('req.url == /a/b'), 102, false);
    expect([go(2), counters.bans_tests_tested]).toEqual(['unfinished', 4]);
    expect([go(2), counters.bans_tests_tested, walk.top]).toEqual(['passed', 5, top]);
    expect(matches(list, top, SUBJECT)).toBe(true);
    expect(counters.bans_tested).toBe(2);
  });

  it('is listed as ban.list has it', () => {
    const list = new BanList(1795222391.401192, newCacheCounters());
    list.ref();
    list.ref();
    list.add(parsed('obj.http.x == a"b'), 1795222393.060938, true);
    expect([...banLines(list)].join('')).toBe(
      'Present bans:\n1795222393.060938     0 -  obj.http.x == a"b\n1795222391.401192     2 C  \n',
    );
    expect([...banElements(list)].join(',\n')).toBe(
      '  {\n    "time": 1795222393.060938,\n    "refs": 0,\n    "completed": false,\n    "spec": "obj.http.x == a\\"b"\n},\n' +
        '  {\n    "time": 1795222391.401192,\n    "refs": 2,\n    "completed": true,\n    "spec": ""\n}',
    );
  });
});
