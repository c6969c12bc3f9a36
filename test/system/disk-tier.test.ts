// The disk tier: what survives a stop, a killed worker and a killed manager, and what must not: purged, banned, replaced and
// damaged objects. Black box: only dist/ and its commands.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, type Reply, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-disk-tier');
const path = box.path('tier');
let origin: Origin;
let proxy: RunningProxy;
let starts = 0;
/** Increased before each question whether something is fetched again. */
let version = 0;

const start = (): Promise<RunningProxy> =>
  startProxy(box, {
    program: `vcl 4.1;
import xkey;
import std;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_recv {
  if (req.method == "PURGE") { return (purge); }
  if (req.method == "KEY") { return (synth(200, xkey.purge(req.http.key))); }
  if (req.method == "SOFT") { return (synth(200, xkey.softpurge(req.http.key))); }
  if (req.method == "BAN") { if (std.ban(req.http.ban)) { return (synth(200, "Banned")); } return (synth(400, std.ban_error())); }
  if (req.url ~ "^/sliced") { set req.slice = 16KB; }
  if (req.http.force) { set req.hash_always_miss = true; }
}
sub vcl_backend_response {
  if (bereq.url ~ "^/named") { set beresp.storage = storage.s1; }
  set beresp.http.named = beresp.storage;
  set beresp.http.room = storage.s1.free_space > 0B && storage.s1.used_space > 0B && storage.s1.happy;
  if (bereq.url ~ "^/own") { set beresp.uncacheable = true; }
  set beresp.ttl = 1h; set beresp.grace = 1h; set beresp.do_esi = bereq.url ~ "^/page"; set beresp.do_gzip = bereq.url ~ "^/gzip"; }
sub vcl_deliver { set resp.http.hits = obj.hits; }
`,
    storage: ['malloc,16m', `file,${path},64m`],
    dir: box.path(`n${starts++}`),
  });

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', ({ url, head: asked }) => {
    const size = Number(/size=(\d+)/.exec(url)?.[1] ?? 0);
    const vary = url.startsWith('/vary');
    const name = vary ? ` ${/^lang: *(\S*)/im.exec(asked)?.[1]}` : '';
    const head = {
      xkey: `all key${url}`,
      'X-Url': url,
      'Content-Type': 'text/html',
      ...(vary && { Vary: 'Lang' }),
    };
    if (url.startsWith('/sliced')) return sliced(url, asked);
    const body = url.startsWith('/page')
      ? `<i><esi:include src="/part${url}"/></i> v${version}`
      : `${url}${name} v${version} ${'z'.repeat(size)}`;
    return respond('200 OK', head, body);
  });
  proxy = await start();
});
afterAll(async () => {
  await origin.close();
  await box.dispose();
});

/** The names of the slices of an object, each of which is in its slice. */
function slicesOf(url: string): string[] {
  return Array.from({ length: 4 }, (_, i) => `${url} v${version} slice${i} `);
}

function sliced(url: string, asked: string): Reply {
  const whole = Buffer.from(
    slicesOf(url)
      .map((name) => name.padEnd(16 * 1024, 'z'))
      .join(''),
  );
  const fields = { ETag: `"v${version}"`, 'X-Url': url, xkey: `all key${url}` };
  const range = /^range: bytes=(\d+)-(\d+)/im.exec(asked);
  const condition = /^if-range: (\S+)/im.exec(asked)?.[1] ?? fields.ETag;
  if (range === null || condition !== fields.ETag) return respond('200 OK', fields, whole);
  const [from, to] = [Number(range[1]), Math.min(whole.length, Number(range[2]) + 1)];
  const place = { 'Content-Range': `bytes ${from}-${to - 1}/${whole.length}` };
  return respond('206 Partial Content', { ...fields, ...place }, whole.subarray(from, to));
}

async function body(url: string, fields: Record<string, string> = {}, method = 'GET'): Promise<string> {
  const response = await proxy.get(url, { fields, method });
  return response.body.toString('latin1');
}

/** Waits until the disk has the record of an object with these bytes. */
async function onDisk(text: string): Promise<void> {
  await until(
    `${text} on disk`,
    async () => segments().some((file) => readFileSync(file).includes(text)) || null,
  );
}

