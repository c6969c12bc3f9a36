// The worker's user when root starts the daemon, its remaining privileges, and read access to its files.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupId, userAccount } from '../../daemon/manager/process/accounts.ts';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, command, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const root = process.getuid?.() === 0;
if (!root) console.warn('tests of whom the worker becomes are skipped: they need root');

const box = new Sandbox('proxyd-rights');
let origin: Origin;
const servant = ['proxyd', 'nobody'].find((name) => userAccount(name) !== null) ?? '';
const own = userAccount(servant) ?? { uid: -1, gid: -1 };

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** A process's privileges in /proc. */
function rights(pid: number | null): Record<string, string> {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const of = (name: string): string => new RegExp(`^${name}:\\s*(.*?)\\s*$`, 'm').exec(status)?.[1] ?? '';
  return Object.fromEntries(
    ['Uid', 'Gid', 'Groups', 'CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map((n) => [
      n,
      of(n).replaceAll('\t', ' '),
    ]),
  );
}
const NONE = '0'.repeat(16);
const four = (id: number): string => Array(4).fill(id).join(' ');
const plain = (uid: number, gid: number): Record<string, string> => ({
  Uid: four(uid),
  Gid: four(gid),
  Groups: String(gid),
  CapInh: NONE,
  CapPrm: NONE,
  CapEff: NONE,
  CapAmb: NONE,
});

/** A proxy on a privileged port; another one if it is taken. */
async function onPrivilegedPort(program: string): Promise<RunningProxy> {
  for (let tries = 1; ; tries++) {
    const port = randomInt(600, 1024);
    try {
      return await startProxy(box, { program, port });
    } catch (cause) {
      if (tries === 10 || !/Address already in use/.test(String(cause))) throw cause;
    }
  }
}

/** Says in whose name it runs, and refuses to be opened by root. */
const EXTENSION = `if (process.getuid() === 0) throw new Error('opened by root');
export const extension = { abi: 1, functions: {
  uid: { signature: 'INT uid()', call: () => process.getuid() },
} };`;

describe.skipIf(!root)('started by root', () => {
  let proxy: RunningProxy;
  let port: number;
  beforeAll(async () => {
    proxy = await onPrivilegedPort(backendProgram(origin.port));
    port = proxy.port;
  });
  afterAll(async () => {
    await proxy?.stop();
  });

  it('the worker is a plain user without any right, and the manager stays root', () => {
    expect(rights(proxy.workerPid())).toEqual(plain(own.uid, own.gid));
    expect(rights(proxy.pid).Uid).toBe(four(0));
  });

  it('serves on a port below 1024', async () => {
    expect(port).toBeLessThan(1024);
    expect((await proxy.get('/')).body.toString()).toBe('hello\n');
  });

  it('its files are its own and nobody else may read them', () => {
    const mode = (name: string): string => {
      const { mode, uid, gid } = statSync(join(proxy.dir, name));
      return `${(mode & 0o7777).toString(8)} ${uid}:${gid}`;
    };
    expect(mode('.')).toMatch(/ 0:0$/);
    expect(mode('worker')).toBe(`700 ${own.uid}:${own.gid}`);
    for (const name of ['worker/log.ring', 'worker/counters'])
      expect(mode(name)).toBe(`600 ${own.uid}:${own.gid}`);
    for (const name of ['secret', 'lock', 'console.sock']) expect(mode(name)).toBe('600 0:0');
    expect(existsSync(join(proxy.dir, 'read.sock'))).toBe(false);
  });

  it('loads and uses a program that only root may read, with an extension that runs as the worker’s user', async () => {
    const extension = box.path('rights');
    writeFileSync(`${extension}.mjs`, EXTENSION);
    const file = box.path('program');
    const more = `sub vcl_deliver { set resp.http.uid = rights.uid(); }`;
    writeFileSync(
      file,
      backendProgram(origin.port, more).replace(';', `;\nimport rights from "${extension}.mjs";`),
      { mode: 0o600 },
    );
    expect(await proxy.adm('vcl.load', 'second', file)).toMatchObject({ code: 0 });
    expect(await proxy.adm('vcl.use', 'second')).toMatchObject({ code: 0 });
    expect(field(await proxy.get('/'), 'uid')).toBe(String(own.uid));
  });

  it('reports what is wrong with an extension that the user may not read', async () => {
    const extension = `${box.path('hidden')}.mjs`;
    writeFileSync(extension, EXTENSION, { mode: 0o600 });
    const file = box.path('program');
    writeFileSync(file, backendProgram(origin.port).replace(';', `;\nimport rights from "${extension}";`));
    const done = await proxy.adm('vcl.load', 'third', file);
    expect(done.code).toBe(1);
    expect(done.stdout).toContain(`user ${servant}, who runs it, has no permission to read it: chmod a+r it`);
  });

  it('std.fileread reads what that user may read', async () => {
    const [open, hidden] = [box.path('open'), box.path('hidden')];
    writeFileSync(open, 'open');
    writeFileSync(hidden, 'hidden', { mode: 0o600 });
    const program = `vcl 4.1; import std; backend default none;
      sub vcl_recv { return (synth(200)); }
      sub vcl_synth {
        set resp.http.open = std.fileread("${open}");
        set resp.http.hidden = "<" + std.fileread("${hidden}") + ">";
      }`;
    expect(await proxy.adm(`vcl.inline files << EOT\n${program}\nEOT`)).toMatchObject({ code: 0 });
    expect(await proxy.adm('vcl.use', 'files')).toMatchObject({ code: 0 });
    const answer = await proxy.get('/');
    expect([field(answer, 'open'), field(answer, 'hidden')]).toEqual(['open', '<>']);
  });

  it('a killed worker is replaced by one like it, on the same port and with the same log', async () => {
    const before = proxy.workerPid() as number;
    const logged = async (): Promise<number> =>
      (await proxy.log('-g', 'raw', '-i', 'ReqURL')).trim().split('\n').length;
    // The last log records are in the ring a moment after the response.
    await until('the log of the first worker', async () => (await logged()) > 2);
    const had = await logged();
    process.kill(before, 'SIGKILL');
    await until('an answer', () => proxy.get('/').catch(() => null));
    expect(proxy.workerPid()).not.toBe(before);
    expect(rights(proxy.workerPid())).toEqual(plain(own.uid, own.gid));
    await until('the log of both workers', async () => (await logged()) > had);
  });

  it('stop and start bind the port again', async () => {
    expect((await proxy.adm('stop')).code).toBe(0);
    expect((await proxy.adm('start')).code).toBe(0);
    await proxy.serving();
    expect(proxy.port).toBe(port);
    expect((await proxy.get('/')).status).toBe(200);
    expect((await proxy.counters())['MAIN.client_req']).toBeGreaterThan(0);
  });

  it('a new program’s backends have counters, whose file the worker makes again', async () => {
    const program = `vcl 4.1; backend fresh { .host = "127.0.0.1"; .port = "1"; }`;
    expect(await proxy.adm(`vcl.inline fresh << EOT\n${program}\nEOT`)).toMatchObject({ code: 0 });
    expect(await proxy.adm('vcl.use', 'fresh')).toMatchObject({ code: 0 });
    await proxy.counterReaches('VBE.fresh.fresh.req', 0);
  });
});

