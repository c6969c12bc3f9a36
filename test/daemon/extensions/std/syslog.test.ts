// The way to the system's log: the logger's input is what counts, so a stand-in for it is first on the PATH.

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Syslog } from '../../../../daemon/extensions/std/syslog.ts';
import { until } from '../../../harness/processes.ts';

const dir = mkdtempSync(join(tmpdir(), 'proxyd-syslog-'));
const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
  rmSync(dir, { recursive: true, force: true });
});

describe('std.syslog', () => {
  it('gives each message a line with its priority, whatever is in it', async () => {
    const program = join(dir, 'logger');
    writeFileSync(program, `#!/bin/sh\nhead -n 3 > "${dir}/got.new"\nmv "${dir}/got.new" "${dir}/got"\n`);
    chmodSync(program, 0o755);
    writeFileSync(join(dir, 'socket'), '');
    process.env.PATH = `${dir}:${path}`;
    const syslog = new Syslog('test', join(dir, 'socket'));
    expect(syslog.send(9, 'hello')).toBe(true);
    expect(syslog.send(9, 'two\n<0>lines')).toBe(true);
    expect(syslog.send(-1, 'no priority')).toBe(true);
    const got = await until('the lines', () => {
      try {
        return readFileSync(join(dir, 'got'), 'latin1');
      } catch {
        return null;
      }
    });
    expect(got).toBe('<9>hello\n<9>two <0>lines\n<13>no priority\n');
  });

  it('says when there is no system log', () => {
    expect(new Syslog('test', join(dir, 'nothing')).send(9, 'x')).toBe(false);
  });
});
