// The units for systemd and their companions: systemd accepts them, and their command lines work when run as systemd
// would, in other places.
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseOptions } from '../../daemon/manager/options/options.ts';
import { groupId } from '../../daemon/manager/process/accounts.ts';
import { Origin, respond } from '../harness/origin.ts';
import { findProgram, installed, run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, ROOT, RunningProxy } from '../harness/proxy.ts';

const PROXYD = 'daemon/proxyd.service';
const SOCKETS = 'daemon/proxyd.socket';
const PROXYNCSA = 'console/ncsa/proxyncsa.service';
const USERS = 'daemon/proxyd.sysusers';
const ROTATION = 'console/ncsa/proxyncsa.logrotate';

const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
/** The value of a setting that stands once. */
function setting(file: string, name: string): string {
  const found = [...text(file).matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))];
  expect([file, name, found.length]).toEqual([file, name, 1]);
  return found[0]?.[1] as string;
}

const box = new Sandbox('proxyd-units');
const origin = await Origin.start();
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

describe('the units', () => {
  it('are packed, with what they need', () => {
    const { files } = JSON.parse(text('package.json')) as { files: string[] };
    expect(files).toEqual(expect.arrayContaining([PROXYD, SOCKETS, USERS, PROXYNCSA, ROTATION]));
  });

  it('start the daemon with flags it takes, and again whatever ended it', () => {
    const options = /^"PROXYD_OPTIONS=(.*)"$/.exec(setting(PROXYD, 'Environment'))?.[1] ?? '';
    const start = setting(PROXYD, 'ExecStart').replace('/usr/bin/env proxyd ', '');
    expect(parseOptions(start.replace('$PROXYD_OPTIONS', options).split(' '))).toMatchObject({
      kind: 'run',
      options: { mode: 'foreground', dir: '/run/proxyd' },
    });
    expect(setting(PROXYD, 'Type')).toBe('exec');
    expect(setting(PROXYD, 'Restart')).toBe('always');
    expect(setting(PROXYD, 'RestartSec')).toBe('100ms');
    for (const unit of [PROXYD, PROXYNCSA]) expect(setting(unit, 'StartLimitIntervalSec')).toBe('0');
  });

  it('pass the sockets that the daemon listens on', () => {
    const options = /^"PROXYD_OPTIONS=(.*)"$/.exec(setting(PROXYD, 'Environment'))?.[1] ?? '';
    const [, port] = /-a :(\d+) /.exec(options) ?? [];
    const passed = [...text(SOCKETS).matchAll(/^ListenStream=(.*)$/gm)].map(([, address]) => address);
    expect(passed).toEqual([`0.0.0.0:${port}`, `[::]:${port}`]);
    // One socket for both would leave no port for that of IPv4.
    expect(setting(SOCKETS, 'BindIPv6Only')).toBe('ipv6-only');
  });

  it('run as users that the package names, and let one group read', () => {
    for (const unit of [PROXYD, PROXYNCSA])
      expect(text(USERS)).toMatch(new RegExp(`^u ${setting(unit, 'User')} `, 'm'));
    const group = setting(PROXYNCSA, 'Group');
    expect(setting(PROXYD, 'SupplementaryGroups')).toBe(group);
    expect(setting(PROXYD, 'ExecStart')).toContain(` --read-group ${group} `);
    expect(text(ROTATION)).toContain(`su ${setting(PROXYNCSA, 'User')} ${group}`);
    // Files for a group are given to it by chown(2), which @privileged has taken away.
    expect(text(PROXYD).slice(text(PROXYD).indexOf('~@privileged'))).toMatch(/^SystemCallFilter=@chown$/m);
    // The directory of a dynamic user would be where only root can look.
    expect(setting(PROXYD, 'RuntimeDirectoryPreserve')).toBe('restart');
    expect(text(PROXYD)).not.toMatch(/^DynamicUser=/m);
  });

  it.skipIf(!installed('systemd-analyze'))('are such that systemd has nothing to say', async () => {
    const end = await run('systemd-analyze', [
      'verify',
      '--man=no',
      join(ROOT, PROXYD),
      join(ROOT, SOCKETS),
      join(ROOT, PROXYNCSA),
    ]);
    expect(end).toMatchObject({ code: 0, stderr: '' });
  });

  it.skipIf(!installed('systemd-analyze'))('are called safe by it', async () => {
    for (const unit of [PROXYD, PROXYNCSA]) {
      const args = ['security', '--offline=yes', '--threshold=20', join(ROOT, unit)];
      expect([unit, (await run('systemd-analyze', args)).code]).toEqual([unit, 0]);
    }
  });

  it.skipIf(!installed('systemd-sysusers'))('have users that systemd can make', async () => {
    const root = box.path('sysusers');
    mkdirSync(join(root, 'etc/sysusers.d'), { recursive: true });
    writeFileSync(join(root, 'etc/sysusers.d/proxyd.conf'), text(USERS));
    expect(await run('systemd-sysusers', [`--root=${root}`])).toMatchObject({ code: 0 });
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toMatch(/^proxyd:[\s\S]*^proxyncsa:/m);
  });
});

