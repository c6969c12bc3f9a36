import { describe, expect, it } from 'vitest';
import { parseArguments, ValueError } from '../../../console/bin/proxyadm-arguments.ts';

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
    [['--varnish'], { varnish: '', words: [] }],
    [['--varnish', 'edge', 'vcl.list', '-j'], { varnish: 'edge', words: ['vcl.list', '-j'] }],
    [['--varnish=ssh://web1/edge'], { varnish: 'ssh://web1/edge', words: [] }],
    [['--varnish', '--', 'vcl.list'], { varnish: '', words: ['vcl.list'] }],
    [['param.set', 'x', '-5', '-n', 'y'], { words: ['param.set', 'x', '-5', '-n', 'y'] }],
  ])('%j', (argv, expected) => {
    expect(parseArguments(argv)).toMatchObject(expected);
  });

  it.each([[['-h']], [['-?']], [['--help']], [['-V', 'x']], [['--version']]])('answers %j', (argv) => {
    expect(parseArguments(argv)).toMatchObject({ kind: 'answer', stream: 'stdout' });
  });

  it.each([
    [['-q'], "invalid option -- 'q'"],
    [['-5'], "invalid option -- '5'"],
    [['-n'], "option requires an argument -- 'n'"],
    [['-n', 'x', '-T', 'y'], '-n is mutually exclusive with -S and -T'],
    [['-n', 'x', '-S', 'y'], '-n is mutually exclusive with -S and -T'],
    [['-n', 'x', '--varnish'], '--varnish is mutually exclusive with -n, -S and -T'],
    [['-T', 'x', '--varnish', 'y'], '--varnish is mutually exclusive with -n, -S and -T'],
    [['--nosuch'], "unknown option '--nosuch'"],
    [['--stric'], "unknown option '--stric'\n(Did you mean --strict?)"],
  ])('refuses %j', (argv, message) => {
    expect(parseArguments(argv)).toEqual({ kind: 'mistake', message });
  });

  it.each(['ssh://-oProxyCommand=x', 'a b', "a'b"])('refuses the Varnish %s', (text) => {
    expect(() => parseArguments([`--varnish=${text}`])).toThrow(ValueError);
  });

  it.each([['x'], ['1.5s'], ['-1']])('refuses the time %s', (text) => {
    expect(() => parseArguments(['-t', text])).toThrow(ValueError);
  });
});
