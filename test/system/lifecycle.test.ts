// How the daemon comes and goes: foreground, under a control session (-d), detached; stops, restarts in
// the same directory, and starts that must fail with a reason. Black box: only dist/ and signals.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { alive, processTree, run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, command, daemonArguments, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-life');
let origin: Origin;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const backend = () => `127.0.0.1:${origin.port}`;

describe('in the foreground', () => {
  it('serves, and ends with SIGTERM: exit 0 and nothing left', async () => {
    const proxy = await startProxy(box, { backend: backend() });
    expect((await proxy.get('/')).body.toString()).toBe('hello\n');
    const tree = processTree(proxy.pid);
    expect(tree.length).toBeGreaterThanOrEqual(2);
    const end = await proxy.stop();
    expect(end).toMatchObject({ code: 0, signal: null });
    await until('all processes gone', () => tree.every((pid) => !alive(pid)));
  });

  it('serves from -f too, and ends with SIGINT in the same way', async () => {
    const proxy = await startProxy(box, {
      program: backendProgram(origin.port, 'sub vcl_deliver { set resp.http.X-Program = "mine"; }'),
    });
    expect((await proxy.get('/')).fields).toContainEqual(['X-Program', 'mine']);
    proxy.daemon.child.kill('SIGINT');
    expect(await proxy.daemon.exit(30_000)).toMatchObject({ code: 0, signal: null });
  });

  it('stops under load within ten seconds and leaves nothing', async () => {
    const begun = performance.now();
    const proxy = await startProxy(box, { backend: backend() });
    const started = performance.now() - begun;
    const tree = processTree(proxy.pid);
    let answered = 0;
    let stop = false;
    const clients = Array.from({ length: 20 }, async () => {
      while (!stop) {
        const connection = await ClientConnection.open(proxy.port).catch(() => null);
        if (connection === null) return;
        try {
          while (!stop) {
            connection.send(requestText('/'));
            const response = await connection.response();
            expect(response.body.toString()).toBe('hello\n');
            answered++;
          }
        } catch {
          return;
        } finally {
          connection.close();
        }
      }
    });
    await until('traffic', () => answered > 200);
    // If a start takes seconds, so does a shutdown.
    const end = await proxy.stop(10_000 + 4 * started);
    stop = true;
    await Promise.all(clients);
    expect(end).toMatchObject({ code: 0, signal: null });
    await until('all processes gone', () => tree.every((pid) => !alive(pid)));
  });

  it('starts again in the same directory, after a clean end and after kill -9', async () => {
    const first = await startProxy(box, { backend: backend() });
    await first.stop();
    const second = await startProxy(box, { backend: backend(), dir: first.dir });
    expect((await second.get('/')).status).toBe(200);
    const tree = processTree(second.pid);
    second.daemon.child.kill('SIGKILL');
    await second.daemon.exit(30_000);
    // A worker dies with its manager.
    await until('the worker gone', () => tree.every((pid) => !alive(pid)));
    const third = await startProxy(box, { backend: backend(), dir: first.dir });
    expect((await third.get('/')).status).toBe(200);
    await third.stop();
  });

  it('listens on several addresses with names', async () => {
    const proxy = await startProxy(box, { backend: backend(), args: ['-a', 'second=127.0.0.1:0'] });
    const list = await proxy.adm('listen.list');
    expect(list.code).toBe(0);
    const second = /^second\s.*?[\s:](\d+)\s*$/m.exec(list.stdout)?.[1];
    expect(Number(second)).toBeGreaterThan(0);
    const connection = await ClientConnection.open(Number(second));
    connection.send(requestText('/'));
    expect((await connection.response()).status).toBe(200);
    connection.close();
    await proxy.stop();
  });
});

