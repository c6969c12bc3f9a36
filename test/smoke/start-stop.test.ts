// Start and stop: a daemon in the foreground serves and ends with nothing left, -d waits for `start`, and a start that cannot
// serve says why.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { alive, processTree, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-smoke-start');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  proxy = await startProxy(box, {
    mode: 'd',
    backend: `127.0.0.1:${origin.port}`,
    args: ['-P', `${box.dir}/pid`],
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

describe('a daemon', () => {
  it('waits for start with -d, and then serves', async () => {
    await until('a control answer', async () => (await proxy.adm('ping')).code === 0);
    expect((await proxy.adm('status')).stdout).toBe('Child in state stopped\n');
    expect(readFileSync(`${box.dir}/pid`, 'utf8')).toBe(`${proxy.pid}\n`);
    expect(await proxy.adm('start')).toMatchObject({ code: 0 });
    await proxy.serving();
    expect((await proxy.adm('status')).stdout).toBe('Child in state running\n');
    const answer = await proxy.get('/');
    expect([answer.status, answer.body.toString()]).toEqual([200, 'hello\n']);
    expect(field(answer, 'Via')).toMatch(/^1\.1 test \(proxyd\/\d+\.\d+\)$/);
  });

  it('forgets what it stored when its worker is stopped and started, and listens on the same port', async () => {
    const before = proxy.port;
    expect(origin.seen('/')).toHaveLength(1);
    expect((await proxy.adm('stop')).code).toBe(0);
    expect((await proxy.adm('status')).stdout).toBe('Child in state stopped\n');
    await expect(ClientConnection.open(before)).rejects.toThrow('ECONNREFUSED');
    expect((await proxy.adm('start')).code).toBe(0);
    await proxy.serving();
    expect(proxy.port).toBe(before);
    expect((await proxy.get('/')).status).toBe(200);
    expect(origin.seen('/')).toHaveLength(2);
  });

  it('refuses to start where another one runs, on a port that is taken, and with a program that does not compile', async () => {
    const start = (...args: string[]) => tool('proxyd', 'daemon', ['-F', '-n', box.path('other'), ...args]);
    const [same, port, program] = await Promise.all([
      tool('proxyd', 'daemon', ['-F', '-n', proxy.dir, '-a', '127.0.0.1:0', '-b', '127.0.0.1:1']),
      start('-a', `127.0.0.1:${proxy.port}`, '-b', '127.0.0.1:1'),
      start('-a', '127.0.0.1:0', '-f', '/dev/null'),
    ]);
    expect([same.code, port.code, program.code]).toEqual([2, 2, 2]);
    expect(same.stderr).toContain(`${proxy.pid}`);
    expect(port.stderr).toContain(`${proxy.port}`);
    expect(program.stderr).toContain('vcl');
  });

  it('ends with SIGTERM: open connections, too, exit code 0, no process left', async () => {
    const connection = await ClientConnection.open(proxy.port);
    connection.send(requestText('/'));
    expect((await connection.response()).status).toBe(200);
    const tree = processTree(proxy.pid);
    expect(tree.length).toBeGreaterThanOrEqual(2);
    expect(await proxy.stop(30_000)).toMatchObject({ code: 0, signal: null });
    expect(await connection.closedByPeer()).toBe(true);
    await until('all processes gone', () => tree.every((pid) => !alive(pid)));
  });
});
