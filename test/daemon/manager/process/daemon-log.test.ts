// Where the manager's messages go in each mode.

import { fstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OptionError } from '../../../../daemon/manager/options/option-error.ts';
import type { Options } from '../../../../daemon/manager/options/options.ts';
import { isJournal, openDaemonLog } from '../../../../daemon/manager/process/daemon-log.ts';

let dir: string;
let stderr: string;
let starter: string;
const journalStream = process.env.JOURNAL_STREAM;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-daemon-log-'));
  stderr = '';
  starter = '';
});
afterEach(() => {
  if (journalStream === undefined) delete process.env.JOURNAL_STREAM;
  else process.env.JOURNAL_STREAM = journalStream;
  rmSync(dir, { recursive: true, force: true });
});

const open = (mode: Options['mode'], logFile: string | null = null) =>
  openDaemonLog(
    { mode, logFile },
    {
      stderr: (text) => {
        stderr += text;
      },
      starter: (text) => {
        starter += text;
      },
      syslog: { socket: join(dir, 'no-socket') },
    },
  );

describe("the manager's messages", () => {
  it('go to standard error in the foreground, each with its level', () => {
    const log = open('foreground');
    log.write('debug', 'a');
    log.write('error', 'b\n c');
    expect([stderr, starter]).toEqual(['Debug: a\nError: b\n c\n', '']);
  });

  it('carry the level of each line where standard error is the journal', () => {
    const { dev, ino } = fstatSync(2, { bigint: true });
    process.env.JOURNAL_STREAM = `${dev}:${ino}`;
    const log = open('foreground');
    log.write('warning', 'a');
    log.write('error', 'b\n c');
    expect(stderr).toBe('<4>Warning: a\n<3>Error: b\n<3> c\n');
    expect([isJournal('1:2'), isJournal(''), isJournal(undefined)]).toEqual([false, false, false]);
  });

  it('go to the file as well with --log-file', () => {
    const path = join(dir, 'log');
    open('debug', path).write('info', 'a');
    expect(stderr).toBe('Info: a\n');
    expect(readFileSync(path, 'utf8')).toMatch(/^\S+ Info: a\n$/);
  });

  it('go to the file alone in the background, and what matters to the starter', () => {
    const path = join(dir, 'log');
    const log = open('daemon', path);
    for (const level of ['debug', 'info', 'warning', 'error'] as const) log.write(level, level);
    expect(readFileSync(path, 'utf8').match(/\w+$/gm)).toEqual(['debug', 'info', 'warning', 'error']);
    expect([stderr, starter]).toEqual(['', 'Warning: warning\nError: error\n']);
  });

  it('that reach no log are reported at the start', () => {
    open('daemon');
    expect(starter).toBe(
      `Warning: nothing can be logged in the background: there is no ${join(dir, 'no-socket')} (start a system log). Name a file with --log-file, or stay in the foreground with -F\n`,
    );
  });

  it('say what file cannot be opened, and what to do', () => {
    const path = join(dir, 'none', 'log');
    expect(() => open('foreground', path)).toThrow(OptionError);
    expect(() => open('daemon', path)).toThrow(
      `--log-file: Cannot open '${path}': No such file or directory (name a file in an existing, writable directory)`,
    );
    expect(() => open('daemon', dir)).toThrow(`'${dir}': It is a directory and no file: name a file`);
  });

  it('have nothing in them that a terminal obeys', () => {
    open('foreground').write('info', 'Child (1) said \x1b[2J\x9b1m\rx\tä');
    expect(stderr).toBe('Info: Child (1) said %1b[2J%9b1m%0dx\tä\n');
  });
});
