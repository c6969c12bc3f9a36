// Parts of strings by position and by token, at and beyond both ends.

import { describe, expect, it } from 'vitest';
import { split, str, take } from '../../../../daemon/extensions/str/str.ts';

describe('take', () => {
  it.each([
    [2, 0, 'he'],
    [9, 2, 'llo'],
    [2, -2, 'lo'],
    [-2, 3, 'el'],
    [-2, -2, 'el'],
    [-3, 0, 'llo'],
    [-10, 3, 'hel'],
    [2, -6, 'h'],
    [-2, 6, 'o'],
    [2, 9, ''],
    [2, -9, ''],
    [0, 2, ''],
  ])('%d at %d is %j', (n, offset, value) => {
    expect(take('hello', n, offset)).toBe(value);
  });
});

describe('split', () => {
  it.each([
    ['a b c', 2, ' ', 'b'],
    ['  a   b', 1, ' ', 'a'],
    ['a,b;c', 3, ',;', 'c'],
    ['a ', 2, ' ', ''],
    ['a', 2, ' ', null],
    ['a b', 0, ' ', null],
    ['', 1, ' ', ''],
    ['a,b', 1, '', 'a,b'],
    ['a b c', -1, ' ', 'c'],
    ['a b c', -3, ' ', 'a'],
    ['a b c', -4, ' ', null],
    ['a b ', -1, ' ', 'b'],
    ['', -1, ' ', null],
  ])('%j, %d, by %j is %j', (s, n, separators, value) => {
    expect(split(s, n, separators)).toBe(value);
  });
});

describe('token_intersect', () => {
  const intersect = (...args: readonly (string | null | undefined)[]): unknown =>
    str.functions.token_intersect?.call({} as never, ...args);

  it.each<[string | null, string | null, string | undefined, boolean]>([
    ['a, b', 'c b', undefined, true],
    ['a,b', 'ab', undefined, false],
    ['a,b', 'A,B', undefined, false],
    ['a, ,', ' ,b', undefined, false],
    ['', '', undefined, false],
    [null, 'a', undefined, false],
    ['a|b c', 'b c|d', '|', true],
    ['a|b c', 'b|c', '|', false],
    ['a,b', 'a,b', '', true],
    ['a,b', 'a', '', false],
  ])('%j and %j, by %j: %j', (a, b, separators, expected) => {
    expect(intersect(a, b, separators)).toBe(expected);
    expect(intersect(b, a, separators)).toBe(expected);
  });

  it('takes long texts in one pass', () => {
    const long = Array.from({ length: 100_000 }, (_, n) => `a${n}`).join(',');
    expect(intersect(long, 'b')).toBe(false);
    expect(intersect(long, long)).toBe(true);
  });
});
