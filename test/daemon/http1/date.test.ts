import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DateCache, httpDate, parseDate } from '../../../daemon/http1/date.ts';

describe('httpDate', () => {
  it('writes IMF-fixdate', () => {
    expect(httpDate(784111777.9)).toBe('Sun, 06 Nov 1994 08:49:37 GMT');
    expect(httpDate(0)).toBe('Thu, 01 Jan 1970 00:00:00 GMT');
  });

  it('is read back for any second up to year 9999', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253402300799 }), (at) => {
        expect(parseDate(httpDate(at))).toBe(at);
      }),
    );
  });
});

describe('DateCache', () => {
  it('changes with the second', () => {
    const dates = new DateCache();
    expect(dates.at(10.1)).toBe(dates.at(10.9));
    expect(dates.at(11)).toBe(httpDate(11));
    expect(dates.at(10)).toBe(httpDate(10));
  });
});

describe('parseDate', () => {
  it('reads the three formats', () => {
    for (const text of [
      'Sun, 06 Nov 1994 08:49:37 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'Sun Nov  6 08:49:37 1994',
    ]) {
      expect(parseDate(text, 1_700_000_000)).toBe(784111777);
    }
  });

  it('looks neither at case nor at the day of the week', () => {
    expect(parseDate('sUN, 06 nOV 1994 08:49:37 gmt')).toBe(784111777);
    expect(parseDate('Xxx, 06 Nov 1994 08:49:37 GMT')).toBe(784111777);
    expect(parseDate('friday, 06-nov-94 08:49:37 GMT', 1_700_000_000)).toBe(784111777);
  });

  it('takes a day of one digit where dates are read leniently', () => {
    const text = 'Sun, 6 Nov 1994 08:49:37 GMT';
    expect(parseDate(text)).toBeNull();
    expect(parseDate(text, 0, true)).toBe(784111777);
    expect(parseDate('Sun, 6 Nov 1994 8:49:37 GMT', 0, true)).toBeNull();
  });

  it('puts two-digit years into the century around now', () => {
    const now = 1_700_000_000; // 2023
    expect(parseDate('Monday, 01-Jan-73 00:00:00 GMT', now)).toBe(Date.UTC(2073, 0, 1) / 1000);
    expect(parseDate('Monday, 01-Jan-74 00:00:00 GMT', now)).toBe(Date.UTC(1974, 0, 1) / 1000);
  });

  it.each([
    '',
    '0',
    '-1',
    'now',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 00:60:00 GMT',
    'Sun, 06 Nov 1994 00:00:61 GMT',
    'Sun, 06 Now 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT ',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Sun Nov 06  08:49:37 1994',
  ])('refuses %j', (text) => {
    expect(parseDate(text)).toBeNull();
  });

  it('counts a leap second as the next one', () => {
    expect(parseDate('Sat, 31 Dec 2016 23:59:60 GMT')).toBe(Date.UTC(2017, 0, 1) / 1000);
  });
});
