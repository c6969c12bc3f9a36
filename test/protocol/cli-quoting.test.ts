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
    ['a \\1 \\18 \\777', ['a', '\x01', '\x018', '\ufffd']],
    ['a \\xc3\\xa9x "\\303\\251"', ['a', 'éx', 'é']],
    ['a b\\0c d\0e', ['a', 'b', 'd']],
    ['a "x" y "z"', ['a', 'x', 'y', 'z']],
    ['"a" x "y"', ['a', 'x', 'y']],
    ['a "x"y', ['a', 'x', 'y']],
    ['vcl.inline x << END\nvcl 4.1;\n\nsub x {}\nEND', ['vcl.inline', 'x', 'vcl 4.1;\n\nsub x {}\n']],
    ['vcl.inline x << END\r\na\r\nEND\r\n', ['vcl.inline', 'x', 'a\r\n']],
    ['vcl.inline x << E\nE', ['vcl.inline', 'x', '']],
    ['vcl.inline x << E\na\n  E', ['vcl.inline', 'x', 'a\n']],
    ['<< E\nping\nE', ['ping\n']],
    ['vcl.inline x << ""', ['vcl.inline', 'x', '<<', '']],
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
    ['a b"c', `Invalid '"'`],
    ['a "b""c"', 'Missing separator between arguments'],
    ['"help" "help"', 'Missing separator between arguments'],
    ['a "x" \t "y"', 'Missing separator between arguments'],
    ['a "x" "', 'Missing separator between arguments'],
    ['vcl.inline x << END\nvcl 4.1;', "Missing end 'END' of the here-document"],
  ])('refuses %j', (line, message) => {
    expect(parseCommand(line)).toEqual(new QuotingError(message));
  });

  it('reads back every word that it quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (words) => {
        // A word ends at a NUL.
        fc.pre(words.at(-2) !== '<<' && !words.some((word) => word.includes('\0')));
        const between = words.flatMap((word) => [word, 'x']);
        expect(parseCommand(between.map(quoteWord).join(' '))).toEqual(between);
      }),
    );
  });
});

describe('a stream of commands', () => {
  const script = 'ping\r\n\n  \nvcl.inline a << X\r\none\r\n\ntwo\nX\npid\rstatus\nlast';
  const commands = ['ping', 'vcl.inline a << X\none\r\n\ntwo\nX', 'pid', 'status', 'last'];

  it('is cut the same wherever it is split', () => {
    for (let i = 0; i <= script.length; i++) {
      const lines = new CommandLines();
      const got = [...lines.push(script.slice(0, i)), ...lines.push(script.slice(i)), ...lines.end()];
      expect(got, `split at ${i}`).toEqual(commands);
    }
  });

  it('is bounded: what is too long is given out once, and cut', () => {
    const lines = new CommandLines(100);
    const got = [
      ...lines.push('x'.repeat(70)),
      ...lines.push('x'.repeat(70)),
      ...lines.push('x'.repeat(900)),
    ];
    expect(got).toEqual(['x'.repeat(101)]);
    expect(lines.push('ping\nstatus\n')).toEqual(['status']);
    expect(lines.push(`${'y'.repeat(500)}\nping\n`)).toEqual(['y'.repeat(101), 'ping']);
    expect(lines.push('a b << E\n')).toEqual([]);
    expect(lines.push('y\n'.repeat(200))[0]).toHaveLength(101);
  });
});

it('takes a long line in small pieces in no time that grows faster than its length', () => {
  const began = process.cpuUsage();
  const lines = new CommandLines();
  const piece = 'x'.repeat(64);
  let early = 0;
  for (let i = 0; i < 30_000; i++) early += lines.push(piece).length;
  expect(early).toBe(0);
  expect(lines.push('\n')).toHaveLength(1);
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(3000);
});
