// Values that proxylog accepts and rejects for its options, as measured with Varnish's tools.
import { describe, expect, it } from 'vitest';
import {
  parseCount,
  parseGrouping,
  parseLimit,
  parseRate,
  parseTimeout,
} from '../../../console/bin/log-values.ts';

describe('option values', () => {
  it.each([
    ['req', 'request'],
    ['VX', 'vxid'],
    ['s', 'session'],
    ['RAW', 'raw'],
    ['r', 'ambiguous'],
    ['', 'ambiguous'],
    ['x', 'unknown'],
    ['rawer', 'unknown'],
  ])('-g %j is %s', (text, result) => {
    expect(parseGrouping(text)).toBe(result);
  });

  it.each([
    ['1', 1],
    [' 1', 1],
    ['+1', 1],
    ['2147483647', 2147483647],
    ['2147483648', Number.NaN],
    ['1 ', Number.NaN],
    ['0x1', Number.NaN],
    ['0', Number.NaN],
    ['', Number.NaN],
  ])('-k %j is %d', (text, result) => {
    expect(parseCount(text)).toBe(result);
  });

  it.each([
    ['5', 5],
    ['0x10', 16],
    ['010', 8],
    ['1 ', 1],
    ['', 'Range error'],
    ['0', 'Range error'],
    ['2147483648', 'Range error'],
    ['1.5', 'Syntax error'],
    ['x', 'Syntax error'],
  ])('-L %j is %s', (text, result) => {
    expect(parseLimit(text)).toBe(result);
  });

  it.each([
    ['5', 5],
    ['.5', 0.5],
    ['5.', 5],
    [' 5 ', 5],
    ['-0', 0],
    ['-0.5', 'Range error'],
    ['', 'Syntax error'],
    ['.', 'Syntax error'],
    ['1e1', 'Syntax error'],
    ['+1', 'Syntax error'],
    ['1234567890123456', 'Syntax error'],
    ['1234567890123.0', 'Syntax error'],
  ])('-T %j is %s', (text, result) => {
    expect(parseTimeout(text)).toBe(result);
  });

  it.each([
    ['5', { count: 5, period: 1 }],
    ['5/m', { count: 5, period: 60 }],
    ['5/1.5m', { count: 5, period: 90 }],
    ['5/ 2 s ', { count: 5, period: 2 }],
    ['0x5/ms', { count: 5, period: 0.001 }],
    ['', 'Range error'],
    ['0/s', 'Range error'],
    ['2147483648', 'Range error'],
    ['1x', 'Syntax error'],
    ['1/', 'Syntax error'],
    ['1 /s', 'Syntax error'],
    ['1/1', 'Syntax error: Invalid duration'],
    ['1/0s', 'Syntax error: Invalid duration'],
    ['1/-1s', 'Syntax error: Invalid duration'],
    ['1/s/s', 'Syntax error: Invalid duration'],
  ])('-R %j is %j', (text, result) => {
    expect(parseRate(text)).toEqual(result);
  });
});
