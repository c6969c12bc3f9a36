// The edge connector in a running proxy, against a purge API that verifies signatures: every way to invalidate, the test
// object, headers for the edge, answers of all kinds, a worker that is killed, and what happens without settings.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeEdge } from '../../daemon/edge/fake/fake-edge.ts';
import { EDGE_CREDENTIALS, edgeSettings } from '../harness/edge-settings.ts';
import { fetchOnce, field, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-edge');
const VIA = '1.1 v1-akamaitech.net(ghost) (AkamaiGHost), 1.1 akamai.net(ghost) (AkamaiGHost)';
let origin: Origin;
let network: FakeEdge;
let proxy: RunningProxy;
let bare: RunningProxy;

const program = (): string => `vcl 4.1;
import std;
import edge;
import purge;
import xkey;
include "edge_auto.vcl";
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_recv {
  if (req.method == "RETURN") { return (purge); }
  if (req.method == "LOCAL") { edge.local_only(); return (purge); }
  if (req.method == "FN") { return (hash); }
  if (req.method == "XKEY") { set req.http.n = xkey.purge(req.http.keys); return (synth(200, req.http.n)); }
  if (req.method == "SOFTXKEY") { set req.http.n = xkey.softpurge(req.http.keys); return (synth(200, req.http.n)); }
  if (req.method == "BANFN") { ban(req.http.x); return (synth(200)); }
  if (req.method == "STDBAN") { if (std.ban(req.http.x)) { return (synth(200)); } }
  if (req.method == "STDSOFT") { if (std.softban(req.http.x)) { return (synth(200)); } }
  if (req.method == "URL") { std.log(edge.purge(req.http.x)); return (synth(200)); }
  if (req.method == "SOFTURL") { std.log(edge.softpurge(req.http.x)); return (synth(200)); }
}
sub fn {
  if (req.method == "FN" && req.http.soft) { set req.http.n = purge.soft(); return (synth(200, req.http.n)); }
  if (req.method == "FN") { set req.http.n = purge.hard(); return (synth(200, req.http.n)); }
}
sub vcl_hit { call fn; }
sub vcl_miss { call fn; }
sub vcl_backend_response { set beresp.ttl = 60s; set beresp.grace = 10s; }
`;

function start(name: string, settings: string | null): Promise<RunningProxy> {
  const path = `${box.dir}/${name}.conf`;
  if (settings !== null) writeFileSync(path, settings, { mode: 0o600 });
  return startProxy(box, {
    program: program(),
    dir: box.path(name),
    params: { vcl_path: `${ROOT}daemon/edge/vcl` },
    env: { EDGE_CONNECTOR_CONFIG: path },
  });
}

beforeAll(async () => {
  origin = await Origin.start();
  network = await FakeEdge.start({ credentials: EDGE_CREDENTIALS });
  origin.on('*', ({ url }) =>
    respond('200 OK', { xkey: 'all, one', 'Cache-Control': 'max-age=3600' }, `body of ${url}`),
  );
  proxy = await start('told', edgeSettings(network));
  bare = await start('bare', null);
});
afterAll(async () => {
  await origin.close();
  await network.close();
  await box.dispose();
});
beforeEach(() => {
  network.calls.length = 0;
  network.faults.clear();
});

const ask = (
  path: string,
  method = 'GET',
  fields: Record<string, string> = {},
  at = proxy,
): Promise<Response> => fetchOnce(at.port, path, { method, host: 'www.example.com', fields });

/** Requests to the network, once the queue is empty. */
async function reported(): Promise<[string, readonly (string | number)[]][]> {
  await drained();
  return network.calls.map(({ what, objects }) => [what, objects]);
}

async function drained(): Promise<void> {
  await until('the queue is empty', async () => (await proxy.adm('edge.queue')).stdout.trim() === 'Nothing.');
}

const A = 'https://www.example.com/a';
const ruled = (deed: string): string =>
  `<?xml version="1.0"?>\n<eccu><match:request-header operation="name-value-cmp" argument1="Host" argument2="www.example.com"><match:recursive-dirs value="news"><${deed}>now</${deed}></match:recursive-dirs></match:request-header></eccu>`;
const NEWS = 'req.http.host == www.example.com && req.url ~ ^/news/';

describe('every way to invalidate arrives once', () => {
  it.each<[string, string, Record<string, string>, string, string[]]>([
    ['PURGE', '/a', {}, 'delete url staging', [A]],
    ['SOFTPURGE', '/a', {}, 'invalidate url staging', [A]],
    ['REFRESH', '/a', {}, 'delete url staging', [A]],
    ['RETURN', '/a', {}, 'delete url staging', [A]],
    ['FN', '/a', {}, 'delete url staging', [A]],
    ['FN', '/a', { soft: '1' }, 'invalidate url staging', [A]],
    ['URL', '/', { x: '/a' }, 'delete url staging', [A]],
    [
      'SOFTURL',
      '/',
      { x: 'http://WWW.example.com/a' },
      'invalidate url staging',
      ['https://www.example.com/a'],
    ],
    ['PURGE', '/', { xkey: 'k1, k2' }, 'delete tag staging', ['k1', 'k2']],
    ['SOFTPURGE', '/', { xkey: 'k1 k2' }, 'invalidate tag staging', ['k1', 'k2']],
    ['XKEY', '/', { keys: 'k1' }, 'delete tag staging', ['k1']],
    ['SOFTXKEY', '/', { keys: 'k1' }, 'invalidate tag staging', ['k1']],
    ['BAN', '/', { 'x-ban': NEWS }, 'rule', [ruled('delete')]],
    ['SOFTBAN', '/', { 'x-ban': NEWS }, 'rule', [ruled('revalidate')]],
    ['BANFN', '/', { x: NEWS }, 'rule', [ruled('delete')]],
    ['STDBAN', '/', { x: NEWS }, 'rule', [ruled('delete')]],
    ['STDSOFT', '/', { x: NEWS }, 'rule', [ruled('revalidate')]],
  ])('%s %s %o', async (method, path, fields, what, objects) => {
    await ask('/a');
    expect((await ask(path, method, fields)).status).toBe(200);
    expect(await reported()).toEqual([[what, objects]]);
  });

  it.each([
    [`ban ${NEWS}`, 'delete'],
    [`ban.soft ${NEWS}`, 'revalidate'],
  ])('%s', async (line, deed) => {
    expect((await proxy.adm(...line.split(' '))).code).toBe(0);
    expect(await reported()).toEqual([['rule', [ruled(deed)]]]);
  });

  it('except local invalidations', async () => {
    await ask('/a');
    expect((await ask('/a', 'LOCAL')).status).toBe(200);
    expect((await proxy.adm('ban', '--local', ...NEWS.split(' '))).code).toBe(0);
    expect(await reported()).toEqual([]);
  });
});

describe('with the shipped invalidate.vcl, and the modules of older programs', () => {
  let older: RunningProxy;
  beforeAll(async () => {
    const text = `vcl 4.1;
      import edge; import hashtwo; import softpurge;
      acl invalidators { "127.0.0.1"; }
      include "invalidate.vcl";
      backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
      sub vcl_recv {
        if (req.method == "HASHTWO") { set req.http.n = hashtwo.purge(req.http.keys); return (synth(200)); }
        if (req.method == "OLDSOFT") { return (hash); }
      }
      sub vcl_hit { if (req.method == "OLDSOFT") { softpurge.softpurge(); return (synth(200)); } }
      sub vcl_backend_response { set beresp.ttl = 60s; set beresp.grace = 10s; }`;
    const env = { EDGE_CONNECTOR_CONFIG: `${box.dir}/told.conf` };
    older = await startProxy(box, { program: text, dir: box.path('older'), env });
  });

  it.each<[string, string, Record<string, string>, string, string[]]>([
    ['PURGE', '/a', {}, 'delete url staging', [A]],
    ['SOFTPURGE', '/a', {}, 'invalidate url staging', [A]],
    ['REFRESH', '/a', {}, 'delete url staging', [A]],
    ['PURGE', '/', { xkey: 'k1' }, 'delete tag staging', ['k1']],
    ['SOFTPURGE', '/', { xkey: 'k1' }, 'invalidate tag staging', ['k1']],
    ['BAN', '/', { 'x-ban': NEWS }, 'rule', [ruled('delete')]],
    ['SOFTBAN', '/', { 'x-ban': NEWS }, 'rule', [ruled('revalidate')]],
    ['HASHTWO', '/', { keys: 'k2' }, 'delete tag staging', ['k2']],
    ['OLDSOFT', '/a', {}, 'invalidate url staging', [A]],
  ])('%s %s %o', async (method, path, fields, what, objects) => {
    await ask('/a', 'GET', {}, older);
    expect((await ask(path, method, fields, older)).status).toBe(200);
    await until(
      'the queue is empty',
      async () => (await older.adm('edge.queue')).stdout.trim() === 'Nothing.',
    );
    expect(network.calls.map((call) => [call.what, call.objects])).toEqual([[what, objects]]);
  });
});

it('replies with what was done here and there', async () => {
  await ask('/a');
  const answer = await ask('/a', 'PURGE');
  expect(field(answer, 'content-type')).toBe('application/json');
  const reply = JSON.parse(answer.body.toString()) as { local: object; edge: { id: string } };
  expect(reply).toEqual({
    local: { purged: 1 },
    edge: { provider: 'fake', op: 'delete url', id: reply.edge.id, state: 'queued' },
  });
  const ban = await ask('/', 'BAN', { 'x-ban': 'obj.status == 404' });
  expect([ban.status, ban.reason]).toEqual([207, 'Multi-Status']);
  expect(JSON.parse(ban.body.toString())).toMatchObject({ edge: { state: 'rejected' } });
  expect((await ask('/', 'BAN', { 'x-ban': 'nonsense' })).status).toBe(400);
  await drained();
  const acked = new RegExp(`vxid \\d+ queue ${reply.edge.id} acked purge fake-\\d+`);
  await proxy.logged(acked, '-g', 'raw', '-i', 'Notice');
});

it('a ban that the edge refuses is a failure for the script that gave it', async () => {
  const refused = await proxy.adm('ban', 'obj.status', '==', '404');
  expect(refused.code).toBe(1);
  expect(refused.stdout).toBe(
    'Banned here. The edge was not notified: no rule for obj.status == 404 (rule_fallback = reject)\n\n',
  );
  expect((await proxy.adm('ban.soft', 'obj.status', '==', '404')).code).toBe(1);
  expect((await proxy.adm('ban', '--local', 'obj.status', '==', '404')).code).toBe(0);
  expect((await proxy.adm('ban.list')).stdout).toContain('obj.status == 404');
  for (const method of ['BANFN', 'STDBAN', 'STDSOFT'])
    expect([method, (await ask('/', method, { x: 'obj.status == 404' })).status]).toEqual([method, 207]);
});

it('a ban on a host with a port clears what the edge has of it', async () => {
  expect((await proxy.adm('ban', 'req.http.host', '==', 'www.example.com:8080')).code).toBe(0);
  const [call] = await reported();
  expect(call?.[0]).toBe('rule');
  expect(JSON.stringify(call?.[1])).toContain('www.example.com:8080');
});

it('without settings: the local purge, and {}', async () => {
  await ask('/a', 'GET', {}, bare);
  for (const method of ['PURGE', 'SOFTPURGE']) {
    const answer = await ask('/a', method, {}, bare);
    expect([answer.status, answer.body.toString(), field(answer, 'content-type')]).toEqual([
      200,
      '{}',
      'application/json',
    ]);
  }
  const before = origin.requests.length;
  await ask('/a', 'GET', {}, bare);
  expect(origin.requests.length).toBe(before + 1);
});

describe('the edge', () => {
  it('gets headers of its own, others none', async () => {
    const begun = performance.now();
    await ask('/h');
    const plain = await ask('/h');
    expect(field(plain, 'edge-control')).toBeUndefined();
    expect(field(plain, 'cache-control')).toBe('max-age=3600');
    const answer = await ask('/h', 'GET', { Via: VIA });
    const old = (performance.now() - begun) / 1000 + 1;
    const edge = Number(/^max-age=(\d+)$/.exec(field(answer, 'edge-control') ?? '')?.[1]);
    const [, most, check] =
      /^max-age=(\d+), post-check=(\d+)$/.exec(field(answer, 'cache-control') ?? '') ?? [];
    for (const [seconds, whole] of [
      [edge, 70],
      [Number(most), 60],
      [Number(check), 60],
    ] as const) {
      expect(seconds).toBeLessThanOrEqual(whole);
      expect(seconds).toBeGreaterThanOrEqual(whole - old);
    }
    expect(field(answer, 'edge-cache-tag')).toBe('all,one');
    expect(field(answer, 'age')).toBeUndefined();
  });

  it('gets the test object, whole, its head, and in part', async () => {
    const answer = await ask('/edge/testobject.html', 'GET', { Via: VIA, 'Accept-Encoding': 'gzip' });
    expect([answer.status, answer.body.length]).toEqual([200, 20_480]);
    expect(field(answer, 'edge-control')).toBe('max-age=70');
    expect(field(answer, 'cache-control')).toBe('post-check=60');
    expect(field(answer, 'via')).toMatch(
      /^1\.1 \S+ \(proxyd\/0\.1\), 1\.1 edge-connector \(Edge-Connector\/0\.1\)$/,
    );
    expect(field(answer, 'accept-ranges')).toBe('bytes');
    expect(field(answer, 'content-encoding')).toBeUndefined();
    const head = await ask('/edge/testobject.html', 'HEAD', { Via: VIA });
    expect([head.status, field(head, 'content-length'), head.body.length]).toEqual([200, '20480', 0]);
    const part = await ask('/edge/testobject.html', 'GET', { Via: VIA, Range: 'bytes=100-199' });
    expect([part.status, field(part, 'content-range'), part.body.length]).toEqual([
      206,
      'bytes 100-199/20480',
      100,
    ]);
    expect(part.body.equals(answer.body.subarray(100, 200))).toBe(true);
    expect((await ask('/edge/testobject.html')).body.toString()).toBe('body of /edge/testobject.html');
    const test = await proxy.adm('edge.test');
    expect([test.code, test.stdout]).toEqual([0, expect.not.stringContaining('bad')]);
  });

  it('is not answered from grace after a soft purge', async () => {
    await ask('/g');
    await ask('/g', 'SOFTPURGE');
    const before = origin.requests.length;
    await ask('/g', 'GET', { Via: VIA });
    expect(origin.requests.length).toBe(before + 1);
  });

  it('purges nothing for clients outside the acl, with Via or without', async () => {
    const stranger = await startProxy(box, {
      program: program(),
      dir: box.path('stranger'),
      params: { vcl_path: narrowed() },
      env: { EDGE_CONNECTOR_CONFIG: `${box.dir}/told.conf` },
    });
    const answer = await ask('/a', 'PURGE', { Via: VIA }, stranger);
    expect(answer.status).toBe(403);
  });
});

/** The two files with an acl that does not name us. */
function narrowed(): string {
  const path = box.path('narrow');
  mkdirSync(path);
  for (const name of readdirSync(`${ROOT}daemon/edge/vcl`)) {
    const text = readFileSync(`${ROOT}daemon/edge/vcl/${name}`, 'utf8');
    writeFileSync(`${path}/${name}`, text.replace('"127.0.0.1"', '"192.0.2.1"'));
  }
  return path;
}

describe('answers of the network', () => {
  it.each(['500', '408', 'reset', 'half', 'odd', 'endless'])('%s: tried again', async (kind) => {
    network.faults.add({ kind, times: 2 });
    await ask('/a', 'PURGE');
    expect(await reported()).toEqual([['delete url staging', [A]]]);
  });

  it('slow: waited for, and the purges after it are not held up', async () => {
    network.faults.add({ kind: 'slow', where: '/slow' });
    await ask('/slow', 'PURGE');
    await until('a call under way', async () => (await proxy.adm('edge.queue')).stdout.includes('inflight'));
    await ask('/a', 'PURGE');
    await until('the other one', () => network.calls.length === 1);
    expect(network.calls[0]?.objects).toEqual([A]);
    expect((await proxy.adm('edge.queue')).stdout).toContain('/slow');
    await drained();
  });

  it('429: waited, and not counted as an attempt', async () => {
    const before = await proxy.counters();
    network.faults.add({ kind: '429' });
    await ask('/a', 'PURGE');
    expect(await reported()).toEqual([['delete url staging', [A]]]);
    const after = await proxy.counters();
    const rise = (name: string): number => (after[`EDGE.${name}`] ?? 0) - (before[`EDGE.${name}`] ?? 0);
    expect([rise('ratelimited'), rise('retried'), rise('acked')]).toEqual([1, 0, 1]);
  });

  it('413: halved until it fits', async () => {
    await proxy.adm('edge.pause');
    for (const path of ['/1', '/2', '/3', '/4']) await ask(path, 'PURGE');
    network.faults.add({ kind: '413', times: 2 });
    await proxy.adm('edge.resume');
    await drained();
    expect(network.calls.flatMap(({ objects }) => objects).sort()).toEqual(
      ['1', '2', '3', '4'].map((n) => `https://www.example.com/${n}`),
    );
    expect(network.calls.length).toBeGreaterThan(1);
  });

  it('400 for one of several: the others go', async () => {
    network.faults.add({ kind: '400', times: Number.POSITIVE_INFINITY, where: 'example.com/bad' });
    await Promise.all(['/1', '/2', '/bad', '/3'].map((path) => ask(path, 'PURGE')));
    await drained();
    expect(network.calls.flatMap(({ objects }) => objects).sort()).toEqual(
      ['1', '2', '3'].map((n) => `https://www.example.com/${n}`),
    );
    const dead = await proxy.adm('edge.dead');
    expect(dead.stdout).toContain('https://www.example.com/bad');
    network.faults.clear();
    const [id = ''] = dead.stdout.split(' ');
    expect((await proxy.adm('edge.retry', id)).code).toBe(0);
    expect((await reported()).at(-1)).toEqual(['delete url staging', ['https://www.example.com/bad']]);
  });

  it('401: an alarm, and nothing is lost', async () => {
    network.faults.add({ kind: '401' });
    await ask('/a', 'PURGE');
    await until('an alarm', async () =>
      (await proxy.adm('edge.status')).stdout.includes('paused: 401 Not authorized'),
    );
    await ask('/b', 'PURGE');
    expect(network.calls).toEqual([]);
    await proxy.adm('edge.resume');
    await drained();
    expect(network.calls.flatMap(({ objects }) => objects).sort()).toEqual([A, 'https://www.example.com/b']);
  });
});

it('keeps what it has answered for when the worker is killed', async () => {
  await proxy.adm('edge.pause');
  await Promise.all(Array.from({ length: 20 }, (_, i) => ask(`/k${i}`, 'PURGE')));
  const { stdout } = await proxy.adm('pid', '-j');
  const { worker } = (JSON.parse(stdout) as [number, string[], number, { worker: number }])[3];
  process.kill(worker, 'SIGKILL');
  await until(
    'a new worker',
    async () =>
      (await proxy.adm('status')).stdout.includes('running') &&
      !(await proxy.adm('pid')).stdout.includes(String(worker)),
  );
  await drained();
  const objects = network.calls.flatMap(({ objects: all }) => all);
  expect(new Set(objects)).toEqual(
    new Set(Array.from({ length: 20 }, (_, i) => `https://www.example.com/k${i}`)),
  );
});

it('refuses a program where the settings are wrong, and reports where', async () => {
  writeFileSync(`${box.dir}/told.conf`, `${edgeSettings(network)}purge_hots = x\n`, { mode: 0o600 });
  const file = box.path('again.vcl');
  writeFileSync(file, program());
  const answer = await proxy.adm('vcl.load', 'again', file);
  expect(answer.code).not.toBe(0);
  expect(`${answer.stdout}${answer.stderr}`).toMatch(
    /told\.conf:\d+: unknown key "purge_hots"; did you mean purge_host\?/,
  );
});
