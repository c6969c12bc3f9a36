import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommandLines, parseCommand, QuotingError, quoteWord } from '../../protocol/cli-quoting.ts';

describe('words', () => {
  it.each([
    ['', []],
    ['  \t ', []],
    ['vcl.list', ['vcl.list']],
    ['  param.set  default_ttl\t5 ', ['param.set', 'default_ttl', '5']],
    ['ban req.url ~ "/a b"', ['ban', 'req.url', '~', '/a b']],
    ['a "x\\"y\\\\z"', ['a', 'x"y\\z']],
    ['a "l1\\nl2\\t\\r"', ['a', 'l1\nl2\t\r']],
    ['a \\x41\\102', ['a', 'AB']],
    ['a ""', ['a', '']],
    ['a ab"c', ['a', 'ab"c']],
    ['a "x"y', ['a', 'x', 'y']],
    ['vcl.inline x << END\nvcl 4.1;\n\nsub x {}\nEND', ['vcl.inline', 'x', 'vcl 4.1;\n\nsub x {}\n']],
    ['vcl.inline x << END\r\na\r\nEND\r\n', ['vcl.inline', 'x', 'a\r\n']],
    ['vcl.inline x << E\nE', ['vcl.inline', 'x', '']],
    ['ban a << b c', ['ban', 'a', '<<', 'b', 'c']],
    ['a "two\nlines"', ['a', 'two\nlines']],
  ])('%j', (line, words) => {
    expect(parseCommand(line)).toEqual(words);
  });

  it.each([
    ['a "x', "Missing '\"'"],
    ['a \\q', 'Invalid backslash sequence'],
    ['a \\x4', 'Invalid backslash sequence'],
    ['a "\\', 'Invalid backslash sequence'],
    ['vcl.inline x << END\nvcl 4.1;', "Missing end 'END' of the here-document"],
  ])('refuses %j', (line, message) => {
    expect(parseCommand(line)).toEqual(new QuotingError(message));
  });

  it('reads back every word that it quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (words) => {
        fc.pre(words.at(-2) !== '<<');
        expect(parseCommand(words.map(quoteWord).join(' '))).toEqual(words);
      }),
    );
  });
});

describe('a stream of commands', () => {
  const script = 'ping\r\nvcl.inline a << X\none\ntwo\nX\nstatus\nlast';
  const commands = ['ping', 'vcl.inline a << X\none\ntwo\nX', 'status', 'last'];

  it('is cut the same wherever it is split', () => {
    for (let i = 0; i <= script.length; i++) {
      const lines = new CommandLines();
      const got = [...lines.push(script.slice(0, i)), ...lines.push(script.slice(i)), ...lines.end()];
      expect(got, `split at ${i}`).toEqual(commands);
    }
  });

  it('is bounded', () => {
    const lines = new CommandLines(100);
    expect(lines.push('x'.repeat(1000))).toHaveLength(1);
    expect(lines.push('a b << E\n')).toEqual([]);
    expect(lines.push(`${'y\n'.repeat(200)}`)).not.toHaveLength(0);
  });
});
