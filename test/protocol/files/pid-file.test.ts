// Files with a process id: what is replaced, and what belongs to a process that runs.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writePidFile } from '../../../protocol/files/pid-file.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pid-'));
  path = join(directory, 'pid');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it.each([
  ['none', null],
  ['an empty one', ''],
  ['one that says nothing', 'garbage\n'],
  ['of a process that is gone', '4194303\n'],
  ['our own', `${process.pid}\n`],
])('takes the place of %s, and is removed', (_what, text) => {
  if (text !== null) writeFileSync(path, text);
  const remove = writePidFile(path);
  expect(readFileSync(path, 'utf8')).toBe(`${process.pid}\n`);
  remove();
  expect(existsSync(path)).toBe(false);
});

it('of a process that wrote it and runs stays', () => {
  const other = spawn('sleep', ['60']);
  try {
    writeFileSync(path, `${other.pid}\n`);
    expect(() => writePidFile(path)).toThrow(`Process ${other.pid}, which wrote it, is still running`);
    expect(readFileSync(path, 'utf8')).toBe(`${other.pid}\n`);
    // Written before that process began: its number was another's.
    utimesSync(path, 1000, 1000);
    writePidFile(path);
    expect(readFileSync(path, 'utf8')).toBe(`${process.pid}\n`);
  } finally {
    other.kill('SIGKILL');
  }
});
