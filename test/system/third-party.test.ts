// Programs that others wrote for Varnish, played against a live proxyd through links that have Varnish's names: the
// exporter for Prometheus, the reload script and the admin tool of Debian's packages. Each is skipped, by name, where
// it is not installed.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchOnce } from '../harness/http-client.ts';
import { freePort, Origin, respond } from '../harness/origin.ts';
import { type Daemon, installed, run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const RELOAD = '/usr/share/varnish/varnishreload';
const EXPORTER = 'prometheus-varnish-exporter';

const box = new Sandbox('proxyd-third');
let origin: Origin;
let proxy: RunningProxy;
let control = '';
/** Finds our tools under the names that the programs call. */
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  const shims = box.path('bin');
  mkdirSync(shims);
  for (const name of ['adm', 'stat'])
    symlinkSync(join(ROOT, 'node_modules/.bin', `proxy${name}`), join(shims, `varnish${name}`));
  env = { ...process.env, PATH: [shims, process.env.PATH].join(delimiter) };
  proxy = await startProxy(box, { program: backendProgram(origin.port), args: ['-T', '127.0.0.1:0'] });
  control = /CLI on (\S+)/.exec(proxy.daemon.stderr)?.[1] ?? '';
  await proxy.get('/one');
  await proxy.get('/one');
  await proxy.counterReaches('MAIN.cache_hit', 1);
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

it.skipIf(!installed(EXPORTER))(`${EXPORTER} serves the counters`, async () => {
  let port = 0;
  const start = async (): Promise<Daemon> => {
    port = await freePort();
    const args = ['-n', proxy.dir, '-web.listen-address', `127.0.0.1:${port}`, '-exit-on-errors'];
    return box.start('exporter', EXPORTER, args, { env });
  };
  let exporter = await start();
  const page = await until('the metrics', async () => {
    if (!exporter.running) {
      const output = `${exporter.stdout}${exporter.stderr}`;
      if (!output.includes('address already in use')) throw new Error(`it has ended: ${output}`);
      exporter = await start();
    }
    const asked = await fetchOnce(port, '/metrics').catch(() => null);
    return asked?.status === 200 ? asked.body.toString() : undefined;
  });
  const lines = (name: string): string[] =>
    page
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .sort();
  expect(lines('varnish_up')).toEqual(['varnish_up 1']);
  expect(lines('varnish_main_cache_hit')).toEqual(['varnish_main_cache_hit 1']);
  expect(lines('varnish_main_fetch').length).toBeGreaterThan(5);
  expect(lines('varnish_backend_req')).toEqual(['varnish_backend_req{backend="default",server="unknown"} 1']);
  expect(lines('varnish_sma_g_bytes').map((line) => /type="(.*)"/.exec(line)?.[1])).toEqual([
    's0',
    'transient',
  ]);
  expect(lines('varnish_version')).toHaveLength(1);
  // An error of a scrape would have ended it.
  expect(exporter.running).toBe(true);
});

describe.skipIf(!existsSync(RELOAD))('varnishreload', () => {
  const reload = (...args: string[]) => run('/bin/sh', [RELOAD, '-n', proxy.dir, ...args], { env });
  const programs = async (): Promise<string> => (await proxy.adm('vcl.list')).stdout;

  it('loads the active program again, and discards what is more than it should leave', async () => {
    for (let i = 0; i < 2; i++) {
      expect(await reload()).toMatchObject({ code: 0, stderr: '' });
      expect(await programs()).toMatch(/^active +auto +warm +\d+ +reload_\d+_\d+_\d+$/m);
    }
    const end = await reload('-m', '0');
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout.match(/ discarded$/gm)).toHaveLength(2);
    expect((await programs()).match(/reload_/g)).toHaveLength(1);
  });

  it('moves a label, and leaves all as it is when a program does not compile', async () => {
    expect(await proxy.adm('vcl.label', 'shop', 'boot')).toMatchObject({ code: 0 });
    expect(await reload('-l', 'shop')).toMatchObject({ code: 0, stderr: '' });
    expect(await programs()).toMatch(/ shop +-> +reload_/);
    const bad = box.path('bad');
    writeFileSync(bad, 'vcl 4.1; bogus');
    const before = await programs();
    const end = await reload(bad);
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('Command failed with error code 106');
    expect(await programs()).toBe(before);
  });
});

it.skipIf(!installed('varnishadm'))('varnishadm talks to -T with the secret', async () => {
  const secret = join(proxy.dir, 'secret');
  expect(readFileSync(secret).length).toBeGreaterThan(32);
  const ask = (...words: string[]) => run('varnishadm', ['-T', control, '-S', secret, ...words]);
  expect(await ask('status')).toMatchObject({ code: 0, stdout: 'Child in state running\n' });
  expect(await ask('ban', 'req.url', '~', '^/x')).toMatchObject({ code: 0 });
  expect(await ask('bogus')).toMatchObject({ code: 1, stderr: expect.stringContaining('error code 101') });
});
