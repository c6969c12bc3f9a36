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
    [['--strict', '--readonly'], { strict: true, readonly: true, words: [] }],
  ])('%j', (argv, expected) => {
    expect(parseArguments(argv)).toMatchObject(expected);
  });

  it('helps and tells its version', () => {
    expect(parseArguments(['-h'])).toBe('help');
    expect(parseArguments(['-V', 'x'])).toBe('version');
  });

  it.each([[['-q']], [['-n']], [['-t', 'x']], [['-n', 'x', '-T', 'y']], [['--nosuch']]])(
    'refuses %j',
    (argv) => {
      expect(() => parseArguments(argv)).toThrow(UsageError);
    },
  );
});
