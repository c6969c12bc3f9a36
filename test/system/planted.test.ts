// Files planted by another user where daemon and tools put theirs: started by root they refuse them, follow no links
// and overwrite nothing. The planting is done by processes of that other user.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon } from '../../console/demo/daemon-child.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { type Finished, run as runProgram, Sandbox } from '../harness/processes.ts';
import { command, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const root = process.getuid?.() === 0;
if (!root) console.warn('tests of what other users plant are skipped: they need root to be another user');

/** A user without an account: neither ours nor the worker's. */
const OTHER = 54_321;
const box = new Sandbox('proxyd-planted');
const victim = join(box.dir, 'victim');
/** As /tmp is: everybody may plant something in it. */
const shared = join(box.dir, 'shared');
let names = 0;

function plant(script: string, cwd = shared): void {
  const done = spawnSync('sh', ['-ec', script], { cwd, uid: OTHER, gid: OTHER, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`could not plant: ${done.stderr}`);
}

/** Everything that another user can make at a path, in shell. */
const THINGS: Record<string, (path: string) => string> = {
  'a symbolic link to a file of root': (path) => `ln -s ${victim} ${path}`,
  'a symbolic link to nothing': (path) => `ln -s ${victim}.none ${path}`,
  'a file with known content': (path) => `echo known > ${path}; chmod 666 ${path}`,
  'a FIFO': (path) => `mkfifo ${path}`,
  'a directory': (path) => `mkdir -m 777 ${path}`,
  'a socket': (path) =>
    `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("${path}"))'`,
};

/** Kind, owner and content of existing files, to verify that they are untouched. */
function look(path: string): string {
  const stat = lstatSync(path);
  const content = stat.isFile()
    ? readFileSync(path, 'utf8')
    : stat.isDirectory()
      ? readdirSync(path).join()
      : '';
  return `${stat.mode} ${stat.uid} ${stat.ino} ${content}`;
}

const start = (dir: string, ...args: string[]): Promise<Finished> => startAs('-F', dir, args);

/** A start that has no worker yet: with -F its boot begins before the directory is looked at, which is a third of the work. */
const startAlone = (dir: string, ...args: string[]): Promise<Finished> => startAs('-d', dir, args);

const startAs = (mode: string, dir: string, args: readonly string[]): Promise<Finished> =>
  tool('proxyd', 'daemon', [mode, '-n', dir, '-a', '127.0.0.1:0', '-b', '127.0.0.1:1', ...args]);

function expectRefused(done: Finished, reason: RegExp): void {
  expect(done.stderr).toMatch(reason);
  expect(done.code).toBe(2);
  expect(readFileSync(victim, 'utf8')).toBe('precious');
  expect(existsSync(`${victim}.none`)).toBe(false);
}

beforeAll(() => {
  writeFileSync(victim, 'precious', { mode: 0o600 });
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
});
afterAll(() => box.dispose());

describe.skipIf(!root)('the working directory', () => {
  for (const mode of ['777', '755', '700']) {
    it(`of another user, mode ${mode}, with a known secret`, async () => {
      const dir = join(shared, `dir${++names}`);
      plant(`mkdir ${dir}; echo known > ${dir}/secret; ln -s ${victim} ${dir}/pid; chmod ${mode} ${dir}`);
      const before = look(dir);
      expectRefused(await start(dir), /Cannot use working directory '.*': It belongs to user 54321/);
      expect(look(dir)).toBe(before);
      expect(readFileSync(join(dir, 'secret'), 'utf8')).toBe('known\n');
    });
  }

  for (const [what, make] of Object.entries(THINGS)) {
    if (what === 'a directory') continue;
    it(`in whose place lies ${what}`, async () => {
      const dir = join(shared, `dir${++names}`);
      plant(make(dir));
      const before = look(dir);
      expectRefused(await start(dir), /Cannot use working directory/);
      expect(look(dir)).toBe(before);
    });
  }

  it('reached by a symbolic link of another user', async () => {
    const real = join(box.dir, `real${++names}`);
    mkdirSync(real);
    plant(`ln -s ${box.dir} ${shared}/way${names}`);
    expectRefused(
      await start(`${shared}/way${names}/real${names}`),
      /way\d+ is a symbolic link of user 54321/,
    );
    expect(readdirSync(real)).toEqual([]);
  });

  it('below one that everybody may write to, or that another user owns', async () => {
    const loose = join(box.dir, `loose${++names}`);
    mkdirSync(join(loose, 'n'), { recursive: true });
    chmodSync(loose, 0o777);
    expectRefused(await start(join(loose, 'n')), /loose\d+ can be written by any user: chmod o-w/);
    chmodSync(loose, 0o755);
    chownSync(loose, OTHER, OTHER);
    expectRefused(await start(join(loose, 'n')), /loose\d+ belongs to user 54321, who could put/);
    expectRefused(await start(join(loose, 'new')), /loose\d+ belongs to user 54321/);
    expect(readdirSync(loose)).toEqual(['n']);
  });

  it('of our own that others may write to', async () => {
    for (const [mode, gid] of [
      [0o777, 0],
      [0o1777, 0],
      [0o775, OTHER],
    ] as const) {
      const dir = join(box.dir, `loose${++names}`);
      mkdirSync(dir);
      chownSync(dir, 0, gid);
      chmodSync(dir, mode);
      expectRefused(await start(dir), /Others may write to it \(mode .*\): chmod go-w/);
    }
  });
});

describe.skipIf(!root)('in a directory of our own that was loose once', () => {
  const files = [
    'lock',
    'secret',
    'pid',
    'console.sock',
    'read.sock',
    'worker',
    'vmod_cache',
    'history',
    'tls.tickets',
  ];

  it('every name is looked at', () => {
    const known = Object.values(WORKDIR_FILES).filter((name) => !name.includes('/'));
    expect([...files].sort()).toEqual(known.sort());
  });

  for (const name of files) {
    it(`${name} may be nothing that another user made`, async () => {
      await Promise.all(
        Object.entries(THINGS).map(async ([what, make]) => {
          const dir = join(box.dir, `own${++names}`);
          mkdirSync(dir);
          chmodSync(dir, 0o777);
          plant(make(join(dir, name)));
          chmodSync(dir, 0o755);
          const before = look(join(dir, name));
          const done = await startAlone(dir, '-j', 'none');
          expectRefused(done, /Cannot (use working|create the worker)/);
          expect(look(join(dir, name)), what).toBe(before);
          expect(readdirSync(dir), what).toEqual([name]);
        }),
      );
    });
  }

  it('a second name of a file of root is not written to', async () => {
    for (const name of ['secret', 'pid']) {
      const dir = join(box.dir, `own${++names}`);
      mkdirSync(dir);
      const other = box.path('other');
      writeFileSync(other, 'as precious');
      linkSync(other, join(dir, name));
      expectRefused(await start(dir), /It has 2 names \(hard links\)/);
      expect(readFileSync(other, 'utf8')).toBe('as precious');
    }
    // A lock is replaced, so that the other name keeps what it has.
    const dir = join(box.dir, `own${++names}`);
    mkdirSync(dir);
    const other = box.path('other');
    writeFileSync(other, 'as precious');
    linkSync(other, join(dir, 'lock'));
    await (await startProxy(box, { backend: '127.0.0.1:1', dir })).stop();
    expect(readFileSync(other, 'utf8')).toBe('as precious');
  });

  it('stale files of our own are no hindrance', async () => {
    const dir = join(box.dir, `own${++names}`);
    mkdirSync(join(dir, 'worker'), { recursive: true });
    for (const name of [
      'lock',
      'secret',
      'pid',
      'worker/log.ring',
      'worker/counters',
      'worker/log.ring.12.new',
    ]) {
      writeFileSync(join(dir, name), 'stale', { mode: 0o600 });
    }
    const proxy = await startProxy(box, { backend: '127.0.0.1:1', dir });
    expect(statSync(join(dir, 'secret')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dir, 'secret'), 'utf8')).toMatch(/^[0-9a-f]{128}\n$/);
    expect((await proxy.stop()).code).toBe(0);
    expect(readdirSync(dir)).toEqual(['history']);
  });

  it('a directory that mkdtemp made is taken, and one that is not there is made', async () => {
    const dir = join(shared, `mine${++names}`);
    mkdirSync(dir, { mode: 0o700 });
    await (await startProxy(box, { backend: '127.0.0.1:1', dir })).stop();
    const fresh = join(shared, `deep${++names}/er`);
    const proxy = await startProxy(box, { backend: '127.0.0.1:1', args: ['-n', fresh], dir: fresh });
    await proxy.stop();
  });
});

describe.skipIf(!root)('a file that an option names', () => {
  for (const [what, make] of Object.entries(THINGS)) {
    it(`-P and -S: ${what}`, async () => {
      const [pid, secret] = [join(shared, `pid${++names}`), join(shared, `secret${names}`)];
      plant(`${make(pid)}\n${make(secret)}`);
      const before = [look(pid), look(secret)];
      expectRefused(await start(box.path('n'), '-P', pid), /Could not open pid-file \(.*\): It (is|belongs)/);
      expectRefused(await start(box.path('n'), '-S', secret), /Cannot open -S file \(.*\): /);
      expect([look(pid), look(secret)]).toEqual(before);
    });
  }

  it('-S: empty, blank, written by others; read by others is only a warning', async () => {
    const secret = box.path('secret');
    const attempt = (text: string, mode: number): Promise<Finished> => {
      writeFileSync(secret, text);
      chmodSync(secret, mode);
      return start(box.path('n'), '-S', secret);
    };
    expectRefused(await attempt('', 0o600), /It is empty: write a secret into it/);
    expectRefused(await attempt(' \n\n', 0o600), /It is empty/);
    expectRefused(await attempt('secret', 0o602), /Others may write to it: chmod go-w it/);
    chmodSync(secret, 0o644);
    const proxy = await startProxy(box, { backend: '127.0.0.1:1', args: ['-S', secret] });
    expect(proxy.daemon.stderr).toContain(`Warning: -S file (${secret}): Others may read it: chmod go-r it`);
    await proxy.stop();
  });
});

it.skipIf(!root)('the demo removes what it left itself, and no other user’s', async () => {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  // An owner that is gone: no process has this number.
  const [theirs, ours] = ['theirs', 'ours'].map((whose) =>
    join(parent, `proxyd-demo-4194304-${whose}-${process.pid}`),
  ) as [string, string];
  plant(`mkdir ${theirs}; ln -s ${box.dir} ${theirs}/link`, parent);
  mkdirSync(ours);
  try {
    const demo = await startDaemon('vcl 4.1; backend default none;');
    await demo.stop();
    expect([existsSync(theirs), existsSync(ours), existsSync(victim)]).toEqual([true, false, true]);
  } finally {
    for (const path of [theirs, ours]) rmSync(path, { recursive: true, force: true });
  }
});

describe.skipIf(!root)('what the tools write', () => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await startProxy(box, { backend: '127.0.0.1:1' });
    await proxy.get('/');
  });
  afterAll(async () => {
    await proxy?.stop();
  });

  const run = (name: string, args: string[]): Promise<Finished> => {
    const [, [entry = '']] = command('proxyd', 'adm');
    return runProgram(process.execPath, [entry.replace('proxyadm', name), '-n', proxy.dir, ...args]);
  };
  const TOOLS: [string, string, string[]][] = [
    ['proxylog', '-w', ['-d', '-w']],
    ['proxylog', '-a -w', ['-d', '-A', '-a', '-w']],
    ['proxylog', '-P', ['-d', '-P']],
    ['proxyncsa', '-w', ['-d', '-w']],
    ['proxy-gather', '-o', ['-t', '0', '-o']],
  ];

  for (const [name, flag, args] of TOOLS) {
    it(`${name} ${flag}`, async () => {
      for (const [what, make] of Object.entries(THINGS)) {
        const file = join(shared, `out${++names}`);
        plant(make(file));
        const before = look(file);
        const done = await run(name, [...args, file]);
        expect([1, 2], `${what}: ${done.stderr}`).toContain(done.code);
        expect(done.stderr, what).toMatch(/It (is|belongs)/);
        expect(done.stderr, what).toContain(file);
        expect(look(file), what).toBe(before);
      }
      expect(readFileSync(victim, 'utf8')).toBe('precious');
      expect(existsSync(`${victim}.none`)).toBe(false);
    });
  }

  it('is for its user, where it may hold cookies', async () => {
    const modes: Record<string, number> = {};
    for (const [name, flag, args] of TOOLS.filter(([, flag]) => flag !== '-P')) {
      const file = box.path('out');
      expect((await run(name, [...args, file])).code).toBe(0);
      modes[`${name} ${flag}`] = statSync(file).mode & 0o777;
    }
    expect(modes).toEqual({
      'proxylog -w': 0o600,
      'proxylog -a -w': 0o600,
      'proxyncsa -w': 0o640,
      'proxy-gather -o': 0o600,
    });
  });
});
