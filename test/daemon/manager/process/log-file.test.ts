// --log-file: lines, rotation, a full disk, and paths that are not files.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogFile } from '../../../../daemon/manager/process/daemon-log.ts';

let dir: string;
let path: string;
let trouble: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-log-file-'));
  path = join(dir, 'log');
  trouble = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = (writeSome?: ConstructorParameters<typeof LogFile>[2]) =>
  new LogFile(path, (text) => trouble.push(text), writeSome);
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d /;
const lines = (file = path) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(STAMP, '@ '));

describe('a log file', () => {
  it('has a line a message, with its time, after what was there', () => {
    writeFileSync(path, 'old\n', { mode: 0o600 });
    const log = open();
    log.write('Info: one');
    log.write('Error: a panic\nat a place');
    expect(lines()).toEqual(['old', '@ Info: one', '@ Error: a panic', '\tat a place', '']);
    const at = Date.parse(readFileSync(path, 'utf8').split('\n')[1]?.split(' ')[0] ?? '');
    expect(Math.abs(Date.now() - at)).toBeLessThan(60_000);
  });

  it('is made for its user and group', () => {
    open();
    expect(statSync(path).mode & 0o777).toBe(0o640 & ~process.umask());
  });

  it('continues in a new file when it was renamed or removed', () => {
    const log = open();
    log.write('one');
    renameSync(path, `${path}.1`);
    log.write('two');
    expect([lines(`${path}.1`), lines()]).toEqual([
      ['@ one', ''],
      ['@ two', ''],
    ]);
    rmSync(path);
    log.write('three');
    expect(lines()).toEqual(['@ three', '']);
    expect(trouble).toEqual([]);
  });

  it('continues where it was when the new one cannot be made, reports it once, and finds it later', () => {
    const log = open();
    renameSync(path, `${path}.1`);
    mkdirSync(path);
    log.write('one');
    log.write('two');
    expect(lines(`${path}.1`)).toEqual(['@ one', '@ two', '']);
    expect(trouble).toEqual([
      expect.stringMatching(/^Cannot reopen the log file .*\/log: It is a directory and no file/),
    ]);
    rmSync(path, { recursive: true });
    log.write('three');
    expect(lines()).toEqual(['@ three', '']);
  });

  it('reports a full disk once, counts what is lost, and continues when there is room', () => {
    let room = Number.POSITIVE_INFINITY;
    const log = open((fd, bytes, from = 0) => {
      const some = bytes.subarray(from, from + room);
      if (some.length === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      room -= some.length;
      return writeSync(fd, some);
    });
    log.write('one');
    room = 36;
    for (const text of ['two, cut', 'three', 'four']) log.write(text);
    room = Number.POSITIVE_INFINITY;
    log.write('five');
    log.write('six');
    expect(trouble).toEqual([
      expect.stringMatching(/^Cannot write to the log file .*: No space left on device; .*free disk space$/),
    ]);
    expect(lines()).toEqual([
      '@ one',
      '@ two, c',
      '@ Warning: 3 lines could not be written here',
      '@ five',
      '@ six',
      '',
    ]);
  });

  it.each<[string, RegExp, () => void]>([
    ['a directory', /It is a directory and no file/, () => mkdirSync(path)],
    ['a FIFO', /It is a FIFO and no file/, () => execFileSync('mkfifo', [path])],
    ['a device', /It is a device and no file/, () => symlinkSync('/dev/full', path)],
    ['a file in no directory', /ENOENT/, () => rmSync(dir, { recursive: true })],
    [
      'what everybody may write to',
      /Everybody may write to it/,
      () => {
        writeFileSync(path, '');
        chmodSync(path, 0o666);
      },
    ],
  ])('is not %s', (_what, reason, prepare) => {
    prepare();
    expect(open).toThrow(reason);
  });
});
