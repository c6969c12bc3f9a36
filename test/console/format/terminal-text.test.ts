import { describe, expect, it } from 'vitest';
import { guardTerminal, terminalText } from '../../../console/format/terminal-text.ts';

describe('text for a terminal', () => {
  it.each([
    ['plain\ttext\n', 'plain\ttext\n'],
    ['Grüße 日本 🎉', 'Grüße 日本 🎉'],
    ['\x1b[2J', '%1b[2J'],
    ['a\rb\x07\x7f', 'a%0db%07%7f'],
    ['\u009b31m', '%c2%9b31m'],
    ['\u202eexe.txt', '%e2%80%aeexe.txt'],
    ['\u2066a\u2069\u200e\u061c', '%e2%81%a6a%e2%81%a9%e2%80%8e%d8%9c'],
    ['\ufeffa', '%ef%bb%bfa'],
  ])('%j', (text, expected) => {
    expect(terminalText(Buffer.from(text))).toBe(expected);
  });

  it('shows bytes that are no UTF-8 as what they are', () => {
    expect(terminalText(Buffer.from('\x9b31m \xff\xc3( \xed\xa0\x80 \xc0\xaf', 'latin1'))).toBe(
      '%9b31m %ff%c3( %ed%a0%80 %c0%af',
    );
  });

  it('lets no control character through, whatever the bytes', () => {
    const through: number[][] = [];
    for (let a = 0; a < 256; a++) {
      for (let b = 0; b < 256; b++) {
        if (!/^[\t\n\x20-\x7e\xa0-\u07ff]*$/.test(terminalText(Uint8Array.of(a, b)))) through.push([a, b]);
      }
    }
    expect(through).toEqual([]);
  });
});

it('guards a terminal, and leaves everything else as it is', () => {
  const written: unknown[] = [];
  const stream = (isTTY: boolean) =>
    ({ isTTY, write: (chunk: unknown) => written.push(chunk) > 0 }) as unknown as NodeJS.WriteStream;
  const [terminal, pipe] = [stream(true), stream(false)];
  guardTerminal([terminal, pipe]);
  const bytes = Buffer.from('a\x9b', 'latin1');
  terminal.write(bytes);
  terminal.write('\u202e\n');
  pipe.write(bytes);
  expect(written).toEqual(['a%9b', '%e2%80%ae\n', bytes]);
});
