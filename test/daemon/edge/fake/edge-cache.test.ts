// The cache of the fake edge: lifetimes, variants, what is cleared while it is being fetched, its bound. Rules read back
// are those that were written.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eccuXml, parseRule, ruleText } from '../../../../daemon/edge/eccu-rule.ts';
import { readEccu, ruleMatches } from '../../../../daemon/edge/fake/eccu-match.ts';
import { EdgeCache, type EdgeReply, edgeLifetime } from '../../../../daemon/edge/fake/edge-cache.ts';

const A = { host: 'a.example', path: '/a' };

function reply(fields: Record<string, string>, body = 'body'): EdgeReply {
  const whole = { 'edge-control': 'max-age=70', ...fields };
  return { status: 200, rawHeaders: [], fields: whole, body: Buffer.from(body) };
}

describe('lifetime', () => {
  it.each<[Record<string, string>, number | null]>([
    [{ 'edge-control': 'max-age=70', 'cache-control': 'no-store' }, 70],
    [{ 'edge-control': 'max-age=70', age: '20' }, 50],
    [{ 'edge-control': 'max-age=10m' }, 600],
    [{ 'edge-control': 'no-store', 'cache-control': 'max-age=60' }, null],
    [{ 'edge-control': '!no-store' }, null],
    [{ 'cache-control': 'max-age=60, s-maxage=9' }, 9],
    [{ 'cache-control': 'private, max-age=60' }, null],
    [{ 'cache-control': 'max-age=60', 'set-cookie': 'a=b' }, null],
    [{ 'edge-control': 'max-age=70', vary: '*' }, null],
    [{}, null],
  ])('%o: %s', (fields, seconds) => expect(edgeLifetime(200, fields)).toBe(seconds));
  it('none for an error', () => expect(edgeLifetime(503, { 'edge-control': 'max-age=70' })).toBe(null));
});

describe('copies', () => {
  it('are fresh for their time, and after that only there to be asked about', () => {
    let now = 0;
    const cache = new EdgeCache(() => now, 1000);
    cache.keep(cache.fetchBegins(), A, {}, reply({}));
    const copy = cache.find(A, {});
    expect(copy).not.toBeNull();
    if (copy === null) return;
    now = 69_999;
    expect([cache.isFresh(copy), cache.age(copy)]).toEqual([true, 69]);
    now = 70_000;
    expect(cache.isFresh(copy)).toBe(false);
  });

  it('are kept for each variant', () => {
    const cache = new EdgeCache(() => 0, 1000);
    for (const language of ['en', 'de']) {
      const request = { 'accept-language': language };
      cache.keep(cache.fetchBegins(), A, request, reply({ vary: 'Accept-Language' }, language));
    }
    expect(cache.find(A, { 'accept-language': 'de' })?.reply.body.toString()).toBe('de');
    expect(cache.find(A, { 'accept-language': 'fr' })).toBeNull();
    expect(cache.clear('delete', ({ path }) => path === '/a')).toBe(2);
    expect(cache.size).toBe(0);
  });

  it.each(['delete', 'invalidate'] as const)('a %s overtakes a fetch that began before it', (kind) => {
    const cache = new EdgeCache(() => 0, 1000);
    const early = cache.fetchBegins();
    cache.clear(kind, ({ path }) => path === '/a');
    const late = cache.fetchBegins();
    cache.keep(early, A, {}, reply({}, 'old'));
    expect(cache.find(A, {})).toBeNull();
    cache.over(early);
    cache.keep(late, A, {}, reply({}, 'new'));
    expect(cache.find(A, {})?.reply.body.toString()).toBe('new');
  });

  it('by tag as well, though the tags come with the answer', () => {
    const cache = new EdgeCache(() => 0, 1000);
    const early = cache.fetchBegins();
    cache.clear('delete', ({ tags }) => tags.has('red'));
    cache.keep(early, A, {}, reply({ 'edge-cache-tag': 'red,blue' }));
    expect(cache.size).toBe(0);
  });

  it('go when there is no room, the one not asked for longest first', () => {
    const cache = new EdgeCache(() => 0, 30);
    const path = (n: number) => ({ host: 'a', path: `/${n}` });
    for (const n of [1, 2, 3]) cache.keep(cache.fetchBegins(), path(n), {}, reply({}, 'ten bytes.'));
    cache.find(path(1), {});
    cache.keep(cache.fetchBegins(), path(4), {}, reply({}, 'ten bytes.'));
    expect([1, 2, 3, 4].map((n) => cache.find(path(n), {}) !== null)).toEqual([true, false, true, true]);
    cache.keep(cache.fetchBegins(), path(5), {}, reply({}, 'x'.repeat(31)));
    expect(cache.size).toBe(0);
  });

  it('that are answered with no-store take the place of what was there', () => {
    const cache = new EdgeCache(() => 0, 1000);
    cache.keep(cache.fetchBegins(), A, {}, reply({}));
    cache.keep(cache.fetchBegins(), A, {}, reply({ 'edge-control': 'no-store' }));
    expect(cache.size).toBe(0);
  });
});

describe('rules', () => {
  const word = fc.string({ minLength: 1, maxLength: 6 }).map((text) => text.replace(/[/?\s\0-\x1f]/g, 'x'));
  const rule = fc.record({
    // Without a port, which the fake edge ignores in matching.
    host: fc.option(word.map((text) => text.toLowerCase()).filter((text) => !/:\d+$/.test(text))),
    prefix: fc.option(fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => `/${words.join('/')}/`)),
    extensions: fc.option(fc.array(fc.constantFrom('css', 'js', 'png'), { minLength: 1, maxLength: 3 })),
  });

  it('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), fc.boolean(), (rules, soft) => {
        const kind = soft ? 'invalidate' : 'delete';
        expect(readEccu(eccuXml(rules, kind))).toEqual(rules.map((one) => ({ rule: one, kind })));
      }),
    );
  });

  it('have texts that say all of them', () => {
    const odd = fc.record({
      host: fc.option(word),
      prefix: fc.option(fc.string().map((text) => `/${text}/`)),
      extensions: fc.constant(null),
    });
    fc.assert(
      fc.property(odd, (one) => {
        expect(parseRule(ruleText(one))).toEqual(one);
      }),
    );
    const blanks = { host: null, prefix: '/a b%20\u2028c:d/', extensions: ['css', 'js'] };
    expect(parseRule(ruleText(blanks))).toEqual(blanks);
  });

  it.each([
    [{ host: 'a.example', prefix: null, extensions: null }, true],
    [{ host: 'b.example', prefix: null, extensions: null }, false],
    [{ host: null, prefix: '/news/', extensions: null }, true],
    [{ host: null, prefix: '/new/', extensions: null }, false],
    [{ host: null, prefix: null, extensions: ['css', 'html'] }, true],
    [{ host: null, prefix: '/news/', extensions: ['css'] }, false],
  ])('%o', (one, holds) =>
    expect(ruleMatches(one, { host: 'a.example', path: '/news/1.html?x=.css' })).toBe(holds),
  );
});
