// Content-Range of responses against the requested range: with Varnish's verdict on each.

import { expect, test } from 'vitest';
import { contentRangeFault } from '../../../daemon/fetch/prepare.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';

const PART = 'bytes 5-24/35';

function fault(
  asked: string | null,
  range: string | null,
  length: number | null,
  status = 206,
): string | null {
  const beresp = new HttpMessage(0);
  beresp.status = status;
  if (range !== null) beresp.add('Content-Range', range);
  if (length !== null) beresp.add('Content-Length', String(length));
  return contentRangeFault(asked, beresp);
}

test.each<[string | null, string | null, number | null, string | null]>([
  ['bytes=5-24', PART, 20, null],
  ['bytes=5-24', PART, null, null],
  ['bytes=5-', PART, 20, null],
  ['bytes=5-99', PART, 20, null],
  ['bytes=-20', PART, 20, null],
  ['bytes=5-24', null, 20, null],
  [null, null, 20, null],
  [null, PART, 20, 'Unexpected content-range header'],
  ['bytes=5-10', PART, 20, 'Expected minimum high range 24, got 10'],
  ['bytes=4-', PART, 20, 'Expected low range 5, got 4'],
  ['bytes=5-24', PART, 19, 'Expected content length 20, got 19'],
  ['bytes=5-24', PART, 0, 'Expected content length 20, got 0'],
  ['bytes=5-24', 'bytes */35', 20, 'Expected content length 35, got 20'],
  ['bytes=5-24', 'bytes 5-24/20', 20, 'Invalid content-range header'],
  ['bytes=1-2,3-4', PART, 20, 'Invalid range header (Trailing stuff)'],
  ['items=1-2', PART, 20, 'Invalid range header (Not Bytes)'],
  ['bytes=5-24', 'items 1-2/3', 20, null],
  [null, 'pages 1-2/*', 20, null],
  ['bytes=5-24', '5-24/35', 20, 'Invalid content-range header'],
  ['bytes=5-24', 'bytes=5-24/35', 20, 'Invalid content-range header'],
])('%s answered by %s of %s bytes', (asked, range, length, expected) => {
  expect(fault(asked, range, length)).toBe(expected);
});

test('a range that cannot be satisfied comes with a page', () => {
  expect(fault('bytes=99-', 'bytes */35', 20, 416)).toBeNull();
  expect(fault(null, 'bytes */35', 20, 416)).toBe('Unexpected content-range header');
});

test('where the status decides, a whole is a whole', () => {
  const beresp = new HttpMessage(0);
  beresp.add('Content-Range', PART);
  for (const [status, wrong] of [
    [200, null],
    [416, null],
    [206, 'Unexpected content-range header'],
  ] as const) {
    beresp.status = status;
    expect(contentRangeFault(null, beresp, true)).toBe(wrong);
  }
});

test('a 304 has no body to fit', () => {
  expect(fault('bytes=5-24', PART, 7, 304)).toBeNull();
});
