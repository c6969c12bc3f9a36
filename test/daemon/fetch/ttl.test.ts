import { expect, test } from 'vitest';
import { lifetime } from '../../../daemon/fetch/lifetime.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { Params } from '../../../daemon/params/parameter-set.ts';

const NOW = Date.UTC(2026, 10, 21, 0, 0, 0) / 1000;
const PARAMS = new Params().hot;

function at(seconds: number): string {
  return new Date((NOW + seconds) * 1000).toUTCString();
}

function life(status: number, fields: [string, string][]): { ttl: number; grace: number; age: number } {
  const msg = new HttpMessage(0);
  msg.status = status;
  for (const [name, value] of fields) msg.add(name, value);
  const { ttl, grace, tOrigin } = lifetime(msg, NOW, PARAMS);
  return { ttl, grace, age: NOW - tOrigin };
}

test.each<[string, number, [string, string][], number]>([
  ['nothing said', 200, [], 120],
  ['max-age', 200, [['Cache-Control', 'max-age=60']], 60],
  ['s-maxage first', 200, [['Cache-Control', 'max-age=60, s-maxage=10']], 10],
  [
    'on a second line',
    200,
    [
      ['Cache-Control', 'public'],
      ['Cache-Control', 'MAX-AGE=7'],
    ],
    7,
  ],
  ['quoted', 200, [['Cache-Control', 'max-age="9"']], 0],
  ['without a value', 200, [['Cache-Control', 'max-age']], 120],
  ['with a fraction', 200, [['Cache-Control', 'max-age=10.9']], 10],
  ['beyond all bounds', 200, [['Cache-Control', 'max-age=99999999999']], 4294967296],
  ['unreadable max-age is none', 200, [['Cache-Control', 'max-age=soon']], 0],
  [
    'Expires against Date',
    200,
    [
      ['Date', at(-1000)],
      ['Expires', at(-900)],
    ],
    100,
  ],
  [
    'Expires with a good clock',
    200,
    [
      ['Date', at(0)],
      ['Expires', at(30)],
    ],
    30,
  ],
  [
    'Expires in the past',
    200,
    [
      ['Date', at(0)],
      ['Expires', at(-30)],
    ],
    0,
  ],
  [
    'Expires: 0',
    200,
    [
      ['Date', at(0)],
      ['Expires', '0'],
    ],
    0,
  ],
  [
    'max-age wins over Expires',
    200,
    [
      ['Cache-Control', 'max-age=5'],
      ['Expires', at(99)],
      ['Date', at(0)],
    ],
    5,
  ],
  ['404', 404, [], 120],
  ['302 without freshness', 302, [], -1],
  ['302 with freshness', 302, [['Cache-Control', 'max-age=3']], 3],
  ['500', 500, [['Cache-Control', 'max-age=3']], -1],
])('%s', (_name, status, fields, ttl) => {
  expect(life(status, fields).ttl).toBe(ttl);
});

test('Age has been lived already', () => {
  expect(
    life(200, [
      ['Age', '40'],
      ['Cache-Control', 'max-age=60'],
    ]),
  ).toEqual({ ttl: 60, grace: 10, age: 40 });
});

test('stale-while-revalidate is grace', () => {
  expect(life(200, [['Cache-Control', 'max-age=60, stale-while-revalidate=33']]).grace).toBe(33);
});

test('what is left until Expires is not cut to whole seconds', () => {
  const msg = new HttpMessage(0);
  msg.status = 200;
  msg.add('Expires', at(1));
  expect(lifetime(msg, NOW + 0.25, PARAMS).ttl).toBeCloseTo(0.75);
});
