// Listening sockets that systemd passes and keeps, as proxyd.socket has it do: while the daemon is restarted, connections wait.
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BoundHandle, handleFactory } from '../../daemon/runtime-handles.ts';
import { fetchOnce } from '../harness/http-client.ts';
import { freePort } from '../harness/origin.ts';
import { type Daemon, run, Sandbox, until } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-passed-sockets');
const dir = box.path('n');
const program = box.path('site.vcl');
const handles: BoundHandle[] = [];
let port = 0;
let elsewhere = 0;

/** Bound here, and listening once a daemon listens on it: this process is the service manager. */
function passed(address: string, family: 4 | 6): number {
  const handle = handleFactory()?.(address, 0, family, undefined, 0);
  const name: { port?: number } = {};
  if (typeof handle !== 'object' || handle.getsockname?.(name) !== 0)
    throw new Error(`cannot bind ${address}`);
  handles.push(handle);
  return name.port as number;
}

function startDaemon(more: readonly string[] = []): Daemon {
  const words = [
    `${ROOT}dist/daemon/proxyd.js`,
    '-F',
    '-n',
    dir,
    '-a',
    `127.0.0.1:${port}`,
    '-f',
    program,
    ...more,
  ];
  const command = 'LISTEN_PID=$$ exec "$0" "$@" -p worker_threads=2 -i passed';
  const daemon = box.start('proxyd', 'sh', ['-c', command, process.execPath, ...words], {
    env: { ...process.env, LISTEN_FDS: String(handles.length), LISTEN_FDNAMES: 'a:b' },
    descriptors: handles.map((handle) => handle.fd as number),
  });
  return daemon;
}

const adm = (...words: string[]): Promise<{ code: number | null }> =>
  run(process.execPath, [`${ROOT}dist/console/bin/proxyadm.js`, '-n', dir, ...words]);

beforeAll(() => {
  writeFileSync(program, 'vcl 4.1; backend b none; sub vcl_recv { return (synth(200, "Served")); }');
  port = passed('127.0.0.1', 4);
  elsewhere = passed('127.0.0.1', 4);
});
afterAll(async () => {
  await box.dispose();
  for (const handle of handles) handle.close();
});

it('are served on, wait while the daemon is stopped or restarted, and are named when no listener uses them', async () => {
  const own = await freePort();
  let daemon = startDaemon(['-a', `127.0.0.1:${own}`]);
  const serves = (at: number): Promise<number> =>
    until('an answer', async () => {
      if (!daemon.running) throw new Error(daemon.stderr);
      return fetchOnce(at, '/').then(
        ({ status }) => status,
        () => null,
      );
    });
  // One of its own beside it.
  expect([await serves(own), await serves(port)]).toEqual([200, 200]);
  expect(daemon.stderr).toContain(`No listener uses the socket 127.0.0.1:${elsewhere} that was passed`);
  expect(daemon.stderr).not.toContain(`the socket 127.0.0.1:${port} `);

  // A worker that an operator stops closes its own port alone.
  expect(await adm('stop')).toMatchObject({ code: 0 });
  await expect(fetchOnce(own, '/')).rejects.toThrow('ECONNREFUSED');
  const early = await waiting(port);
  expect(await adm('start')).toMatchObject({ code: 0 });
  expect(await early.answer).toMatch(/^HTTP\/1.1 200 Served/);

  daemon.child.kill('SIGTERM');
  await daemon.exit(30_000);
  const waits = await waiting(port);
  daemon = startDaemon();
  expect(await waits.answer).toMatch(/^HTTP\/1.1 200 Served/);
  daemon.child.kill('SIGTERM');
  await daemon.exit(30_000);
});

/** Connected, with its request sent; its answer comes later. */
async function waiting(at: number): Promise<{ answer: Promise<string> }> {
  const socket = connect(at, '127.0.0.1');
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const answer = new Promise<string>((resolve, reject) => {
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.once('error', reject).once('close', () => resolve(text));
  });
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  return { answer };
}
