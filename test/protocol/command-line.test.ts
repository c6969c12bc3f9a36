// The command lines of the tools as getopt(3) reads them, whatever commander would make of them by itself.
import { describe, expect, it } from 'vitest';
import { helpText, optstring, readCommandLine, versionLine } from '../../protocol/command-line.ts';
import { PROXYLOG, PROXYTOP } from '../../protocol/tables/log-tools.ts';
import type { ToolRow } from '../../protocol/tables/tool-row.ts';
import { PROXYADM, TOOLS } from '../../protocol/tables/tools.ts';

const read = (tool: ToolRow, ...argv: string[]) => readCommandLine(tool, argv, '1.2.3');
const log = (...argv: string[]) => read(PROXYLOG, ...argv);

describe('options', () => {
  it.each([
    [['-nNAME'], [['n', 'NAME']]],
    [
      ['-dvnNAME'],
      [
        ['d', ''],
        ['v', ''],
        ['n', 'NAME'],
      ],
    ],
    [['-I', '-foo'], [['I', '-foo']]],
    [
      ['-w', '-', '-r', '-'],
      [
        ['w', '-'],
        ['r', '-'],
      ],
    ],
    [
      ['-q', 'a', '-i', 'b', '-q', 'c', '-C', '-i', 'd'],
      [
        ['q', 'a'],
        ['i', 'b'],
        ['q', 'c'],
        ['C', ''],
        ['i', 'd'],
      ],
    ],
    [['-k', '-5'], [['k', '-5']]],
    [['-n', '--'], [['n', '--']]],
    [['-t=3'], [['t', '=3']]],
    [['-q', ''], [['q', '']]],
    [['--json'], [['json', '']]],
  ])('%j', (argv, options) => {
    expect(log(...argv)).toEqual({ options, words: [], end: null });
  });

  it('come in any order with words, until two dashes', () => {
    expect(log('a', '-d', '-', '--', '-v', '--')).toEqual({
      options: [['d', '']],
      words: ['a', '-', '-v', '--'],
      end: null,
    });
  });

  it('end at the first word where that is a command', () => {
    expect(read(PROXYADM, '-p', 'ban', '-n', 'x')).toEqual({
      options: [['p', '']],
      words: ['ban', '-n', 'x'],
      end: null,
    });
  });

  it('take a value after =, of long names', () => {
    expect(read(PROXYADM, '--replay=a=b').options).toEqual([['replay', 'a=b']]);
  });
});

describe('what ends a command line', () => {
  it.each([
    [['-Z', '-h'], "invalid option -- 'Z'"],
    [['-dZ'], "invalid option -- 'Z'"],
    [['-?'], "invalid option -- '?'"],
    [['-5'], "invalid option -- '5'"],
    [['-d', '-k'], "option requires an argument -- 'k'"],
    [['-dk'], "option requires an argument -- 'k'"],
    [['word', '-Z'], "invalid option -- 'Z'"],
    // Nothing is abbreviated or negated.
    [['--jso'], "unknown option '--jso'\n(Did you mean --json?)"],
    [['--no-json'], "unknown option '--no-json'\n(Did you mean --json?)"],
    [['--json=x'], "unknown option '--json=x'\n(Did you mean --json?)"],
  ])('%j is a mistake', (argv, message) => {
    expect(log(...argv).end).toEqual({ kind: 'mistake', message });
  });

  it('is the first that comes, and what came before is there', () => {
    expect(log('-d', '-V', '-Z')).toEqual({
      options: [['d', '']],
      words: [],
      end: { kind: 'answer', stream: 'stderr', text: `${versionLine('proxylog', '1.2.3')}\n` },
    });
    expect(log('-hV').end).toMatchObject({ text: helpText(PROXYLOG), stream: 'stderr' });
    expect(log('--help').end).toMatchObject({ text: helpText(PROXYLOG) });
    expect(log('--optstring').end).toEqual({
      kind: 'answer',
      stream: 'stdout',
      text: `${optstring(PROXYLOG.options)}\n`,
    });
  });
});

it('names the release that scripts look for', () => {
  expect(/varnish-(\d+\.\d+\.\d+)/.exec(versionLine('proxystat', '1.2.3'))?.[1]).toBe('7.1.1');
});

it('has one letter and name for one option, and each in its help', () => {
  for (const tool of TOOLS) {
    const names = tool.options.flatMap((o) => o.flags.split(', '));
    expect([tool.name, new Set(names).size]).toEqual([tool.name, names.length]);
    for (const o of tool.options.filter((row) => row.hidden !== true)) {
      expect(helpText(tool)).toContain(o.flags.split(', ')[0]);
    }
  }
  expect(helpText(PROXYTOP)).toMatch(/^Usage: proxytop <options>\n\nOptions:\n \[-1\] {22}What/);
});