function segments(): string[] {
  return readdirSync(path).flatMap((name) => (name.startsWith('segment-') ? [join(path, name)] : []));
}

async function fetched(url: string, fields: Record<string, string> = {}): Promise<string> {
  const got = await body(url, fields);
  await onDisk(got.trim());
  version++;
  return got;
}

async function stopAndStart(): Promise<void> {
  await proxy.stop();
  proxy = await start();
}

async function killAll(): Promise<void> {
  const worker = proxy.workerPid();
  process.kill(proxy.pid, 'SIGKILL');
  if (worker !== null) process.kill(worker, 'SIGKILL');
  await proxy.daemon.exit(30_000);
  proxy = await start();
}

describe('objects survive', () => {
  it.each([
    ['a stop', stopAndStart],
    ['a killed worker', () => proxy.killWorker()],
    ['kills of worker and manager', killAll],
  ])('%s', async (_, end) => {
    const at = version;
    const plain = await fetched(`/plain${at}`);
    const large = await fetched(`/large${at}?size=300000`);
    const german = await fetched(`/vary${at}`, { Lang: 'de' });
    const french = await fetched(`/vary${at}`, { Lang: 'fr' });
    const page = await body(`/page${at}`);
    await onDisk(`/part/page${at} v`);
    await onDisk(`<esi:include src="/part/page${at}"/></i> v`);
    const packed = await body(`/gzip${at}?size=5000`, { 'Accept-Encoding': 'identity' });
    await onDisk(`X-Url: /gzip${at}`);
    const slices = await body(`/sliced${at}`);
    for (const name of slicesOf(`/sliced${at}`)) await onDisk(name);
    version++;
    await end();
    // Of the origin's version not one slice.
    expect(await body(`/sliced${at}`)).toBe(slices);
    await proxy.get('/', { method: 'KEY', fields: { key: `key/sliced${at}` } });
    const range = await proxy.get(`/sliced${at}`, { fields: { Range: 'bytes=20000-40000' } });
    expect(range.body.includes(`v${version} slice2`)).toBe(true);
    const [, second] = slicesOf(`/sliced${at}`) as [string, string];
    expect(await body(`/sliced${at}`)).toContain(second);
    expect(await body(`/plain${at}`)).toBe(plain);
    expect(await body(`/large${at}?size=300000`)).toBe(large);
    expect(await body(`/vary${at}`, { Lang: 'fr' })).toBe(french);
    expect(await body(`/vary${at}`, { Lang: 'de' })).toBe(german);
    expect(await body(`/vary${at}`, { Lang: 'it' })).toContain(`v${version}`);
    expect(await body(`/page${at}`)).toBe(page);
    expect(await body(`/gzip${at}?size=5000`, { 'Accept-Encoding': 'identity' })).toBe(packed);
    const again = await proxy.get(`/plain${at}`);
    expect(Number(field(again, 'hits'))).toBeGreaterThan(0);
  });

  it('that say that an answer is for one client', async () => {
    await body('/own');
    await onDisk('X-Url: /own');
    await killAll();
    expect(await body('/own')).toBe(`/own v${version} `);
    expect(await proxy.log('-q', 'ReqURL eq "/own"')).toContain('HitMiss');
  });

  it('memory is too small for', async () => {
    const first = await fetched('/early?size=1000000');
    for (let i = 0; i < 20; i++) await fetched(`/fill${i}?size=1000000`);
    await proxy.counterReaches('MAIN.n_lru_nuked', 1);
    expect(await body('/early?size=1000000')).toBe(first);
  });
});

