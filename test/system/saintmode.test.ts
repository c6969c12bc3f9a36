// Lists of saintmode in a running proxy: whose they are, and how they end. What they do to fetches is compared with
// Varnish in the scenarios "saintmode".
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { alive, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-saint');
let origin: Origin;
let proxy: RunningProxy;
let program = '';

beforeAll(async () => {
  origin = await Origin.start();
  for (const url of ['/bad', '/a', '/b']) origin.on(url, respond('200 OK', {}, url));
  program = `vcl 4.1; import saintmode;
backend b { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_init { new s = saintmode.saintmode(b, 1); }
sub vcl_recv { set req.backend_hint = s.backend(); return (pass); }
sub vcl_backend_response { if (bereq.url == "/bad") { saintmode.blacklist(1h); } }
sub vcl_deliver { set resp.http.n = s.blacklist_count(); }
sub vcl_synth { set resp.http.n = s.blacklist_count(); }`;
  proxy = await startProxy(box, { program });
});
afterAll(async () => {
  box.dispose();
  await origin.close();
});

const ask = async (url: string): Promise<string> => {
  const answer = await proxy.get(url);
  return `${answer.status} ${field(answer, 'n') ?? '-'}`;
};

it('belong to a program, and go with it', async () => {
  expect([await ask('/a'), await ask('/bad'), await ask('/a')]).toEqual(['200 0', '200 1', '503 1']);
  const file = box.path('again.vcl');
  writeFileSync(file, program);
  expect((await proxy.adm('vcl.load', 'again', file)).code).toBe(0);
  expect((await proxy.adm('vcl.use', 'again')).code).toBe(0);
  expect([await ask('/a'), await ask('/bad')]).toEqual(['200 0', '200 1']);
  expect((await proxy.adm('vcl.use', 'boot')).code).toBe(0);
  expect((await proxy.adm('vcl.discard', 'again')).code).toBe(0);
  expect(await ask('/b')).toBe('503 1');
});

it('are empty in a new worker', async () => {
  const old = proxy.workerPid() as number;
  process.kill(old, 'SIGKILL');
  await until('a new worker', () => !alive(old) && proxy.workerPid() !== null && proxy.workerPid() !== old);
  await proxy.serving();
  expect(await until('an answer', () => ask('/b').catch(() => null))).toBe('200 0');
  expect([await ask('/bad'), await ask('/b')]).toEqual(['200 1', '503 1']);
});
