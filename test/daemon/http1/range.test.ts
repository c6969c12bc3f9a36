import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  answerRange,
  answerRanges,
  MOST_RANGES,
  parseContentRange,
  rangeFault,
} from '../../../daemon/http1/range.ts';

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
  ['bytes 0-9', 100, { kind: 'unsatisfiable' }],
  ['bytes', 100, { kind: 'unsatisfiable' }],
  ['bytes=99999999999999999999-', 100, { kind: 'unsatisfiable' }],
  ['bytes=5-9223372036854775807', 100, { kind: 'part', from: 5, to: 100 }],
  ['bytes=5-9223372036854775808', 100, { kind: 'unsatisfiable' }],
  ['bytes=-9223372036854775807', 100, { kind: 'part', from: 0, to: 100 }],
  ['bytes=00000000000000000000005-0000000000000000000000000006', 100, { kind: 'part', from: 5, to: 7 }],
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
  ['bytes=0-9223372036854775807', null],
  ['bytes=0-9223372036854775808', 'High number too big'],
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

test.each([
  ['bytes=0-1,500-501', '0-2 500-502'],
  ['bytes=500-501, 0-1', '500-502 0-2'],
  ['bytes=0-1,-2', '0-2 998-1000'],
  ['bytes=0-1,,900-', '0-2 900-1000'],
  ['BYTES=0-1,\t900-2000', '0-2 900-1000'],
  // A range that cannot be had is left out.
  ['bytes=0-1,1000-1001,-0', '0-2'],
  ['bytes=1000-,2000-', ''],
  // Overlapping and near ones are one, in the place of the first.
  ['bytes=0-9,5-14', '0-15'],
  ['bytes=500-600,0-9,50-60,590-700', '500-701 0-61'],
  ['bytes=0-,0-,0-', '0-1000'],
  ['bytes=0-0,81-81', '0-1 81-82'],
  ['bytes=0-0,80-80', '0-81'],
  ['bytes=0-1,5-2', ''],
  ['bytes=0-1,x', ''],
  ['bytes=,', ''],
])('several ranges %s of 1000 bytes: %s', (value, spans) => {
  const text = answerRanges(value, 1000).map(({ from, to }) => `${from}-${to}`);
  expect(text.join(' ')).toBe(spans);
});

test('refuses more ranges than it takes, however they are written', () => {
  const many = (n: number): string =>
    `bytes=${Array.from({ length: n }, (_, i) => `${i * 100}-${i * 100}`).join()}`;
  expect(answerRanges(many(MOST_RANGES), 1e6)).toHaveLength(MOST_RANGES);
  expect(answerRanges(many(MOST_RANGES + 1), 1e6)).toEqual([]);
  expect(answerRanges(`bytes=0-0${','.repeat(8000)}`, 1e6)).toEqual([]);
});

test('sends every byte that was asked for, once, and hardly another', () => {
  const range = fc.tuple(fc.nat(3000), fc.nat(400)).map(([from, more]) => ({ from, to: from + more + 1 }));
  fc.assert(
    fc.property(
      fc.array(range, { minLength: 2, maxLength: 20 }),
      fc.integer({ min: 1, max: 3000 }),
      (asked, length) => {
        const value = `bytes=${asked.map(({ from, to }) => `${from}-${to - 1}`).join()}`;
        const sent = new Uint8Array(length);
        const spans = answerRanges(value, length);
        for (const { from, to } of spans) for (let i = from; i < to; i++) sent[i] = (sent[i] as number) + 1;
        const wanted = new Uint8Array(length);
        for (const { from, to } of asked) wanted.fill(1, from, Math.min(to, length));
        for (let i = 0; i < length; i++) {
          expect(sent[i]).toBeLessThanOrEqual(1);
          if (wanted[i] === 1) expect(sent[i]).toBe(1);
        }
        const total = spans.reduce((sum, { from, to }) => sum + to - from, 0);
        expect(total).toBeLessThanOrEqual(wanted.reduce((a, b) => a + b, 0) + 80 * asked.length);
      },
    ),
  );
});
