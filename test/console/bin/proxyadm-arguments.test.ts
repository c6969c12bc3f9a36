import { describe, expect, it } from 'vitest';
import { parseArguments, UsageError } from '../../../console/bin/proxyadm-arguments.ts';

describe('proxyadm', () => {
  it.each([
    [['status'], { words: ['status'] }],
    [['-n', 'x', 'vcl.list', '-j'], { dir: 'x', words: ['vcl.list', '-j'] }],
    [['-nx', '--', '-odd'], { dir: 'x', words: ['-odd'] }],
    [['--', 'vcl.inline a << E\nx\nE'], { words: ['vcl.inline a << E\nx\nE'] }],
    [
      ['-T', ':1', '-S', 's', '-t', '0.5', '-p'],
      { address: ':1', secretFile: 's', timeout: 0.5, pass: true },
    ],
    [['-pt0', '-n', 'x', 'a'], { dir: 'x', timeout: Number.POSITIVE_INFINITY, pass: true, words: ['a'] }],
    [['--strict', '--readonly'], { strict: true, readonly: true, words: [] }],
  ])('%j', (argv, expected) => {
    expect(parseArguments(argv)).toMatchObject(expected);
  });

  it('helps and tells its version', () => {
    expect(parseArguments(['-h'])).toBe('help');
    expect(parseArguments(['-V', 'x'])).toBe('version');
  });

  it.each([
    [['-q'], 1],
    [['-n'], 1],
    [['-t', 'x'], 2],
    [['-t', '1.5s'], 2],
    [['-t', '-1'], 2],
    [['-n', 'x', '-T', 'y'], 1],
    [['-n', 'x', '-S', 'y'], 1],
    [['--nosuch'], 1],
  ])('refuses %j', (argv, exitCode) => {
    expect(() => parseArguments(argv)).toThrow(UsageError);
    expect(() => parseArguments(argv)).toThrow(expect.objectContaining({ exitCode }));
  });
});
