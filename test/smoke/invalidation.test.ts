// Purges, bans and surrogate keys: matching objects are gone at once, and nothing else is.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-smoke-invalidation');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', ({ url }, n) =>
    respond(
      '200 OK',
      { Vary: 'X-Variant', xkey: `all page${url}`, 'X-Url': url, 'X-Size': `${url.length}` },
      `v${n}`,
    ),
  );
  proxy = await startProxy(box, {
    program: `vcl 4.1;
import xkey;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
acl invalidators { "127.0.0.1"; }
acl nobody { "192.0.2.1"; }
sub vcl_recv {
  if (req.http.stranger && client.ip !~ nobody && req.method == "PURGE") { return (synth(405)); }
  if (req.method == "KEY") { return (synth(200, xkey.purge(req.http.key))); }
  if (req.method == "SOFTKEY") { return (synth(200, xkey.softpurge(req.http.key))); }
}
include "invalidate.vcl";
sub vcl_backend_response { set beresp.ttl = 1h; set beresp.grace = 1h; }
`,
    params: { ban_lurker_sleep: '0' },
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const body = async (path: string, fields: Record<string, string> = {}): Promise<string> =>
  (await proxy.get(path, { fields })).body.toString();
const bodies = async (...paths: string[]): Promise<string> =>
  (await Promise.all(paths.map((path) => body(path)))).join(' ');

describe('a purge', () => {
  it('takes all variants of a URL and nothing else, and reports how many', async () => {
    await body('/a', { 'X-Variant': '1' });
    await body('/a', { 'X-Variant': '2' });
    await body('/b');
    const purged = await proxy.get('/a', { method: 'PURGE' });
    expect([purged.status, field(purged, 'x-invalidated')]).toEqual([200, '2']);
    expect(await body('/a', { 'X-Variant': '1' })).toBe('v3');
    expect(await body('/a', { 'X-Variant': '2' })).toBe('v4');
    expect(await body('/b')).toBe('v1');
  });

  it('is refused to clients that the program does not allow', async () => {
    await body('/mine');
    expect((await proxy.get('/mine', { method: 'PURGE', fields: { stranger: '1' } })).status).toBe(405);
    expect(await body('/mine')).toBe('v1');
  });

  it('that is soft leaves the object to be served while the next one is fetched', async () => {
    await body('/soft');
    expect((await proxy.get('/soft', { method: 'SOFTPURGE' })).status).toBe(200);
    expect(await body('/soft')).toBe('v1');
    await until('the next one', async () => (await body('/soft')) === 'v2');
  });
});

describe('a ban', () => {
  it('takes what its expression matches', async () => {
    expect(await bodies('/ban/a', '/ban/b', '/ban/longer')).toBe('v1 v1 v1');
    expect(await proxy.adm('ban', 'obj.http.X-Url', '==', '/ban/a')).toMatchObject({ code: 0 });
    expect(await bodies('/ban/a', '/ban/b', '/ban/longer')).toBe('v2 v1 v1');
    await proxy.adm('ban', 'req.url', '~', '^/ban/', '&&', 'obj.http.X-Url', '!=', '/ban/b');
    expect(await bodies('/ban/a', '/ban/b', '/ban/longer')).toBe('v3 v1 v2');
    await proxy.adm('ban', 'obj.http.X-Url', '!~', '^/(?!ban/b$)');
    expect(await bodies('/ban/a', '/ban/b', '/ban/longer')).toBe('v3 v2 v2');
    await proxy.adm('ban', 'req.url', '~', '^/ban/', '&&', 'obj.age', '<', '1h');
    expect(await bodies('/ban/a', '/ban/b')).toBe('v4 v3');
    await proxy.adm('ban', 'req.url', '~', '^/ban/', '&&', 'obj.age', '>', '1h');
    expect(await bodies('/ban/a', '/ban/b')).toBe('v4 v3');
  });

  it('is listed until no object needs it, and refused where it means nothing', async () => {
    await proxy.adm('ban', 'obj.http.X-Url', '==', '/none');
    expect((await proxy.adm('ban.list')).stdout).toMatch(
      /^1\d{9}\.\d{6} +\d+ . {2}obj\.http\.X-Url == \/none$/m,
    );
    const refused = await proxy.adm('ban', 'req.nope', '==', '1');
    expect([refused.code, refused.stderr]).toEqual([1, 'Command failed with error code 106\n']);
    expect(refused.stdout).toContain('req.nope');
  });
});

describe('a surrogate key', () => {
  it('takes each object that has it, and reports how many', async () => {
    expect(await bodies('/k/1', '/k/2', '/k/3')).toBe('v1 v1 v1');
    const one = await proxy.get('/', { method: 'KEY', fields: { key: 'page/k/1' } });
    expect([one.status, one.reason]).toEqual([200, '1']);
    expect(await bodies('/k/1', '/k/2', '/k/3')).toBe('v2 v1 v1');
    const all = await proxy.get('/', { method: 'KEY', fields: { key: 'all' } });
    expect(Number(all.reason)).toBeGreaterThanOrEqual(3);
    expect(await bodies('/k/1', '/k/2', '/k/3')).toBe('v3 v2 v2');
    const soft = await proxy.get('/', { method: 'SOFTKEY', fields: { key: 'page/k/1 page/k/2' } });
    expect(soft.reason).toBe('2');
    expect(await body('/k/1')).toBe('v3');
    await until('the next one', async () => (await body('/k/1')) === 'v4');
  });
});