describe('under a control session (-d)', () => {
  it('waits for start, serves, and ends with its standard input', async () => {
    const dir = box.path('control');
    mkdirSync(dir);
    const pidFile = `${dir}.pid`;
    const proxy = await startProxy(box, {
      mode: 'd',
      dir,
      backend: backend(),
      args: ['-P', pidFile],
      params: { auto_restart: 'off', vsl_mask: '+Debug' },
    });
    await until('a control answer', async () => (await proxy.adm('ping')).code === 0);
    expect((await proxy.adm('status')).stdout).toBe('Child in state stopped\n');
    expect(readFileSync(pidFile, 'utf8').trim()).toBe(String(proxy.pid));
    expect(await proxy.adm('start')).toMatchObject({ code: 0 });
    await proxy.serving();
    expect((await proxy.adm('status')).stdout).toBe('Child in state running\n');
    expect((await proxy.get('/')).status).toBe(200);
    expect(await proxy.adm('stop')).toMatchObject({ code: 0 });
    expect((await proxy.adm('status')).stdout).toBe('Child in state stopped\n');
    proxy.daemon.child.stdin?.end();
    expect(await proxy.daemon.exit(30_000)).toMatchObject({ code: 0, signal: null });
  });

  it('needs neither a backend nor a program to be started', async () => {
    const proxy = await startProxy(box, { mode: 'd' });
    await until('a control answer', async () => (await proxy.adm('ping')).code === 0);
    expect((await proxy.adm('start')).code).not.toBe(0);
    const loaded = await proxy.adm(`vcl.inline one << EOT\n${backendProgram(origin.port)}\nEOT`);
    expect(loaded).toMatchObject({ code: 0 });
    expect((await proxy.adm('vcl.use one')).code).toBe(0);
    expect((await proxy.adm('start')).code).toBe(0);
    await proxy.serving();
    expect((await proxy.get('/')).status).toBe(200);
    proxy.daemon.child.stdin?.end();
    expect((await proxy.daemon.exit(30_000)).code).toBe(0);
  });

  it('takes commands on its standard input', async () => {
    const proxy = await startProxy(box, { mode: 'd', backend: backend() });
    proxy.daemon.child.stdin?.write('start\n');
    await proxy.serving();
    expect((await proxy.get('/')).status).toBe(200);
    proxy.daemon.child.stdin?.write('param.show default_ttl\n');
    await until('an answer on stdout', () => proxy.daemon.stdout.includes('120.000'));
    proxy.daemon.child.stdin?.end();
    expect((await proxy.daemon.exit(30_000)).code).toBe(0);
  });
});

describe('detached', () => {
  it('returns 0 once the worker serves, and lives on', async () => {
    const dir = box.path('detached');
    const pidFile = `${dir}.pid`;
    mkdirSync(dir);
    const args = [...daemonArguments({ backend: backend() }, dir, null), '-P', pidFile];
    const start = await tool('proxyd', 'daemon', args);
    expect(start).toMatchObject({ code: 0 });
    const pid = Number(readFileSync(pidFile, 'utf8'));
    box.adopt(pid);
    expect(alive(pid)).toBe(true);
    // A second daemon does not take its place in the file of -P.
    const second = box.path('detached');
    const refused = await tool('proxyd', 'daemon', [
      ...daemonArguments({ backend: backend() }, second, null),
      ...['-P', pidFile],
    ]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        `Could not open pid-file (${pidFile}): Process ${pid}, which wrote it, is still running`,
      ),
    ]);
    expect(readFileSync(pidFile, 'utf8')).toBe(`${pid}\n`);
    const list = await tool('proxyd', 'adm', ['-n', dir, 'listen.list']);
    const port = Number(/[\s:](\d+)\s*$/m.exec(list.stdout)?.[1]);
    const connection = await ClientConnection.open(port);
    connection.send(requestText('/'));
    expect((await connection.response()).status).toBe(200);
    connection.close();
    const tree = processTree(pid);
    process.kill(pid, 'SIGTERM');
    await until('all processes gone', () => tree.every((each) => !alive(each)));
    expect(existsSync(pidFile)).toBe(false);
  });

  it('returns the reason when it cannot serve', async () => {
    const taken = await occupiedPort();
    const dir = box.path('detached');
    const args = ['-n', dir, '-a', `127.0.0.1:${taken.port}`, '-b', backend()];
    const start = await tool('proxyd', 'daemon', args);
    taken.close();
    expect(start.code).toBe(2);
    expect(start.stderr).toContain(`127.0.0.1:${taken.port}`);
  });
});

