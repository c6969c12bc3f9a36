// http_profile=rfc9111: whether a response is stored, how long it is fresh, and how long usable after that.
import { describe, expect, it } from 'vitest';
import { type SharedLifetime, sharedLifetime } from '../../../daemon/fetch/lifetime.ts';
import { httpDate } from '../../../daemon/http1/date.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { Params } from '../../../daemon/params/parameter-set.ts';

const NOW = 1_800_000_000;
const DAY = 86_400;
const at = (seconds: number): string => httpDate(NOW + seconds);

function life(
  fields: Record<string, string>,
  { status = 200, authorized = false, secondAge = '' } = {},
): SharedLifetime {
  const msg = new HttpMessage(1);
  msg.status = status;
  for (const [name, value] of Object.entries(fields)) msg.push(name.toLowerCase(), `${name}: ${value}`);
  if (secondAge !== '') msg.push('age', `Age: ${secondAge}`);
  return sharedLifetime(msg, authorized, NOW, new Params().hot);
}
const cc = (value: string, more: Record<string, string> = {}): Record<string, string> => ({
  'Cache-Control': value,
  ...more,
});

describe('freshness', () => {
  it.each([
    ['max-age', cc('max-age=60'), 60],
    ['s-maxage before max-age', cc('max-age=60, s-maxage=5'), 5],
    ['Expires against Date', { Date: at(-100), Expires: at(-40) }, 60],
    ['Expires against now without a Date', { Expires: at(60) }, 60],
    ['max-age before Expires', cc('max-age=60', { Expires: at(9999) }), 60],
    ['an Expires that is no date', { Expires: '0' }, 0],
    ['a tenth of the age', { Date: at(0), 'Last-Modified': at(-1000) }, 100],
    ['a tenth of the age, bounded', { Date: at(0), 'Last-Modified': at(-1000 * DAY) }, DAY],
    ['nothing to go by', { Date: at(0) }, 0],
    ['a max-age that is no number', cc('max-age=1x', { Expires: at(60) }), 0],
    [
      'a targeted field before all others',
      cc('no-store', { 'CDN-Cache-Control': 'max-age=7', Expires: at(60) }),
      7,
    ],
    [
      'a targeted field without a life, against Expires',
      { 'CDN-Cache-Control': 'must-revalidate', Expires: at(60) },
      0,
    ],
    ['a targeted field that cannot be read', cc('max-age=60', { 'CDN-Cache-Control': 'Max-Age=7' }), 60],
    ['Surrogate-Control', cc('no-store', { 'Surrogate-Control': 'max-age=7+30' }), 7],
    ['Surrogate-Control for another', cc('max-age=60', { 'Surrogate-Control': 'max-age=7;other' }), 60],
    ['Surrogate-Control for this proxy', cc('no-store', { 'Surrogate-Control': 'max-age=7+30;proxyd' }), 7],
  ])('%s', (_name, fields, ttl) => {
    expect(life(fields as Record<string, string>).ttl).toBe(ttl);
  });

  it.each([
    ['5', 5],
    [' 5 ', 5],
    ['0', 0],
    ['5, 900', 5],
    ['900,5', 900],
  ])('takes Age %j for %i seconds', (age, seconds) => {
    expect(NOW - life(cc('max-age=60', { Age: age })).tOrigin).toBe(seconds);
  });

  it.each(['0, 0', '5, 900, 5', '5, x', '5,', 'x', '-5', '5.0', '5 x', '5;a=1', ''])(
    'is stale at once with Age %j',
    (age) => {
      const { ttl, grace, store } = life(
        cc('max-age=60, stale-while-revalidate=60', { Age: age, ETag: '"a"' }),
      );
      expect({ ttl, grace, store }).toEqual({ ttl: 0, grace: 0, store: true });
    },
  );

  it('is stale at once with two lines of Age', () => {
    expect(life(cc('max-age=60', { Age: '5', ETag: '"a"' }), { secondAge: '900' }).ttl).toBe(0);
  });

  it('counts what Date says of the age', () => {
    expect(NOW - life(cc('max-age=60', { Date: at(-20), Age: '5' })).tOrigin).toBe(20);
  });
});

describe('storing', () => {
  it.each([
    ['an explicit life, whatever the status', cc('max-age=60'), { status: 299 }, true],
    ['a server error with an explicit life', cc('max-age=60'), { status: 503 }, true],
    ['a status without one', { 'Last-Modified': at(-1000) }, { status: 302 }, false],
    ['public makes up for it', cc('public', { 'Last-Modified': at(-1000) }), { status: 599 }, true],
    ['a part', cc('max-age=60'), { status: 206 }, false],
    ['private', cc('private, max-age=60'), {}, false],
    ['no-store', cc('no-store, max-age=60'), {}, false],
    ['no-store, but the status is understood', cc('no-store, must-understand, max-age=60'), {}, true],
    ['a status that must be understood', cc('must-understand, max-age=60'), { status: 299 }, false],
    ['no-cache with a validator', cc('no-cache', { ETag: '"a"' }), {}, true],
    ['no-cache without one', cc('no-cache'), {}, false],
    ['Authorization', cc('max-age=60'), { authorized: true }, false],
    ['Authorization and public', cc('public, max-age=60'), { authorized: true }, true],
    ['Authorization and s-maxage', cc('s-maxage=60'), { authorized: true }, true],
    ['Authorization and must-revalidate', cc('must-revalidate, max-age=60'), { authorized: true }, true],
  ])('%s', (_name, fields, request, stored) => {
    expect(life(fields as Record<string, string>, request).store).toBe(stored);
  });
});

describe('after freshness', () => {
  it('serves stale only while it revalidates, for as long as allowed', () => {
    expect(life(cc('max-age=60')).grace).toBe(0);
    expect(life(cc('max-age=60, stale-while-revalidate=30')).grace).toBe(30);
  });

  it.each(['must-revalidate', 'proxy-revalidate', 's-maxage=60', 'no-cache'])(
    'never under %s',
    (forbidding) => {
      const it = life(cc(`max-age=60, stale-while-revalidate=30, stale-if-error=30, ${forbidding}`));
      expect([it.grace, it.staleIfError]).toEqual([0, 0]);
    },
  );

  it('answers for an origin that fails, by its word or for default_grace', () => {
    expect(life(cc('max-age=60, stale-if-error=300')).staleIfError).toBe(300);
    expect(life(cc('max-age=60, stale-if-error=300')).keep).toBe(300);
    expect(life(cc('max-age=60')).staleIfError).toBe(10);
  });

  it('keeps what can be revalidated', () => {
    expect(life(cc('max-age=60', { ETag: '"a"' })).keep).toBe(3600);
    expect(life(cc('max-age=60')).keep).toBe(10);
  });
});
