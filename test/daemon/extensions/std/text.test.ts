// Texts as std reads and writes them. What is compared with Varnish's daemon is in test/differential; here is
// what holds without it.

import { describe, expect, it } from 'vitest';
import { ipOf, type Names, NO_NAMES } from '../../../../daemon/extensions/std/ip-text.ts';
import { bytesOf, durationOf, integerOf, realOf } from '../../../../daemon/extensions/std/number-text.ts';
import { stringFunctions } from '../../../../daemon/extensions/std/strings.ts';
import { timeOf } from '../../../../daemon/extensions/std/time-text.ts';
import { querysort } from '../../../../daemon/vcl/runtime/querysort.ts';

const names: Names = {
  host: (n) => (n === 'example' ? '192.0.2.7' : null),
  service: (n) => (n === 'web' ? 8080 : null),
};
const ip = (text: string, port = '80', known = names): string => {
  const v = ipOf(text, port, known);
  return v === null ? 'none' : `${v.text} ${v.port}`;
};

describe('numbers', () => {
  it.each([
    [' -5 ', -5],
    ['7.000', 7],
    ['0.0009', 0],
    ['999999999999999', 999_999_999_999_999],
    ['1000000000000000', 'Too many digits'],
    ['1.5', ''],
    ['5x', ''],
    ['+5', 'Invalid number'],
    ['', 'Invalid number'],
    ['.', 'Invalid number'],
  ])('integer %j is %j', (text, value) => {
    expect(integerOf(text)).toBe(value);
  });

  it.each([
    ['.5', 0.5],
    ['-1.2349', -1.234],
    ['999999999999.999', 999_999_999_999.999],
    ['1000000000000', 'Too many digits'],
    ['000000000000001.5', 1.5],
    ['1e3', ''],
  ])('real %j is %j', (text, value) => {
    expect(realOf(text)).toBe(value);
  });

  it.each([
    ['1.5 h ', 5400],
    ['-1s', -1],
    ['250ms', 0.25],
    ['1', null],
    ['1S', null],
    ['s', null],
    ['1 s x', null],
    ['1 constructor', null],
  ])('duration %j is %j', (text, value) => {
    expect(durationOf(text)).toBe(value);
  });

  it.each([
    ['1', 1],
    ['1b', 1],
    ['1.5kB', 1536],
    ['10 MB', 10_485_760],
    ['1.5', null],
    ['1.0', 1],
    ['.5k', null],
    ['1.0000k', null],
    ['-1', null],
    ['9000t', null],
  ])('bytes %j is %j', (text, value) => {
    expect(bytesOf(text)).toBe(value);
  });
});

describe('times', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', 784_111_777],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 784_111_777],
    ['Sun Nov  6 08:49:37 1994', 784_111_777],
    [' 1994-11-06T08:49:37 ', 784_111_777],
    ['784111777.25', 784_111_777.25],
    ['99999999999999', 99_999_999_999_999],
    ['Sun, 6 Nov 1994 08:49:37 GMT', null],
    ['Wed, 31 Dec 1969 23:59:59 GMT', -1],
    ['1994-11-06T08:49:60', 784_111_799],
    ['Mon, 06 Nov 1994 08:49:37 GMT', null],
    ['Thu, 01 Jan 1970 00:00:00 GMT', null],
    ['0', null],
    ['-1', null],
    ['1900-02-29T00:00:00', null],
    ['1994-11-06T08:49:37Z', null],
  ])('%j is %j', (text, value) => {
    expect(timeOf(text)).toBe(value);
  });
});

describe('addresses', () => {
  it('compares a mapped address as the IPv6 one that it is', () => {
    expect(ipOf('::ffff:192.0.2.1', '80', NO_NAMES)?.bytes).toHaveLength(16);
    expect(ipOf('192.0.2.1', '80', NO_NAMES)?.bytes).toHaveLength(4);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1 80'],
    ['[2001:db8::1]:web', '2001:db8::1 8080'],
    ['2001:db8::1 443', '2001:db8::1 443'],
    ['127.1:81', '127.0.0.1 81'],
    ['0x7f.0.0.010', '127.0.0.8 80'],
    ['::ffff:192.0.2.1', '192.0.2.1 80'],
    ['192.0.2.1:', '192.0.2.1 0'],
    ['192.0.2.1:65537', '192.0.2.1 1'],
    ['example:web', '192.0.2.7 8080'],
    ['192.0.2.1:nope', 'none'],
    ['192.0.2.256', 'none'],
    ['1.2.3.4.5', 'none'],
    [' 192.0.2.1', 'none'],
    ['[::1', 'none'],
    ['', 'none'],
  ])('%j is %j', (text, value) => {
    expect(ip(text)).toBe(value);
  });

  it('without names only numbers count', () => {
    expect(ip('example', '80', NO_NAMES)).toBe('none');
    expect(ip('192.0.2.1:web', '80', NO_NAMES)).toBe('none');
    expect(ip('192.0.2.1', '99', NO_NAMES)).toBe('192.0.2.1 99');
  });
});

describe('lenient times', () => {
  it.each([
    ['Sun, 6 Nov 1994 08:49:37 GMT', 784_111_777],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 784_111_777],
    ['Mon, 6 Nov 1994 08:49:37 GMT', null],
    ['Sunday, 6-Nov-94 08:49:37 GMT', null],
  ])('%j is %j', (text, value) => {
    expect(timeOf(text, true)).toBe(value);
  });
});

describe('strftime', () => {
  const strftime = (seconds: number, format: string): unknown =>
    stringFunctions.strftime?.call(null as never, seconds, format);
  const at = (format: string): unknown => strftime(784_111_777.9, format);

  it('knows the flags and widths of the GNU library', () => {
    expect(at('%-d|%_d|%05d|%^a|%#Z|%_H|%010Y|%12F|%-5d|%^10b')).toBe(
      '6| 6|00006|SUN|gmt| 8|0000001994|  1994-11-06|    6|       NOV',
    );
  });

  it('leaves what it does not know, and refuses what would grow too long', () => {
    expect(at('%Q %+4Y %')).toBe('%Q %+4Y %');
    expect(at('%99999Y')).toBe('');
    expect(strftime(Number.NaN, '%Y')).toBe('');
    expect(strftime(99_999_999_999_900, '%Y|%s|%a')).toBe('3170843|99999999999900|Sat');
    expect(strftime(-8_649_999_999_991, '%Y|%s|%a')).toBe('-272138|-8649999999991|Sat');
    expect(strftime(67_768_036_999_932_232, '%Y')).toBe('');
    expect(strftime(1e18, '%Y')).toBe('');
  });
});

describe('querysort', () => {
  const sort = (url: string | null) => querysort(null as never, url);

  it('puts bytes above 127 first, and equals in the order they came', () => {
    expect(sort('/?b&\xe9&a=2&a')).toBe('/?\xe9&a=2&a&b');
  });

  it('leaves what has no query', () => {
    expect(sort(null)).toBeNull();
    expect(sort('/x')).toBe('/x');
    expect(sort('/x?')).toBe('/x?');
    expect(sort('/x?&&')).toBe('/x?');
  });

  it('sorts thousands of parameters in no time', () => {
    const url = `/?${Array.from({ length: 20_000 }, (_, i) => `p${(i * 7919) % 20_000}=`).join('&')}`;
    const params = (sort(url) as string).slice(2).split('&');
    expect(params).toEqual([...params].sort());
    expect(params).toHaveLength(20_000);
  });
});
