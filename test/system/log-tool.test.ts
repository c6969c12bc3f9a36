// proxylog against a running daemon: signals, the background, and a daemon that disappears.
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, fetchOnce, requestText } from '../harness/http-client.ts';
import { freePort, Origin } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, command, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxylog');
const [program, lead] = command('proxyd', 'log');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  // The same when it is started again.
  const port = await freePort();
  proxy = await startProxy(box, { program: backendProgram(origin.port), port });
});

afterAll(async () => {
  await proxy.stop();
  await origin.close();
  await box.dispose();
});

/** Starts the tool and waits until it is attached. */
async function follow(...args: string[]) {
  const pidFile = box.path('pid');
  const log = box.start('proxylog', program, [...lead, '-n', proxy.dir, '-P', pidFile, ...args]);
  await until('attached', () => existsSync(pidFile));
  return { log, pidFile };
}

const text = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

describe('proxylog', () => {
  it('in the background starts a new file at SIGHUP', async () => {
    const [file, pidFile] = [box.path('log'), box.path('pid')];
    const args = ['-n', proxy.dir, '-D', '-A', '-w', file, '-P', pidFile, '-g', 'request', '-i', 'ReqURL'];
    const started = await tool('proxyd', 'log', args);
    expect(started).toMatchObject({ code: 0, stdout: '', stderr: '' });
    // It is attached by the time the foreground ends.
    const pid = Number(readFileSync(pidFile, 'utf8'));
    box.adopt(pid);
    await fetchOnce(proxy.port, '/before');
    await until('the first group', () => text(file).includes('/before'));
    renameSync(file, `${file}.old`);
    process.kill(pid, 'SIGHUP');
    await until('a new file', () => existsSync(file));
    await fetchOnce(proxy.port, '/after');
    await until('the second group', () => text(file).includes('/after'));
    expect(text(`${file}.old`)).not.toContain('/after');
    process.kill(pid, 'SIGTERM');
    await until('the end', () => !existsSync(pidFile));
  });

  it('in the background prints why it cannot start', async () => {
    const dir = box.path('nowhere');
    const args = ['-n', dir, '-t', '0', '-D', '-w', box.path('log')];
    expect(await tool('proxyd', 'log', args)).toMatchObject({
      code: 1,
      stderr: `VSM: Could not get hold of proxyd, is it running?\n(there is no directory ${dir}: name the daemon's with -n)\n`,
    });
  });

  it('shows what is incomplete at SIGUSR1, and ends at SIGHUP in the foreground', async () => {
    const { log } = await follow('-g', 'session');
    const clients: ClientConnection[] = [];
    // A flush may come before the daemon's reader has met the request: another session then shows it.
    await until('an open session', async () => {
      const client = await ClientConnection.open(proxy.port);
      clients.push(client);
      client.send(requestText('/open'));
      await client.response();
      await delay(50);
      process.kill(log.pid, 'SIGUSR1');
      await delay(50);
      return log.stdout.includes('/open');
    });
    expect(log.stdout).toMatch(/VSL +flush\n- {3}End +synth\n/);
    for (const client of clients) client.close();
    process.kill(log.pid, 'SIGHUP');
    expect((await log.exit(30_000)).code).toBe(0);
  });

  it('waits for a worker and for a daemon that went away, and reports it', async () => {
    const { log } = await follow('-g', 'request', '-i', 'ReqURL');
    await proxy.adm('stop');
    await until('word of the stop', () => log.stderr.endsWith('Log abandoned (vsl)\n'));
    await proxy.adm('start');
    await until('word of the start', () => log.stderr.endsWith('Log reacquired\n'));
    await fetchOnce(proxy.port, '/again');
    await until('its log', () => log.stdout.includes('/again'));
    const { dir, port } = proxy;
    await proxy.stop();
    await until('word of the end', () => log.stderr.includes('Log abandoned (vsm)\n'));
    proxy = await startProxy(box, { program: backendProgram(origin.port), dir, port });
    await fetchOnce(proxy.port, '/anew');
    await until('the new log', () => log.stdout.includes('/anew'));
    expect(log.stderr.split('\n').filter((line) => line === 'Log reacquired')).toHaveLength(2);
    process.kill(log.pid, 'SIGTERM');
    expect((await log.exit(30_000)).code).toBe(0);
  });
});