describe.skipIf(!root)('-j', () => {
  it('none keeps root', async () => {
    const proxy = await startProxy(box, { backend: '127.0.0.1:1', args: ['-j', 'none'] });
    expect(rights(proxy.workerPid()).Uid).toBe(four(0));
    expect(statSync(join(proxy.dir, 'worker')).uid).toBe(0);
    await proxy.stop();
  });

  it('unix,user=… is that user', async () => {
    const { uid, gid } = userAccount('daemon') ?? { uid: -1, gid: -1 };
    const proxy = await startProxy(box, { backend: '127.0.0.1:1', args: ['-j', 'unix,user=daemon'] });
    expect(rights(proxy.workerPid())).toEqual(plain(uid, gid));
    expect(statSync(join(proxy.dir, 'worker/log.ring')).uid).toBe(uid);
    await proxy.stop();
    // Another user in the same directory, which the one before has left clean.
    const again = await startProxy(box, { backend: '127.0.0.1:1', dir: proxy.dir });
    expect(rights(again.workerPid()).Uid).toBe(four(own.uid));
    await again.stop();
  });

  it('a working directory below one that is closed to the user serves, too', async () => {
    const closed = box.path('closed');
    mkdirSync(join(closed, 'n'), { recursive: true });
    chmodSync(closed, 0o700);
    const proxy = await startProxy(box, { backend: `127.0.0.1:${origin.port}`, dir: join(closed, 'n') });
    expect(rights(proxy.workerPid()).Uid).toBe(four(own.uid));
    expect((await proxy.get('/')).status).toBe(200);
    await proxy.logged('RespStatus', '-g', 'raw');
    await proxy.stop();
  });

  it.each([
    ['unix,user=nosuch', 'Unix jail: nosuch user not found.'],
    ['unix,user=daemon,ccgroup=nosuch', 'Unix jail: nosuch group not found.'],
    ['unix,user=root', 'user root is root, which is no jail'],
    ['unix,nosuch=1', "Unix jail: unknown sub-argument 'nosuch=1'"],
    ['solaris', 'Unknown jail method "solaris"'],
  ])('%s cannot be honoured: exit 2 and the reason', async (jail, reason) => {
    const args = ['-F', '-j', jail, '-n', box.path('n'), '-a', '127.0.0.1:0', '-b', '127.0.0.1:1'];
    const done = await tool('proxyd', 'daemon', args);
    expect(done.stderr).toContain(reason);
    expect(done.code).toBe(2);
  });

  it('is root’s to ask for', async () => {
    const [program, lead] = command('proxyd', 'daemon');
    const args = [
      ...lead,
      '-F',
      '-j',
      'unix',
      '-n',
      '/nonexistent/n',
      '-a',
      '127.0.0.1:0',
      '-b',
      '127.0.0.1:1',
    ];
    const done = spawnSync(program, args, { uid: own.uid, gid: own.gid, encoding: 'utf8' });
    // Where this user cannot start the program at all there is nothing to be seen.
    if (done.error !== undefined || !done.stderr.includes('Error')) return;
    expect(done.stderr).toContain('Unix Jail: Must be root.');
    expect(done.status).toBe(2);
  });
});