describe('does not come back after kills', () => {
  it('what was purged, banned or replaced', async () => {
    const urls = ['/purged', '/keyed', '/banned', '/told', '/replaced'] as const;
    for (const url of urls) await fetched(url);
    const kept = await fetched('/kept');
    await body('/purged', {}, 'PURGE');
    await body('/x', { key: 'key/keyed' }, 'KEY');
    await body('/x', { ban: 'obj.http.X-Url == /banned' }, 'BAN');
    expect((await proxy.adm('ban', 'req.url', '==', '/told')).code).toBe(0);
    const replacing = await fetched('/replaced', { force: '1' });
    await killAll();
    for (const url of urls.slice(0, 4)) expect(await body(url)).toBe(`${url} v${version} `);
    expect(await body('/replaced')).toBe(replacing);
    expect(await body('/kept')).toBe(kept);
  });

  it('the ttl of what was softly purged: it is stale, with its grace', async () => {
    const old = await fetched('/soft');
    await body('/x', { key: 'key/soft' }, 'SOFT');
    await killAll();
    expect(await body('/soft')).toBe(old);
    await until('the refresh', async () => (await body('/soft')) === `/soft v${version} `);
  });

  it('what was purged while another worker served, nor what was damaged', async () => {
    await fetched('/flip?size=200000');
    const kept = await fetched('/kept2');
    await proxy.stop();
    for (const file of segments()) {
      const bytes = readFileSync(file);
      const at = bytes.indexOf('/flip?size=200000 v');
      if (at < 0) continue;
      bytes[at + 150_000] = (bytes[at + 150_000] as number) ^ 1;
      writeFileSync(file, bytes);
    }
    proxy = await start();
    expect(await body('/flip?size=200000')).toContain(`v${version} `);
    expect(await body('/kept2')).toBe(kept);
    await body('/kept2', {}, 'PURGE');
    version++;
    await proxy.killWorker();
    expect(await body('/kept2')).toBe(`/kept2 v${version} `);
  });
});

describe('the operator', () => {
  it('lists each storage with the tier behind it, and its counters', async () => {
    expect((await proxy.adm('storage.list')).stdout).toContain('storage.s1 = disk (behind s0)\n');
    const json = JSON.parse((await proxy.adm('storage.list', '-j')).stdout);
    expect(json.at(-1)).toEqual({ name: 's1', storage: 'disk', behind: ['s0'] });
    await fetched('/counted');
    await proxy.counterReaches('SMD.s1.c_write', 1);
    await proxy.counterReaches('SMD.s1.g_objects', 1);
    await stopAndStart();
    await body('/counted');
    await proxy.counterReaches('SMD.s1.c_promote', 1);
  });

  it('may name it in a program: the object is in memory and on disk', async () => {
    const first = await proxy.get('/named');
    expect([field(first, 'named'), field(first, 'room')]).toEqual(['storage.s1', 'true']);
    await onDisk('/named v');
  });

  it('checks it, and empties it', async () => {
    const whole = await proxy.adm('storage.check', 's1');
    expect(whole.stdout).toMatch(/^[1-9]\d* objects, \d+ bytes: all as they were written\.$/m);
    expect((await proxy.adm('storage.check', 's0')).stdout).toContain('There is no storage s0 on disk.');
    const kept = await fetched('/dropped');
    expect((await proxy.adm('storage.drop', 's1')).code).toBe(0);
    expect(segments()).toEqual([]);
    expect(await body('/dropped')).toBe(kept);
    await killAll();
    expect(await body('/dropped')).toBe(`/dropped v${version} `);
  });

  it('reads that files of another version were removed, and that a copy of the directory in use is not taken', async () => {
    const events = async (): Promise<string> => (await proxy.adm('event.list')).stdout;
    const first = await fetched('/newer');
    await proxy.stop();
    for (const file of segments()) {
      const bytes = readFileSync(file);
      bytes.writeUInt32LE(bytes.readUInt32LE(8) + 1, 8);
      bytes.writeUInt32LE(crc32(bytes.subarray(8, 64)), 4);
      writeFileSync(file, bytes);
    }
    proxy = await start();
    expect(await events()).toMatch(/Storage s1: [1-9]\d* files of another version of proxyd were removed/);
    const second = await fetched('/newer');
    expect(second).not.toBe(first);
    // As after a kill, with purges since the copy that are in the original alone.
    execFileSync('cp', ['-a', path, `${path}.copy`]);
    await proxy.stop();
    renameSync(path, `${path}.original`);
    renameSync(`${path}.copy`, path);
    proxy = await start();
    expect(await events()).toContain('Storage s1 begins empty: copied while in use');
    expect(await body('/newer')).not.toBe(second);
  });
});