describe('a start that must fail', () => {
  const broken = () => {
    const file = box.path('broken');
    writeFileSync(
      file,
      'vcl 4.1;\nbackend default { .host = "127.0.0.1"; }\nsub vcl_recv {\n  set req.http.X = foo;\n}\n',
    );
    return file;
  };
  const attempt = (args: string[]) =>
    tool('proxyd', 'daemon', ['-F', '-n', box.path('refused'), '-a', '127.0.0.1:0', ...args]);

  it.each([
    ['a file that is not there', ['-f', '/no/such/file.vcl'], /\/no\/such\/file\.vcl.*No such file/],
    ['neither -b nor -f', [], /-b.*-f/],
    ['an unknown parameter', ['-b', '127.0.0.1:1', '-p', 'nosuch=1'], /Unknown parameter "nosuch"/],
    ['a bad value', ['-b', '127.0.0.1:1', '-p', 'default_ttl=abc'], /abc[\s\S]*default_ttl/],
    ['a value out of bounds', ['-b', '127.0.0.1:1', '-p', 'http_max_hdr=1'], /http_max_hdr/],
    ['a bad address', ['-b', '127.0.0.1:1', '-a', '300.1.1.1:0'], /300\.1\.1\.1/],
    ['an unknown flag', ['-Q'], /Q/],
    ['an unknown storage', ['-b', '127.0.0.1:1', '-s', 'nosuch,1m'], /nosuch/],
  ])('%s: exit 2 and the reason on stderr', async (_what, args, reason) => {
    const end = await attempt(args);
    expect(end.stderr).toMatch(reason);
    expect(end.code).toBe(2);
  });

  it('an unreadable program', async () => {
    const dir = box.path('folder');
    mkdirSync(dir);
    const end = await attempt(['-f', dir]);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(dir);
  });

  it('a program with an error: file, line, column and a caret', async () => {
    const file = broken();
    const end = await attempt(['-f', file]);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(file);
    expect(end.stderr).toContain('foo');
    expect(end.stderr).toMatch(/Line 4|:4:/);
    expect(end.stderr).toMatch(/^-*[\^#]|^\s*\^|---#/m);
  });

  it('a used port', async () => {
    const taken = await occupiedPort();
    const end = await tool('proxyd', 'daemon', [
      ...['-F', '-n', box.path('refused'), '-a', `127.0.0.1:${taken.port}`, '-b', backend()],
    ]);
    taken.close();
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(/in use/);
  });

  it('a directory that another daemon uses; that one is not disturbed', async () => {
    const proxy = await startProxy(box, { backend: backend() });
    const second = await tool('proxyd', 'daemon', [
      ...['-F', '-n', proxy.dir, '-a', '127.0.0.1:0', '-b', backend()],
    ]);
    expect(second.code).not.toBe(0);
    expect(second.stderr).toMatch(/already|running|in use/i);
    expect((await proxy.get('/')).status).toBe(200);
    expect((await proxy.adm('ping')).code).toBe(0);
    await proxy.stop();
  });

  it('leaves no process', async () => {
    const [program, lead] = command('proxyd', 'daemon');
    const dir = box.path('refused');
    await run(program, [...lead, '-F', '-n', dir, '-a', '127.0.0.1:0', '-f', broken()]);
    const list = await run('ps', ['-eo', 'args']);
    expect(list.stdout).not.toContain(dir);
  });
});

describe('one-shot flags', () => {
  it('-V prints the version', async () => {
    const end = await tool('proxyd', 'daemon', ['-V']);
    expect(end.code).toBe(0);
    expect(end.stdout + end.stderr).toMatch(/proxyd/);
  });

  it('-C prints the generated program', async () => {
    const file = box.path('good');
    writeFileSync(file, backendProgram(1, 'sub vcl_recv { set req.http.X-Marker = "seen"; }'));
    const end = await tool('proxyd', 'daemon', ['-C', '-f', file]);
    expect(end.code).toBe(0);
    expect(end.stdout + end.stderr).toContain('seen');
  });

  it('-C prints errors on stderr and exits with 2', async () => {
    const file = box.path('bad');
    writeFileSync(
      file,
      'vcl 4.1;\nbackend default { .host = "127.0.0.1"; }\nsub vcl_recv { retrun (pass); }\n',
    );
    const end = await tool('proxyd', 'daemon', ['-C', '-f', file]);
    expect(end.code).toBe(2);
    expect(end.stdout).toBe('');
    expect(end.stderr).toContain('retrun');
  });
});

function occupiedPort(): Promise<{ port: number; close: () => void }> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve({ port: address.port, close: () => server.close() });
    });
  });
}
