import { expect, test } from 'vitest';
import { answerRange, parseContentRange, rangeFault } from '../../../daemon/http1/range.ts';

test.each([
  ['bytes=0-9', 100, { kind: 'part', from: 0, to: 10 }],
  ['bytes=90-', 100, { kind: 'part', from: 90, to: 100 }],
  ['bytes=-5', 100, { kind: 'part', from: 95, to: 100 }],
  ['bytes=-500', 100, { kind: 'part', from: 0, to: 100 }],
  ['bytes=50-1000', 100, { kind: 'part', from: 50, to: 100 }],
  ['bytes=100-', 100, { kind: 'unsatisfiable' }],
  ['bytes=-0', 100, { kind: 'unsatisfiable' }],
  ['bytes=0-', 0, { kind: 'unsatisfiable' }],
  ['bytes=9-5', 100, { kind: 'unsatisfiable' }],
  ['bytes=0-1,3-4', 100, { kind: 'unsatisfiable' }],
  ['bytes=a-b', 100, { kind: 'unsatisfiable' }],
  ['bytes=-', 100, { kind: 'unsatisfiable' }],
  ['items=0-9', 100, { kind: 'whole' }],
  ['bytes=99999999999999999999-', 100, { kind: 'unsatisfiable' }],
])('%s of %i bytes', (value, length, answer) => {
  expect(answerRange(value, length)).toEqual(answer);
});

// As Varnish answered each of these for an object of 11 bytes.
test.each([
  ['bytes=20-', null],
  ['bytes=-5', null],
  ['BYTES=0-0', null],
  ['bytes', "Missing '='"],
  ['items=1-2', 'Not Bytes'],
  ['bytes=5-99999999999999999999', 'High number too big'],
  ['bytes=5-2', 'high smaller than low'],
  ['bytes=x', 'Missing hyphen'],
  ['bytes=', 'Missing hyphen'],
  ['bytes=1', 'Missing hyphen'],
  ['bytes=-', 'Neither high nor low'],
  ['bytes=1-2,3-4', 'Trailing stuff'],
  ['bytes=5-x', 'Trailing stuff'],
  ['bytes=-0', 'No low, high is zero'],
  ['bytes=99999999999999999999-', 'Low number too big'],
])('%s: %s', (value, fault) => {
  expect(rangeFault(value)).toBe(fault);
});

test.each([
  ['bytes 5-24/35', { low: 5, high: 24, total: 35 }],
  ['Bytes 05-024/035', { low: 5, high: 24, total: 35 }],
  ['bytes 5-24/*', { low: 5, high: 24, total: -1 }],
  ['bytes */35', { low: -1, high: -1, total: 35 }],
  ['bytes */*', null],
  ['bytes 5-24/24', null],
  ['bytes 24-5/35', null],
  ['bytes 5-24', null],
  ['bytes=5-24/35', null],
  ['items 5-24/35', null],
  ['bytes 5-24/35x', null],
  ['bytes  5-24/35', null],
  ['bytes 5-24/99999999999999999999', null],
])('Content-Range: %s', (value, range) => {
  expect(parseContentRange(value)).toEqual(range);
});
