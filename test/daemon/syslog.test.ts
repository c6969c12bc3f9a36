// The way to the system's log: the logger's input is what counts, so the tests have a stand-in for it; the
// real one is played in test/system/messages.test.ts.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Syslog, type SyslogSettings } from '../../daemon/syslog.ts';
import { processTree, until } from '../harness/processes.ts';

let dir: string;
let socket: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-syslog-'));
  socket = join(dir, 'socket');
  writeFileSync(socket, '');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A log that goes through this script of sh, which finds its run's number in $1. */
function log(script: string, settings: SyslogSettings = {}): Syslog {
  const program = join(dir, 'logger');
  writeFileSync(
    program,
    `#!/bin/sh\ncd "${dir}"\necho "$@" >> arguments\nset -- $(wc -l < arguments)\n${script}\n`,
  );
  chmodSync(program, 0o755);
  return new Syslog({ tag: 'test', socket, program, pause: 50, ...settings });
}

function got(name = 'got'): string {
  return existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'latin1') : '';
}

describe('the system log', () => {
  it('gets each line as a message with its priority, under the name and id of the sender', async () => {
    const syslog = log('cat >> got');
    syslog.send(9, 'hello');
    syslog.send(27, 'two\n<0>lines');
    syslog.send(-1, 'no priority');
    syslog.send(14, 'x'.repeat(6000));
    syslog.send(30, 'ä');
    await syslog.close();
    const pieces = [2600, 2600, 800].map((length) => `<14>${'x'.repeat(length)}\n`).join('');
    expect(got()).toBe(
      `<9>hello\n<27>two\n<27><0>lines\n<13>no priority\n${pieces}<30>${Buffer.from('ä').toString('latin1')}\n`,
    );
    expect(got('arguments')).toContain(`-t test --id=${process.pid}`);
    expect(got('arguments').split('\n')).toHaveLength(2);
  });

  it('takes the bytes of a program as they are', async () => {
    const syslog = log('cat >> got', { encoding: 'latin1' });
    syslog.send(9, 'é');
    await syslog.close();
    expect(Buffer.from(got(), 'latin1')).toEqual(Buffer.from('<9>é\n', 'latin1'));
  });

  it('lets the logger end after a quiet moment, and starts another one for the next message', async () => {
    const syslog = log('cat >> got; echo end >> got');
    syslog.send(9, 'one');
    await until('its end', () => got() === '<9>one\nend\n');
    syslog.send(9, 'two');
    await syslog.close();
    expect(got()).toBe('<9>one\nend\n<9>two\nend\n');
  });

  it.each([
    ['is killed', 'kill -9 $$'],
    ['fails', 'exit 1'],
    ['complains', 'cat > /dev/null; echo cannot send >&2; exit 0'],
  ])('loses nothing to a logger that %s', async (_how, first) => {
    const syslog = log(`[ $1 = 1 ] && { ${first}; }\ncat >> got`);
    syslog.send(9, 'one');
    await until('the first logger', () => got('arguments') !== '');
    syslog.send(9, 'two');
    await until('both lines', () => got() === '<9>one\n<9>two\n');
    await syslog.close();
  });

  it('keeps what is sent before there is a log or a logger, and counts what finds no room', async () => {
    rmSync(socket);
    const syslog = log('cat >> got');
    expect(syslog.reachable).toBe(false);
    expect(syslog.missing).toBe(`there is no ${socket} (start a system log)`);
    for (let i = 0; i < 1000; i++) syslog.send(27, `${i} ${'y'.repeat(90)}`);
    writeFileSync(socket, '');
    expect(syslog.missing).toBe(null);
    await until('the count of the others', () => got().includes('found no room'));
    const lines = got().trimEnd().split('\n');
    expect(lines[0]).toMatch(/^<27>0 y/);
    expect(lines.at(-1)).toBe(
      `<132>${1000 - lines.length + 1} messages found no room while the system's log took none`,
    );
    expect(got().length).toBeLessThan(66_000);
    expect(got().length).toBeGreaterThan(60_000);
    await syslog.close();
  });

  it('reports that there is no logger, and survives it', async () => {
    const syslog = new Syslog({ socket, program: 'no-such-logger', pause: 20 });
    expect(syslog.missing).toMatch(/^there is no no-such-logger on the PATH/);
    syslog.send(9, 'x');
    await until('the failure', () => !syslog.reachable);
    await syslog.close();
  });

  it('waits a moment for a logger that hangs, and leaves none', async () => {
    const syslog = log('echo $$ > pid; exec sleep 1000');
    syslog.send(9, 'x');
    await until('the logger', () => got('pid') !== '');
    const before = performance.now();
    await syslog.close();
    expect(performance.now() - before).toBeLessThan(25_000);
    const pid = Number(got('pid'));
    await until('its end', () => !processTree(process.pid).includes(pid));
  });
});
