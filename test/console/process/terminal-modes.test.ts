// Bytes written to a terminal, and when the console uses line output.
import type { ReadStream, WriteStream } from 'node:tty';
import { expect, it } from 'vitest';
import { Terminal, wantsLineOutput } from '../../../console/process/terminal.ts';

it.each([
  [{ TERM: 'dumb' }, true],
  [{ TERM: 'xterm', PROXYD_READER: '1' }, true],
  [{ TERM: 'xterm' }, false],
  [{}, false],
])('%j: in lines %s', (env, lines) => {
  expect(wantsLineOutput(env)).toBe(lines);
});

it('sends no escape sequence to a dumb terminal', () => {
  const written: string[] = [];
  const stdin = { setRawMode: () => undefined } as unknown as ReadStream;
  const stdout = { write: (text: string) => written.push(text) } as unknown as WriteStream;
  const use = (dumb: boolean): string[] => {
    const terminal = new Terminal(stdin, stdout, dumb);
    terminal.mouse(true);
    terminal.enter(false);
    terminal.copy('x');
    return written.splice(0);
  };
  expect(use(false)).toHaveLength(4);
  expect(use(true)).toEqual([]);
});
