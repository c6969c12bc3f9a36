import { expect, test } from 'vitest';
import { answerRange } from '../../../daemon/http1/range.ts';

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