/** Whether the reader can be what its unit makes of it: another user than the daemon's, and in its group. */
const root = process.geteuid?.() === 0 && installed('setpriv');
const adm = groupId('adm');

it.skipIf(adm === null || !root)('the lines of the units do what they are for', async () => {
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  const places: [string, string][] = [
    ['/etc/proxyd/default.vcl', box.path('vcl')],
    ['/run/proxyncsa', box.path('ncsa')],
    ['/run/proxyd', box.path('run')],
    ['/var/log/proxyd', box.path('log')],
  ];
  const at = Object.fromEntries(places) as Record<string, string>;
  const env = {
    ...process.env,
    PATH: [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    PROXYD_OPTIONS: '-a 127.0.0.1:0',
  };
  /** As systemd reads it: its escapes undone, variables set, and our own places in it. */
  const line = (file: string, name: string, variables: Record<string, string>): string => {
    let out = setting(file, name).replaceAll('$$', '\0').replaceAll('%%', '%');
    for (const [from, to] of Object.entries(variables)) out = out.replaceAll(`$${from}`, to);
    for (const [from, to] of places) out = out.replaceAll(from, to);
    return out.replaceAll('\0', '$');
  };
  const nobody = 65534;
  for (const dir of ['/run/proxyncsa', '/var/log/proxyd'].map((name) => at[name] as string)) {
    mkdirSync(dir, { mode: 0o750 });
    chownSync(dir, nobody, adm as number);
  }
  writeFileSync(at['/etc/proxyd/default.vcl'] as string, backendProgram(origin.port));

  const start = line(PROXYD, 'ExecStart', { PROXYD_OPTIONS: env.PROXYD_OPTIONS });
  const daemon = box.start('proxyd', '/bin/sh', ['-c', `exec ${start}`], { env });
  const proxy = new RunningProxy('proxyd', at['/run/proxyd'] as string, daemon);
  await proxy.serving();

  const reader = line(PROXYNCSA, 'ExecStart', { PROXYNCSA_OPTIONS: '' });
  const asReader = ['--reuid=65534', `--regid=${adm}`, '--clear-groups', '/bin/sh', '-c', `exec ${reader}`];
  // It recovers once it reads the log.
  const started = await run(findProgram('setpriv') as string, asReader, { env });
  expect(started).toMatchObject({ code: 0, stdout: '', stderr: '' });
  const pid = readFileSync(join(at['/run/proxyncsa'] as string, 'pid'), 'utf8').trim();
  box.adopt(Number(pid));

  const log = join(at['/var/log/proxyd'] as string, 'access.log');
  await proxy.get('/first');
  await until('a line', () => readFileSync(log, 'utf8').includes('/first '));
  renameSync(log, `${log}.1`);
  const reload = await run('/bin/sh', ['-c', line(PROXYNCSA, 'ExecReload', { MAINPID: pid })]);
  expect(reload).toMatchObject({ code: 0, stderr: '' });
  await until('the new file', () => existsSync(log) && readFileSync(log, 'utf8') === '');
  await proxy.get('/second');
  await until('a line', () => readFileSync(log, 'utf8').includes('/second '));
  expect(readFileSync(`${log}.1`, 'utf8')).not.toContain('/second');

  const again = await run('/bin/sh', ['-c', line(PROXYD, 'ExecReload', {})], { env });
  expect(again).toMatchObject({ code: 0, stderr: '' });
  expect((await proxy.adm('vcl.list')).stdout).toMatch(/^active .* reload_\d{8}_\d{6}_\d+/m);
});
