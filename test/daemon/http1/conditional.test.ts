import { describe, expect, test } from 'vitest';
import { acceptsGzip } from '../../../daemon/http1/accept-encoding.ts';
import { notModified, weakenEtag } from '../../../daemon/http1/conditional.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';

const MADE = Date.UTC(2026, 10, 21, 0, 23, 20) / 1000;
const NOW = Date.UTC(2026, 10, 21, 0, 24, 0) / 1000;

function message(fields: Record<string, string>): HttpMessage {
  const msg = new HttpMessage(0);
  for (const [name, value] of Object.entries(fields)) msg.add(name, value);
  return msg;
}

describe('If-None-Match', () => {
  test.each([
    ['"abc"', '"abc"', true],
    ['W/"abc"', '"abc"', true],
    ['"abc"', 'W/"abc"', true],
    ['"x", "abc" , "y"', '"abc"', true],
    ['"x,abc"', '"abc"', false],
    ['"x,y", "abc"', '"abc"', true],
    ['*', '"abc"', true],
    ['"ab"', '"abc"', false],
    ['abc', '"abc"', false],
  ])('%s against %s', (asked, etag, same) => {
    expect(notModified(message({ 'If-None-Match': asked }), message({ ETag: etag }), MADE, NOW)).toBe(same);
  });

  test('takes precedence over If-Modified-Since', () => {
    const date = 'Sat, 21 Nov 2026 00:23:23 GMT';
    const request = message({ 'If-None-Match': '"other"', 'If-Modified-Since': date });
    expect(notModified(request, message({ ETag: '"abc"', 'Last-Modified': date }), MADE, NOW)).toBe(false);
  });
});

describe('If-Modified-Since', () => {
  test.each([
    ['Sat, 21 Nov 2026 00:23:23 GMT', true],
    ['Sat, 21 Nov 2026 00:23:24 GMT', true],
    ['Sat, 21 Nov 2026 00:23:22 GMT', false],
    ['Sat, 21 Nov 2026 00:24:00 GMT', true],
    ['Sat, 21 Nov 2026 00:24:01 GMT', false],
    ['yesterday', false],
  ])('%s', (asked, same) => {
    const response = message({ 'Last-Modified': 'Sat, 21 Nov 2026 00:23:23 GMT' });
    expect(notModified(message({ 'If-Modified-Since': asked }), response, MADE, NOW)).toBe(same);
  });

  test.each([
    ['Sat, 21 Nov 2026 00:23:20 GMT', true],
    ['Sat, 21 Nov 2026 00:23:19 GMT', false],
    ['Sat, 21 Nov 2026 00:25:00 GMT', false],
  ])('%s counts from when the response was made where it has no Last-Modified', (asked, same) => {
    const response = message({ Date: 'Sat, 21 Nov 2026 00:00:00 GMT' });
    expect(notModified(message({ 'If-Modified-Since': asked }), response, MADE, NOW)).toBe(same);
  });

  test('an unreadable Last-Modified is none to compare with', () => {
    const request = message({ 'If-Modified-Since': 'Sat, 21 Nov 2026 00:23:59 GMT' });
    expect(notModified(request, message({ 'Last-Modified': 'junk' }), MADE, NOW)).toBe(false);
  });
});

test('a strong ETag is weakened once', () => {
  const response = message({ ETag: '"abc"' });
  weakenEtag(response);
  weakenEtag(response);
  expect(response.get('etag')).toBe('W/"abc"');
});

test.each([
  [null, false],
  ['gzip', true],
  ['GZIP', true],
  ['x-gzip', true],
  ['deflate, gzip;q=0.5', true],
  ['gzip;q=0', false],
  ['gzip; q=0.000', false],
  ['gzipped', false],
  ['identity', false],
  ['gzip;q=-1', false],
  ['gzip;q=x', false],
  ['gzip;q=', false],
  // From here on as Varnish 7.1.1 was seen to read them.
  ['gzip;q=0.5x', true],
  ['gzip;q=1e-5', true],
  ['gzip;q=0x', false],
  ['gzip;q="1"', false],
  ['gzip;Q=0', true],
  ['gzip;q =0', false],
  ['gzip;q= 0', false],
  ['gzip q=0', false],
  ['gzip;;q=0', false],
  ['gzip;a q=0', true],
  ['gzip;a=b;q=0', false],
  ['gzip;q=0;q=1', false],
  ['gzip;q=1;q=0', true],
  ['gzip;', true],
  ['gzip;q', true],
  ['"gzip"', true],
  ['"gzip";q=0', false],
  ['"br, gzip", x', true],
  ['"br,gzip"', true],
  ['"br gzip"', false],
  ['"gzip', false],
  ['"gzip, a', false],
  ['br;a="b, gzip', true],
  ['gzip/1', true],
  ['gzip"', true],
  ['=, gzip', true],
  ['*', false],
  ['gzip;q=.5', true],
  ['gzip;x=1;q=1.', true],
  ['gzip;q=0, gzip', false],
  ['gzip;q=0, x-gzip', true],
  ['x-gzip;q=0', true],
  ['x-gzip;q=0, gzip;q=0', true],
  ['X-GZIP;q=0.0', true],
  ['x-gzip2', false],
  ['', false],
])('Accept-Encoding %s', (value, takes) => {
  expect(acceptsGzip(value)).toBe(takes);
});

test('An Accept-Encoding of any kind is read in one go', () => {
  for (const unit of ['; ', ';q\t', '",', '\t', ';', 'gzip;', ',,'])
    for (const end of ['', '"', 'gzip', ';q=0'])
      expect(typeof acceptsGzip(`gzip${unit.repeat(200_000)}${end}`)).toBe('boolean');
});
