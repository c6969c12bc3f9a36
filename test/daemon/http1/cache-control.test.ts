import { describe, expect, it } from 'vitest';
import {
  classicDelta,
  classicSeconds,
  deltaSeconds,
  directive,
  hasDirective,
  MAX_DELTA,
} from '../../../daemon/http1/cache-control.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';

function response(...values: string[]): HttpMessage {
  const msg = new HttpMessage(0);
  msg.push('date', 'Date: max-age=1');
  for (const value of values) msg.push('cache-control', `Cache-Control: ${value}`);
  return msg;
}
const find = (name: string, ...values: string[]) => directive(response(...values), 'cache-control', name);

describe('directive', () => {
  it.each([
    ['max-age', ['max-age=5'], '5'],
    ['max-age', ['MAX-AGE=5'], '5'],
    ['max-age', ['public,max-age=5,x'], '5'],
    ['max-age', ['public ,\tmax-age = 5 , x'], '5'],
    ['max-age', ['public', 'no-transform, max-age=7'], '7'],
    ['max-age', ['max-age="60"'], '60'],
    ['max-age', ['max-age=1, max-age=2'], '1'],
    ['max-age', ['s-maxage=5'], null],
    ['max-age', ['x="max-age=9, y", max-age=3'], '3'],
    ['max-age', ['x="a\\", max-age=9", max-age=3'], '3'],
    ['max-age', ['xmax-age=9', 'max-agex=9'], null],
    ['private', ['private'], ''],
    ['private', ['Private="Set-Cookie, X"'], 'Set-Cookie, X'],
    ['no-store', [',, ,no-store'], ''],
    ['no-store', ['x=no-store'], null],
    ['no-store', ['a', 'b', 'NO-STORE'], ''],
    ['no-store', ['=, no-store'], ''],
    ['no-store', ['x="unfinished, no-store'], null],
    ['private', [], null],
  ])('%s in %j', (name, values, expected) => {
    expect(find(name, ...values)).toBe(expected);
  });

  it('reports whether it exists', () => {
    expect(hasDirective(response('no-cache="x"'), 'cache-control', 'no-cache')).toBe(true);
    expect(hasDirective(response('no-cachex'), 'cache-control', 'no-cache')).toBe(false);
  });
});

describe('deltaSeconds', () => {
  it.each([
    ['max-age=0', 0],
    ['max-age=31536000', 31536000],
    ['max-age="60"', 60],
    ['max-age=-5', 0],
    ['max-age=1.5', 0],
    ['max-age=1e3', 0],
    ['max-age=', 0],
    ['max-age', 0],
    ['max-age=99999999999999999999', MAX_DELTA],
    ['public', -1],
  ])('%s', (value, expected) => {
    expect(deltaSeconds(response(value), 'cache-control', 'max-age')).toBe(expected);
  });
});

describe('Varnish’s reading', () => {
  it.each([
    ['5', 5],
    [' +5 ', 5],
    ['10.9', 10],
    ['5, 6', 5],
    ['5 6', 0],
    ['5;6', 0],
    ['-1', 0],
    ['1e3', 0],
    ['', 0],
    ['99999999999999999999.5', 4294967295],
  ])('%j', (text, expected) => {
    expect(classicSeconds(text)).toBe(expected);
  });

  it.each([
    ['max-age=10.9', 10],
    ['max-age="60"', 0],
    ['max-age=', 0],
    ['max-age', -1],
    ['max-age, max-age=5', -1],
    ['x="max-age=9", max-age=3', 3],
  ])('%s', (value, expected) => {
    expect(classicDelta(response(value), 'cache-control', 'max-age')).toBe(expected);
  });
});
