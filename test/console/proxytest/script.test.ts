// biome-ignore-all lint/suspicious/noTemplateCurlyInString: macros of scripts look like this
// The text of test scripts: words, strings, braces, escapes, and the lines where they stand.
import { describe, expect, it } from 'vitest';
import { Macros, macro } from '../../../console/proxytest/macros.ts';
import {
  readHex,
  readInteger,
  readNumber,
  ScriptError,
  ScriptReader,
} from '../../../console/proxytest/script.ts';

function commands(text: string): { line: number; words: string[] }[] {
  const reader = new ScriptReader({ text, file: 'a.vtc', line: 1 });
  const all: { line: number; words: string[] }[] = [];
  for (let next = reader.next(); next !== null; next = reader.next())
    all.push({ line: next.line, words: next.words.map(({ text: word }) => word) });
  return all;
}

describe('commands', () => {
  it('are lines, of words, strings and braces', () => {
    expect(commands('a b\n\n  # none\n\tc "d e" {f {g} h}\n')).toEqual([
      { line: 1, words: ['a', 'b'] },
      { line: 4, words: ['c', 'd e', 'f {g} h'] },
    ]);
  });

  it('continue after a backslash, and after braces of several lines', () => {
    expect(commands('a \\\n b\nc {\n1\n2\n} d\ne')).toEqual([
      { line: 1, words: ['a', 'b'] },
      { line: 3, words: ['c', '\n1\n2\n', 'd'] },
      { line: 7, words: ['e'] },
    ]);
  });

  it.each([
    ['"\\n\\t\\r\\"\\\\"', '\n\t\r"\\'],
    ['"\\101\\x42"', 'AB'],
    ['"a#b"', 'a#b'],
    ['a"b', 'a"b'],
    ['""', ''],
  ])('%s is a word', (text, word) => {
    expect(commands(`x ${text}`)[0]?.words[1]).toBe(word);
  });

  it.each(['a "b', 'a "b\n"', 'a {b', 'a "\\q"'])('%j is an error', (text) => {
    expect(() => commands(text)).toThrow(ScriptError);
  });

  it('know the line of a text in braces', () => {
    const reader = new ScriptReader({ text: 'client c1 \\\n  -x {\n a\n}', file: 'a.vtc', line: 10 });
    expect(reader.next()?.words.map(({ line }) => line)).toEqual([10, 10, 11, 11]);
  });
});

describe('numbers', () => {
  it.each([
    ['17', 17],
    [' 17x', 17],
    ['0x1f', 31],
    ['010', 8],
    ['x', 0],
  ])('%j is the whole number %d', (text, value) => {
    expect(readInteger(text)).toBe(value);
  });

  it('are decimal, and hexadecimal bytes', () => {
    expect([readNumber('1.5'), readNumber('.5'), readNumber('-2')]).toEqual([1.5, 0.5, -2]);
    expect([readNumber('1s'), readNumber('')]).toEqual([Number.NaN, Number.NaN]);
    expect(readHex('0F ee\na5').toString('hex')).toBe('0feea5');
    expect(() => readHex('0g')).toThrow(ScriptError);
  });
});

describe('macros', () => {
  const macros = new Macros(() => '7.1.1');
  macros.define('s1_port', '80');

  it.each([
    ['port ${s1_port}!', 'port 80!'],
    ['${ s1_port }', '80'],
    ['${string,repeat,3,ab}', 'ababab'],
    ['${string repeat 2 "a, b"}', 'a, ba, b'],
    ['${pkg_branch}', '7.1'],
    ['$s1_port ${', '$s1_port ${'],
  ])('%s', (text, value) => {
    expect(macros.expand(text)).toBe(value);
  });

  it.each(['${none}', '${s1_port,x}', '${string,reverse,a}', '${string,repeat,x,a}', '${}', '${date,x}'])(
    '%s is an error',
    (text) => {
      expect(() => macros.expand(text)).toThrow(ScriptError);
    },
  );

  it('stay as they are where that is asked for', () => {
    const lenient = new Macros(() => '');
    lenient.ignoreUnknown = true;
    expect(lenient.expand(`a ${macro('none')} b`)).toBe(`a ${macro('none')} b`);
  });
});