/** The compiled tool as a user of a group, whom no file of root's is open to. */
function asReader(gid: number, proxy: RunningProxy, name: string, ...args: string[]) {
  const [, [entry = '']] = command('proxyd', 'adm');
  const script = entry.replace('proxyadm', name);
  return run('setpriv', [
    ...[
      '--reuid=54321',
      `--regid=${gid}`,
      '--clear-groups',
      process.execPath,
      script,
      '-n',
      proxy.dir,
      ...args,
    ],
  ]);
}

describe.skipIf(!root)('--read-group', () => {
  const gid = groupId('daemon') ?? -1;
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await startProxy(box, {
      backend: `127.0.0.1:${origin.port}`,
      args: ['--read-group', 'daemon'],
    });
    await proxy.get('/');
    await proxy.logged('RespStatus', '-g', 'raw');
    await proxy.counterReaches('MAIN.client_req', 1);
  });
  afterAll(async () => {
    await proxy?.stop();
  });

  it('may read log and counters, and has a socket', () => {
    const of = (name: string): string => {
      const { mode, gid } = statSync(join(proxy.dir, name));
      return `${(mode & 0o7777).toString(8)} ${gid}`;
    };
    expect(of('worker')).toBe(`2750 ${gid}`);
    expect(of('worker/log.ring')).toBe(`640 ${gid}`);
    expect(of('worker/counters')).toBe(`640 ${gid}`);
    expect(of('read.sock')).toBe(`660 ${gid}`);
    for (const name of ['secret', 'console.sock']) expect(of(name)).toBe('600 0');
  });

  it('reads, and changes nothing', async () => {
    const readable = await asReader(gid, proxy, 'proxyadm', 'status');
    // Where such a user cannot start node or reach this folder, only the modes above can be looked at.
    if (readable.code === 126 || readable.code === 127 || readable.stderr.includes('Cannot find module'))
      return;
    expect(readable).toMatchObject({ code: 0, stdout: 'Child in state running\n' });
    for (const line of ['backend.list', 'vcl.list', 'param.show', 'ban.list', 'ping', 'help']) {
      expect(await asReader(gid, proxy, 'proxyadm', line)).toMatchObject({ code: 0 });
    }
    for (const line of [
      'stop',
      'param.set default_ttl 1',
      'ban req.url ~ .',
      'vcl.discard boot',
      'debug.xid 9',
    ]) {
      const done = await asReader(gid, proxy, 'proxyadm', line);
      expect(done.code).toBe(1);
      expect(done.stdout).toContain('this connection is read-only');
    }
    expect((await proxy.adm('status')).stdout).toContain('running');
    expect((await asReader(gid, proxy, 'proxylog', '-d')).stdout).toContain('RespStatus     200');
    expect((await asReader(gid, proxy, 'proxystat', '-1')).stdout).toContain('MAIN.client_req');
    expect((await asReader(gid, proxy, 'proxyncsa', '-d')).stdout).toContain('"GET http://');
  });

  it('and nobody else', async () => {
    const done = await asReader(54_321, proxy, 'proxyadm', '-t', '1', 'status');
    expect(done.code).not.toBe(0);
    expect(done.stdout).toBe('');
  });

  it('works without a jail as well', async () => {
    const args = ['-j', 'none', '--read-group', 'daemon'];
    const plainly = await startProxy(box, { backend: '127.0.0.1:1', args });
    const of = (name: string): unknown => {
      const { mode, uid, gid } = statSync(join(plainly.dir, name));
      return [(mode & 0o7777).toString(8), uid, gid];
    };
    expect(of('worker')).toEqual(['750', 0, gid]);
    expect(of('worker/log.ring')).toEqual(['640', 0, gid]);
    expect(of('worker/counters')).toEqual(['640', 0, gid]);
    await plainly.stop();
  });

  it('a group that is not there is an error', async () => {
    const args = [
      '-F',
      '--read-group',
      'nosuch',
      '-n',
      box.path('n'),
      '-a',
      '127.0.0.1:0',
      '-b',
      '127.0.0.1:1',
    ];
    expect(await tool('proxyd', 'daemon', args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--read-group: there is no group nosuch'),
    });
  });
});

it('a Unix socket is made with its mode, whatever lies beside it', async () => {
  const path = `${box.path('listen')}.sock`;
  const proxy = await startProxy(box, {
    backend: `127.0.0.1:${origin.port}`,
    args: ['-a', `${path},mode=0606`],
  });
  expect(statSync(path).mode & 0o777).toBe(0o606);
  await proxy.stop();
});
