// Outputs that cannot be written and daemons that cannot be reached: each a sentence that says what, where and why, and
// a status that is not 0; never a stack trace. A reader that has gone away is no error.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delay, type Finished, run, Sandbox, until } from '../harness/processes.ts';
import { command, ROOT, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-outputs');
const disk = box.path('disk');
mkdirSync(disk);
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=755', 'tmpfs', disk]).status === 0;
if (!mounted) console.warn('tests of a full disk are skipped: none can be mounted here');
const root = process.getuid?.() === 0;

/** Takes all the room there is, but for some bytes. */
function fill(left = 0): void {
  spawnSync('sh', [
    '-c',
    `rm -rf '${disk}'/*; cat /dev/zero > '${disk}/fill'; truncate -s -${left} '${disk}/fill'`,
  ]);
}

const BINS = join(ROOT, 'dist/console/bin');
const console_ = (name: string, ...args: string[]): Promise<Finished> =>
  run(process.execPath, [join(BINS, `${name}.js`), ...args]);

/** In a shell, where redirections are. */
function shell(line: string): Promise<Finished> {
  const named = line.replaceAll(/\b(proxy-?[a-z]+)( |$)/g, (all, name: string, gap: string) =>
    existsSync(join(BINS, `${name}.js`)) ? `${process.execPath} ${join(BINS, `${name}.js`)}${gap}` : all,
  );
  return run('bash', ['-c', `set -o pipefail; ${named}`]);
}

let proxy: RunningProxy;
beforeAll(async () => {
  proxy = await startProxy(box, { backend: '127.0.0.1:1' });
  for (let i = 0; i < 20; i++) await proxy.get(`/${i}`);
});
afterAll(async () => {
  if (mounted) spawnSync('umount', ['-l', disk]);
  await box.dispose();
});

const NO_ROOM = 'No space left on device';

describe('standard output that takes nothing', () => {
  it.each([
    ['proxylog -d -n DIR'],
    ['proxylog -d -n DIR -w -'],
    ['proxylog -d -n DIR --json'],
    ['proxyncsa -d -n DIR'],
    ['proxytop -1 -n DIR'],
    ['proxyhist -1 -n DIR'],
    ['proxystat -1 -n DIR'],
    ['proxystat -j -n DIR'],
    ['proxystat -n DIR'],
    ['proxyadm -n DIR ping'],
    ['proxyadm -h'],
    ['proxylog --optstring'],
    ['proxy-gather -t 0 -o /dev/null -n DIR'],
  ])('%s > /dev/full', async (line) => {
    const end = await shell(`${line.replace('DIR', proxy.dir)} > /dev/full`);
    expect(end.code).toBe(1);
    const name = line.split(' ')[0] as string;
    const output = end.stderr.trim().split('\n').at(-1);
    if (line.includes('/dev/null')) return expect(output).toMatch(/^proxy-gather: cannot write/);
    expect(output).toBe(`${name}: cannot write to standard output: ${NO_ROOM}`);
  });

  it.each([['-?'], ['-x vsl'], ['-C -b none']])('proxyd %s > /dev/full', async (args) => {
    const [program, lead] = command('proxyd', 'daemon');
    const end = await run('bash', ['-c', `${program} ${lead.join(' ')} ${args} > /dev/full`]);
    expect(end).toMatchObject({
      code: 1,
      stderr: `Error: Cannot write to standard output: ${NO_ROOM}\n`,
    });
  });

  it.each([['proxylog -d -n DIR'], ['proxystat -1 -n DIR'], ['proxyadm -n DIR help'], ['proxyadm -h']])(
    '%s ends quietly when its reader has gone',
    async (line) => {
      expect(await shell(`${line.replace('DIR', proxy.dir)} | head -1 > /dev/null`)).toMatchObject({
        code: 0,
        stderr: '',
      });
    },
  );

  it('standard error that takes nothing changes no status', async () => {
    expect(await shell('proxylog -Z 2> /dev/full')).toMatchObject({ code: 1 });
    expect(await shell('proxylog -h 2> /dev/full')).toMatchObject({ code: 0 });
  });
});

describe.skipIf(!mounted)('a full disk', () => {
  it.each([
    ['proxylog', ['-d']],
    ['proxylog', ['-d', '-A']],
    ['proxylog', ['-d', '--json']],
    ['proxylog', ['-d', '-A', '-a']],
    ['proxyncsa', ['-d']],
  ])('under -w of %s %j', async (name, args) => {
    fill();
    const file = join(disk, 'out');
    expect(await console_(name, '-n', proxy.dir, ...args, '-w', file)).toMatchObject({
      code: 1,
      stderr: `${name}: cannot write to ${file}: ${NO_ROOM}\n`,
    });
  });

  it('that fills up in the middle of the output of a file', async () => {
    fill(8192);
    const end = await shell(`proxystat -j -n ${proxy.dir} > ${disk}/json`);
    expect(end).toMatchObject({
      code: 1,
      stderr: `proxystat: cannot write to standard output: ${NO_ROOM}\n`,
    });
    expect(statSync(`${disk}/json`).size).toBeGreaterThan(0);
  });

  it('ends a follower that was in the background, which removes its process id', async () => {
    fill(8192);
    const [file, pid] = [join(disk, 'log'), box.path('pid')];
    const start = await console_('proxylog', '-n', proxy.dir, '-D', '-g', 'raw', '-w', file, '-P', pid);
    expect(start).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(pid)).toBe(true);
    await until('the end', async () => {
      await proxy.get('/more');
      return !existsSync(pid);
    });
  });

  it('ends proxyncsa in the foreground, with the reason', async () => {
    fill();
    const file = join(disk, 'access');
    const child = run(process.execPath, [join(BINS, 'proxyncsa.js'), '-n', proxy.dir, '-w', file]);
    await until('the file', () => existsSync(file));
    await until('the end', async () => {
      await proxy.get('/more');
      return Promise.race([child.then(() => true), delay(20).then(() => false)]);
    });
    expect(await child).toMatchObject({
      code: 1,
      stderr: `proxyncsa: cannot write to ${file}: ${NO_ROOM}\n`,
    });
  });

  it('takes no archive, and keeps no half of one', async () => {
    fill();
    const end = await console_('proxy-gather', '-t', '0', '-n', proxy.dir, '-o', join(disk, 'g.tgz'));
    expect(end.code).toBe(1);
    expect(end.stderr).toContain(`proxy-gather: cannot write ${disk}/g.tgz: ${NO_ROOM}\n`);
    expect(readdirSync(disk)).toEqual(['fill']);
  });

  it.each([
    ['proxylog', '-d'],
    ['proxystat', '-1'],
    ['proxyncsa', '-d'],
  ])('takes no process id of %s %s', async (name, flag) => {
    fill();
    const end = await console_(name, flag, '-n', proxy.dir, '-P', join(disk, 'pid'));
    expect(end.code).toBe(1);
    expect(end.stderr).toContain(`-P: cannot write ${disk}/pid: ${NO_ROOM}`);
    expect(readdirSync(disk)).toEqual(['fill']);
  });

  it('starts no daemon whose files it should hold', async () => {
    fill();
    const start = (...args: string[]) =>
      tool('proxyd', 'daemon', ['-F', '-a', '127.0.0.1:0', '-b', 'none', ...args]);
    const dir = join(disk, 'n');
    const inside = await start('-n', dir);
    expect(inside).toMatchObject({ code: 2 });
    expect(inside.stderr).toBe(
      `Error: Cannot lock working directory '${dir}': ${NO_ROOM} (free space there, or give another one with -n)\n`,
    );
    const pid = await start('-n', box.path('n'), '-P', join(disk, 'pid'));
    expect(pid.code).toBe(2);
    expect(pid.stderr).toMatch(
      /Error: Could not open pid-file \(.*\): No space left on device \(give another/,
    );
    expect(readdirSync(disk).sort()).toEqual(['fill', 'n']);
  });

  it('read-only, starts no daemon either', async () => {
    spawnSync('sh', ['-c', `rm -rf '${disk}'/*; mount -o remount,ro '${disk}'`]);
    const end = await tool('proxyd', 'daemon', ['-F', '-b', 'none', '-n', join(disk, 'n')]);
    spawnSync('mount', ['-o', 'remount,rw', disk]);
    expect(end).toMatchObject({
      code: 2,
      stderr: `Error: Cannot use working directory '${disk}/n': It cannot be created (Read-only file system) (or give another one with -n)\n`,
    });
  });
});

describe('a daemon that cannot be reached', () => {
  const NOBODY = 'Could not get hold of proxyd, is it running?\n';

  /** What all tools say of it; statuses are those of Varnish's. */
  async function output(dir: string, user?: number): Promise<string> {
    const asked = (name: string, ...args: string[]): Promise<Finished> => {
      const line = [process.execPath, join(BINS, `${name}.js`), ...args, '-n', dir];
      if (name === 'proxyadm') line.push('ping');
      return user === undefined
        ? run(line[0] as string, line.slice(1))
        : run('setpriv', [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', ...line]);
    };
    const [log, ncsa, stat, adm] = await Promise.all([
      asked('proxylog', '-d', '-t', '0'),
      asked('proxyncsa', '-d', '-t', '0'),
      asked('proxystat', '-1', '-t', '0'),
      asked('proxyadm', '-t', '1'),
    ]);
    expect([log.code, ncsa.code, stat.code, adm.code]).toEqual([1, 1, 1, 2]);
    expect(log.stderr).toBe(`VSM: ${adm.stderr}`);
    expect(ncsa.stderr).toBe(log.stderr);
    expect(stat.stderr).toBe(adm.stderr);
    return adm.stderr;
  }

  it('for there is no such directory', async () => {
    for (const dir of ['/proc/nope', box.path('nowhere')])
      expect(await output(dir)).toBe(`${NOBODY}(there is no directory ${dir}: name the daemon's with -n)\n`);
  });

  it('for it is no directory', async () => {
    expect(await output('/etc/passwd')).toBe(
      "/etc/passwd is not a directory: name the daemon's working directory with -n\n",
    );
  });

  it('for none works there', async () => {
    const dir = box.path('empty');
    mkdirSync(dir);
    expect(await output(dir)).toBe(
      `${NOBODY}(no daemon works in ${dir}: start one there, or name another directory with -n)\n`,
    );
  });

  it('for only its socket is left', async () => {
    const dir = box.path('stale');
    mkdirSync(dir);
    const made = spawnSync(process.execPath, [
      '-e',
      `require('net').createServer().listen('${dir}/console.sock', () => process.kill(process.pid, 'SIGKILL'))`,
    ]);
    expect(made.signal).toBe('SIGKILL');
    expect(await output(dir)).toBe(
      `${NOBODY}(${dir}/console.sock was left by a daemon that is gone: start it again)\n`,
    );
  });

  it.skipIf(!root)('for its socket or its directory is another user’s', async () => {
    chmodSync(box.dir, 0o755);
    const dir = box.path('private');
    mkdirSync(dir, { mode: 0o711 });
    const server = createServer().listen(join(dir, 'console.sock'));
    await until('the socket', () => existsSync(join(dir, 'console.sock')));
    chmodSync(join(dir, 'console.sock'), 0o600);
    const how =
      "permission denied: run this as root, or be a member of the group of the daemon's --read-group";
    expect(await output(dir, 65_534)).toBe(`${dir}/console.sock: ${how}\n`);
    chmodSync(dir, 0o700);
    expect(await output(dir, 65_534)).toBe(`${dir}/console.sock: ${how}\n`);
    expect(await output(join(dir, 'below'), 65_534)).toBe(`${dir}/below: ${how}\n`);
    server.close();
  });
});

describe('a tag that is never written', () => {
  it.each([
    ['proxylog', ['-d', '-q', 'WorkThread ~ x']],
    ['proxylog', ['-d', '-i', 'WorkThread']],
    ['proxylog', ['-d', '-I', 'WorkThread:x']],
    ['proxyncsa', ['-d', '-q', 'not WorkThread']],
    ['proxytop', ['-1', '-q', 'WorkThread or ReqURL ~ x']],
    ['proxyhist', ['-1', '-q', 'WorkThread']],
  ])('is reported once by %s %j, which keeps running', async (name, args) => {
    expect(await console_(name, '-n', proxy.dir, ...args)).toMatchObject({
      code: 0,
      stderr: `${name}: WorkThread: proxyd never writes this tag (proxy-log(7) lists those it writes)\n`,
    });
  });

  it('is no news in a recording', async () => {
    const file = box.path('recording');
    writeFileSync(file, '');
    await console_('proxylog', '-d', '-n', proxy.dir, '-w', file, '-a');
    expect(await console_('proxylog', '-r', file, '-q', 'WorkThread')).toMatchObject({
      code: 0,
      stderr: '',
    });
  });
});
