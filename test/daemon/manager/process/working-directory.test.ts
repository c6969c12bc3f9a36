import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WorkerDirectory } from '../../../../daemon/manager/process/worker-directory.ts';
import { lockDirectory, makeDirectory } from '../../../../daemon/manager/process/working-directory.ts';
import { readProgramFile } from '../../../../daemon/manager/start-files.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-dir-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('is made for its user alone', () => {
  makeDirectory(join(dir, 'a'), null);
  expect(statSync(join(dir, 'a')).mode & 0o777).toBe(0o700);
  writeFileSync(join(dir, 'file'), '');
  expect(() => makeDirectory(join(dir, 'file'), null)).toThrow('It is a file and no directory');
});

it('is made without what is missing above it, unless that is where names are looked up', () => {
  const missing = /It cannot be created \(No such file or directory\)/;
  expect(() => makeDirectory(join(dir, 'typo/a/b'), null)).toThrow(missing);
  expect(() => makeDirectory(join(dir, 'state/a/b'), join(dir, 'state'))).toThrow(missing);
  expect(readdirSync(dir)).toEqual(['state']);
  makeDirectory(join(dir, 'home/state/name'), join(dir, 'home/state'));
  expect(statSync(join(dir, 'home/state/name')).mode & 0o777).toBe(0o700);
});

it('is searched by others only where they have files in it, and never written', () => {
  const mode = (path: string): number => statSync(path).mode & 0o777;
  makeDirectory(join(dir, 'shared'), null, true);
  expect(mode(join(dir, 'shared'))).toBe(0o711);
  makeDirectory(dir, null, true);
  expect(mode(dir)).toBe(0o711);
  chmodSync(dir, 0o755);
  makeDirectory(dir, null);
  expect(mode(dir)).toBe(0o755);
  for (const loose of [0o757, 0o1777]) {
    chmodSync(dir, loose);
    expect(() => makeDirectory(dir, null)).toThrow(/Others may write to it \(mode \d+\): chmod go-w/);
  }
});

it('may be named by a link of ours, and by none that lies where others may write', () => {
  mkdirSync(join(dir, 'real'));
  mkdirSync(join(dir, 'open'));
  chmodSync(join(dir, 'open'), 0o1777);
  symlinkSync(join(dir, 'real'), join(dir, 'link'), null);
  symlinkSync(join(dir, 'real'), join(dir, 'open/link'), null);
  makeDirectory(join(dir, 'link'), null);
  expect(() => makeDirectory(join(dir, 'open/link'), null)).toThrow('It is a symbolic link and no directory');
});

describe('the worker’s part of it', () => {
  const part = (readers: number | null = null) => new WorkerDirectory(dir, null, readers);
  const path = () => join(dir, 'worker');

  it('is made new, for its user or with a group, and removed', () => {
    const own = part();
    own.make();
    expect(statSync(own.path).mode & 0o7777).toBe(0o700);
    writeFileSync(join(path(), 'log.ring'), 'old');
    writeFileSync(join(path(), 'counters.77.new'), 'old');
    own.make();
    expect(readdirSync(path())).toEqual([]);
    own.remove();
    expect(existsSync(path())).toBe(false);
    own.restore();
    expect(existsSync(path())).toBe(true);
    const shared = part(process.getgid?.() ?? 0);
    shared.make();
    expect(statSync(path()).mode & 0o7777).toBe(0o750);
    const gid = process.getgid?.() ?? 0;
    expect([own.files, shared.files]).toEqual([{ mode: 0o600 }, { mode: 0o640, group: gid }]);
  });

  it('keeps what is not ours, and reports it', () => {
    mkdirSync(path());
    writeFileSync(join(path(), 'precious'), '');
    expect(() => part().make()).toThrow(/holds files that are not the daemon’s: remove it/);
    expect(readdirSync(path())).toEqual(['precious']);
  });

  it('removes a link by its name', () => {
    writeFileSync(join(dir, 'victim'), 'precious');
    mkdirSync(path());
    symlinkSync(join(dir, 'victim'), join(path(), 'log.ring'));
    part().make();
    expect(readFileSync(join(dir, 'victim'), 'utf8')).toBe('precious');
  });
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
