// Programs at run time in the built daemon: running requests keep their program, failed and discarded programs leave
// nothing, and a killed worker is restarted with the same programs, labels and temperatures.
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-programs');
let origin: Origin;
let proxy: RunningProxy;

const site = (body = ''): string =>
  `vcl 4.1; import std; backend b { .host = "127.0.0.1"; .port = "${origin.port}"; } ${body}`;
const says = (who: string): string => site(`sub vcl_deliver { set resp.http.who = "${who}"; }`);

async function load(name: string, text: string, state = 'auto'): Promise<void> {
  const file = `${proxy.dir}.${name}.vcl`;
  writeFileSync(file, text);
  const done = await proxy.adm('vcl.load', name, file, state);
  expect(done.stdout + done.stderr).toBe('\n');
}

async function list(): Promise<string[]> {
  const lines = (await proxy.adm('vcl.list')).stdout.split('\n').filter((l) => l !== '');
  return lines.map((l) => l.replace(/\s+/g, ' ').trim());
}

/** Backends whose counters are shown. */
async function backends(): Promise<string[]> {
  const names = Object.keys(await proxy.counters()).flatMap((n) => /^VBE\.(.*)\.req$/.exec(n)?.[1] ?? []);
  return names.sort();
}

beforeAll(async () => {
  origin = await Origin.start();
  proxy = await startProxy(box, { program: says('boot') });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

it('a transaction keeps the program it began with, which goes with it', async () => {
  const held: ServerResponse[] = [];
  const patient = createServer((_request, response) => held.push(response));
  await new Promise<void>((resolve) => patient.listen(0, '127.0.0.1', resolve));
  const { port } = patient.address() as AddressInfo;
  await load('old', says('old').replace(String(origin.port), String(port)));
  await proxy.adm('vcl.use', 'old');
  const slow = proxy.get('/slow');
  await until('the fetch', () => Promise.resolve(held.length > 0));
  await proxy.adm('vcl.use', 'boot');
  expect((await proxy.adm('vcl.discard', 'old')).code).toBe(0);
  expect(await list()).toEqual(['active auto warm 0 boot', 'discarded cold busy 2 old']);
  await proxy.counterReaches('MAIN.n_vcl_discard', 1);
  expect((await proxy.adm('vcl.use', 'old')).code).not.toBe(0);
  // The name is free again while the former one still runs.
  await load('old', says('another'));
  expect(await list()).toEqual([
    'active auto warm 0 boot',
    'discarded cold busy 2 old',
    'available auto warm 0 old',
  ]);
  expect(field(await proxy.get('/quick'), 'who')).toBe('boot');
  held[0]?.end('late');
  expect(field(await slow, 'who')).toBe('old');
  await until('the end of the old program', async () => (await list()).length === 2);
  patient.closeAllConnections();
  patient.close();
  await proxy.adm('vcl.discard', 'old');
  // The response has come before its transaction is over.
  await until('the backend of the discarded program gone', async () =>
    (await backends()).length === 1 ? true : null,
  );
  expect(await backends()).toEqual(['boot.b']);
});

it('a program that fails in vcl_init leaves nothing, and its vcl_fini has run', async () => {
  const before = await proxy.counters();
  const text = site(
    'sub vcl_init { std.log("began"); return (fail("closed today")); } sub vcl_fini { std.log("ended"); }',
  );
  const file = box.path('shut.vcl');
  writeFileSync(file, text);
  const done = await proxy.adm('vcl.load', 'shut', file);
  expect(done.code).toBe(1);
  expect(done.stdout + done.stderr).toContain('VCL "shut" Failed initialization\nMessage:\n\tclosed today\n');
  const log = await proxy.logged('ended', '-g', 'raw', '-i', 'VCL_Log,VCL_call');
  expect(log.match(/(?:began|ended|INIT)/g)).toEqual(['began', 'ended']);
  expect(await list()).toEqual(['active auto warm 0 boot']);
  const after = await proxy.counters();
  for (const name of ['MAIN.n_vcl', 'MAIN.n_vcl_avail', 'MAIN.n_vcl_discard', 'MAIN.n_backend']) {
    expect([name, after[name]]).toEqual([name, before[name]]);
  }
  expect(await backends()).toEqual(['boot.b']);
});

it('a cold program shows no counters, a warm one does', async () => {
  await load('side', site(), 'cold');
  expect(await backends()).toEqual(['boot.b']);
  await proxy.adm('vcl.state', 'side', 'warm');
  await until('counters', async () => (await backends()).includes('side.b'));
  await proxy.adm('vcl.state', 'side', 'cold');
  await until('no counters', async () => !(await backends()).includes('side.b'));
  await proxy.adm('vcl.discard', 'side');
});

it('a worker that is killed comes back with programs, labels and temperatures', async () => {
  await load('one', says('one'));
  await load('chilly', site(), 'cold');
  await load('hot', site(), 'warm');
  await proxy.adm('vcl.label', 'l', 'one');
  await load(
    'front',
    site(
      'sub vcl_recv { if (req.url ~ "^/one") { return (vcl(l)); } } sub vcl_deliver { set resp.http.who = "front"; }',
    ),
  );
  await proxy.adm('vcl.label', 'l', 'one');
  await proxy.adm('vcl.label', 'lf', 'front');
  await proxy.adm('vcl.use', 'lf');
  await proxy.adm('vcl.state', 'boot', 'cold');
  const names = async (): Promise<string[]> => (await list()).map((l) => l.replace(/ \d+ /, ' '));
  const before = (await names()).sort();
  expect(before).toContain('available cold cold boot');
  const pid = proxy.workerPid() as number;
  process.kill(pid, 'SIGKILL');
  await until('another worker', async () => {
    const now = proxy.workerPid();
    return now !== null && now !== pid && (await proxy.adm('status')).stdout.includes('running');
  });
  expect((await names()).sort()).toEqual(before);
  expect(field(await proxy.get('/one'), 'who')).toBe('one');
  expect(field(await proxy.get('/two'), 'who')).toBe('front');
  await proxy.adm('vcl.label', 'l', 'hot');
  expect(field(await proxy.get('/one?2'), 'who')).toBeUndefined();
  await proxy.adm('vcl.state', 'boot', 'auto');
  await proxy.adm('vcl.use', 'boot');
  expect((await proxy.adm('vcl.discard', 'l*', 'front', 'one', 'hot', 'chilly')).code).toBe(0);
  expect((await list()).length).toBe(1);
});

/** Programs loaded by the test below, counted across retries. */
let reloaded = 0;

it('reloading leaves no file descriptor, counter or program', async () => {
  const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
  const worker = proxy.workerPid() as number;
  const file = box.path('again.vcl');
  writeFileSync(file, says('again'));
  const reload = async (times: number): Promise<void> => {
    const lines: string[] = [];
    for (const end = reloaded + times; reloaded < end; reloaded++) {
      const [name, former] = [`r${reloaded}`, reloaded === 0 ? 'boot' : `r${reloaded - 1}`];
      lines.push(`vcl.load ${name} ${file}`, `vcl.use ${name}`, `vcl.discard ${former}`);
    }
    const done = await tool('proxyd', 'adm', ['-n', proxy.dir, '--strict'], {
      input: `${lines.join('\n')}\n`,
    });
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(field(await proxy.get(`/reload/${reloaded}`), 'who')).toBe('again');
  };
  await reload(5);
  const before = [descriptors(proxy.pid), descriptors(worker)];
  for (let i = 0; i < 4; i++) await reload(15);
  // A connection that has just ended may still hold one.
  await until('no descriptor more than before', async () =>
    [proxy.pid, worker].every((pid, i) => descriptors(pid) <= (before[i] as number)) ? true : null,
  );
  await until('only the last program', async () => (await list()).length === 1);
  await until('only its backend', async () => (await backends()).join() === `r${reloaded - 1}.b`);
  const now = await proxy.counters();
  expect([now['MAIN.n_vcl'], now['MAIN.n_vcl_discard'], now['MAIN.n_backend']]).toEqual([1, 0, 1]);
});

it('several -f are numbered, and the last one is active', async () => {
  const second = box.path('second.vcl');
  writeFileSync(second, says('second'));
  const two = await startProxy(box, { program: says('first'), args: ['-f', second] });
  const lines = (await two.adm('vcl.list')).stdout.split('\n').map((l) => l.replace(/\s+/g, ' ').trim());
  expect(lines.slice(0, 2)).toEqual(['available auto warm 0 boot0', 'active auto warm 0 boot1']);
  expect(field(await two.get('/'), 'who')).toBe('second');
  await two.stop();
});

it('a relative name not found in vcl_path is reported with the places searched', async () => {
  const lost = await proxy.adm('vcl.load', 'lost', 'site.vcl');
  expect(lost.code).toBe(1);
  expect(lost.stdout).toContain(
    "Cannot read file 'site.vcl' (No such file or directory)\nHint: it was looked for in /",
  );
  expect((await proxy.adm('vcl.load', 'lost', './site.vcl')).stdout).not.toContain('Hint');
});
