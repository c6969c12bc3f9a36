import { describe, expect, test } from 'vitest';
import { acceptsGzip } from '../../../daemon/http1/accept-encoding.ts';
import { notModified, weakenEtag } from '../../../daemon/http1/conditional.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';

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
    expect(notModified(message({ 'If-None-Match': asked }), message({ ETag: etag }))).toBe(same);
  });

  test('takes precedence over If-Modified-Since', () => {
    const date = 'Sat, 21 Nov 2026 00:23:23 GMT';
    const request = message({ 'If-None-Match': '"other"', 'If-Modified-Since': date });
    expect(notModified(request, message({ ETag: '"abc"', 'Last-Modified': date }))).toBe(false);
  });
});

describe('If-Modified-Since', () => {
  test.each([
    ['Sat, 21 Nov 2026 00:23:23 GMT', true],
    ['Sat, 21 Nov 2026 00:23:24 GMT', true],
    ['Sat, 21 Nov 2026 00:23:22 GMT', false],
    ['yesterday', false],
  ])('%s', (asked, same) => {
    const response = message({ 'Last-Modified': 'Sat, 21 Nov 2026 00:23:23 GMT' });
    expect(notModified(message({ 'If-Modified-Since': asked }), response)).toBe(same);
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
])('Accept-Encoding %s', (value, takes) => {
  expect(acceptsGzip(value)).toBe(takes);
});
