import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { globToRegExp } from '../../../daemon/manager/name-pattern.ts';
import { readProgramFile } from '../../../daemon/manager/program-file.ts';
import { lockDirectory, makeDirectory } from '../../../daemon/manager/working-directory.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-dir-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('is made for its user alone', () => {
  makeDirectory(join(dir, 'a/b'));
  expect(statSync(join(dir, 'a/b')).mode & 0o777).toBe(0o700);
  writeFileSync(join(dir, 'file'), '');
  expect(() => makeDirectory(join(dir, 'file'))).toThrow('It is a file and no directory');
});

it('is one daemon’s at a time', () => {
  const unlock = lockDirectory(dir);
  expect(() => lockDirectory(dir)).toThrow(`Another daemon (process ${process.pid}) already uses`);
  unlock();
  lockDirectory(dir)();
  expect(existsSync(join(dir, 'lock'))).toBe(false);
});

it.each([
  ['of a process that is gone', '4194303 123'],
  ['of an earlier process with our id', `${process.pid} 1`],
  ['that is no lock', 'garbage'],
  ['that is empty', ''],
])('takes over a lock %s', (_what, text) => {
  writeFileSync(join(dir, 'lock'), text);
  lockDirectory(dir);
  expect(readFileSync(join(dir, 'lock'), 'utf8')).toMatch(new RegExp(`^${process.pid} \\d+\\n$`));
});

it('takes over the lock of a process that was killed and not collected yet', async () => {
  // The shell becomes a sleep that never collects the other one.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 30'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const pid = await new Promise<string>((resolve) => {
      parent.stdout.once('data', (d) => resolve(String(d).trim()));
    });
    const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8');
    await expect.poll(() => stat().includes(') Z ')).toBe(true);
    const start = stat()
      .slice(stat().lastIndexOf(')') + 2)
      .split(' ')[19];
    writeFileSync(join(dir, 'lock'), `${pid} ${start}\n`);
    lockDirectory(dir)();
  } finally {
    parent.kill('SIGKILL');
  }
});

it('finds programs along vcl_path, absolute and ./ ones as they are', () => {
  writeFileSync(join(dir, 'x.vcl'), 'X');
  expect(readProgramFile('x.vcl', `/nonexistent:${dir}`)).toEqual({ name: join(dir, 'x.vcl'), text: 'X' });
  expect(readProgramFile(join(dir, 'x.vcl'), '')).toEqual({ name: join(dir, 'x.vcl'), text: 'X' });
  expect(readProgramFile('./x.vcl', dir)).toBe('No such file or directory');
  expect(readProgramFile(dir, '')).toBe('Is a directory');
});

it.each([
  ['b*', 'boot', true],
  ['b?ot', 'boot', true],
  ['[a-c]oot', 'boot', true],
  ['[!a-c]oot', 'boot', false],
  ['b.ot', 'boot', false],
  ['boot', 'boot2', false],
  ['\\*', '*', true],
  ['[', '[', true],
  ['[z-a]', '[z-a]', true],
])('%s matches %s: %s', (pattern, name, matches) => {
  expect(globToRegExp(pattern).test(name)).toBe(matches);
});
