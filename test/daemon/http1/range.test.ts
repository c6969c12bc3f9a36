import { expect, test } from 'vitest';
import { answerRange, rangeFault } from '../../../daemon/http1/range.ts';

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

// As the field's daemon answered each of these for an object of 11 bytes.
test.each([
  ['bytes=20-', 'low range beyond object'],
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
