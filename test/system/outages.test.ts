// Cached objects outlive an origin that answers with errors: after forced misses, in grace, whatever the program does
// with the error unless it stores it. Black box: only dist/ and its commands.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-outages');
let origin: Origin;
/** Statuses of the origin by URL; 200 where there is none. */
const statuses = new Map<string, number>();
let answers = 0;

const PROGRAM = (): string => `vcl 4.1;
import purge;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
acl invalidators { "127.0.0.1"; }
include "invalidate.vcl";
sub vcl_recv {
  if (req.url ~ "^/refresh/passed") { return (pass); }
  if (req.http.x-force) { set req.hash_always_miss = true; }
  if (req.http.x-force == "all") { set req.hash_ignore_vary = true; }
  if (req.http.x-ttl) { set req.ttl = 0.001s; }
}
sub vcl_hit { if (req.http.x-soft) { purge.soft(0s, 1h, 1h); } }
sub vcl_backend_fetch { if (bereq.url ~ "^/error" && bereq.http.x-force) { return (error(503)); } }
sub vcl_backend_response {
  if (beresp.http.x-private) { set beresp.uncacheable = true; set beresp.ttl = 30s; return (deliver); }
  if (beresp.status < 500) { set beresp.ttl = 1h; set beresp.grace = 1h; return (deliver); }
  if (bereq.url ~ "^/uncacheable") { set beresp.uncacheable = true; set beresp.ttl = 30s; return (deliver); }
  if (bereq.url ~ "^/nothing") { set beresp.ttl = 0s; set beresp.grace = 0s; return (deliver); }
  if (bereq.url ~ "^/pass") { return (pass(30s)); }
  if (bereq.url ~ "^/abandon") { return (abandon); }
  if (bereq.url ~ "^/kept") { set beresp.ttl = 30s; return (deliver); }
  if (bereq.url ~ "^/whole") { set beresp.do_stream = false; }
}
sub vcl_backend_error {
  if (bereq.url ~ "^/error/marker") { set beresp.status = 200; set beresp.ttl = 30s; set beresp.uncacheable = true; }
  if (bereq.url ~ "^/error/kept") { set beresp.ttl = 30s; }
}
`;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', ({ url }) => {
    const status = statuses.get(url) ?? 200;
    const fields = status === 200 ? { Vary: 'X-Variant', ETag: '"1"' } : {};
    return respond(`${status} Answer`, fields, `${++answers} ${status}`);
  });
});
afterAll(async () => {
  await origin.close();
  await box.dispose();
});

describe.each([1, 2])('with %d threads', (threads) => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    statuses.clear();
    proxy = await startProxy(box, { program: PROGRAM(), params: { worker_threads: String(threads) } });
  });
  const ask = (url: string, fields: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    proxy.get(url, { method, fields });
  const body = async (url: string, fields: Record<string, string> = {}): Promise<string> =>
    (await ask(url, fields)).body.toString();
  /** Whether what was there serves from all threads. */
  const serves = async (url: string, text: string, fields: Record<string, string> = {}): Promise<void> => {
    for (let i = 0; i < 3 * threads; i++) expect(await body(url, fields)).toBe(text);
  };

  it.each([
    ['what the builtin program makes of it', '/builtin', 500],
    ['another status', '/status', 503],
    ['one that is not streamed', '/whole', 502],
    ['one that the program does not cache', '/uncacheable', 500],
    ['one without a life', '/nothing', 500],
    ['one that the program wants to be passed', '/pass', 500],
    ['one that it abandons', '/abandon', 500],
    ['an error made here', '/error/plain', 503],
    ['an error made here that is not to be cached', '/error/marker', 200],
  ])('a forced miss leaves it: %s', async (_what, url, status) => {
    const good = await body(url);
    statuses.set(url, 500);
    for (const force of ['1', 'all']) {
      const failed = await ask(url, { 'x-force': force });
      expect(failed.status).toBe(url === '/builtin' ? status : failed.status);
      expect(failed.body.toString()).not.toBe(good);
      await serves(url, good);
    }
    statuses.delete(url);
    if (url.startsWith('/error')) return;
    const fresh = await body(url, { 'x-force': '1' });
    expect(fresh).not.toBe(good);
    await serves(url, fresh);
  });

  it('a forced miss that brings an error which the program keeps replaces it', async () => {
    for (const url of ['/kept', '/error/kept']) {
      const good = await body(url);
      statuses.set(url, 500);
      const bad = await body(url, { 'x-force': '1' });
      expect(bad).not.toBe(good);
      await serves(url, bad);
    }
  });

  it('the other variants stay, too, and what is not there is fetched by each', async () => {
    const url = '/variants';
    const good = await body(url, { 'X-Variant': 'a' });
    const other = await body(url, { 'X-Variant': 'b' });
    statuses.set(url, 500);
    expect((await ask(url, { 'X-Variant': 'a', 'x-force': '1' })).status).toBe(500);
    await serves(url, good, { 'X-Variant': 'a' });
    await serves(url, other, { 'X-Variant': 'b' });
    const misses = await Promise.all([1, 2, 3].map(() => ask(url, { 'X-Variant': 'c' })));
    expect(misses.map(({ status }) => status)).toEqual([500, 500, 500]);
    expect(new Set(misses.map((miss) => miss.body.toString())).size).toBe(3);
    expect(field(await ask(url, {}, 'PURGE'), 'x-invalidated')).toBe('3');
  });

  it('a stale one serves on while its grace lasts', async () => {
    const url = '/stale';
    const good = await body(url);
    expect(await body(url, { 'x-soft': '1' })).toBe(good);
    statuses.set(url, 503);
    for (let i = 0; i < 5; i++) {
      const asked = origin.seen(url).length;
      // The one before may not have ended when the next client comes.
      await until('a refresh in the background', async () => {
        await serves(url, good);
        return origin.seen(url).length > asked;
      });
    }
    statuses.delete(url);
    await until('the new one', async () => (await body(url)) !== good);
  });

  it('one that is too old for one client stays for the others', async () => {
    const url = '/young';
    const good = await body(url);
    statuses.set(url, 503);
    // It is a millisecond old sooner or later.
    const asked = async (): Promise<true | null> =>
      (await ask(url, { 'x-ttl': '1' })).status === 503 ? true : null;
    await until('a fetch', asked);
    await serves(url, good);
  });

  describe('REFRESH', () => {
    const both = async (url: string): Promise<string[]> => [
      await body(url, { 'X-Variant': 'a' }),
      await body(url, { 'X-Variant': 'b' }),
    ];
    const refresh = (url: string): Promise<Response> => ask(url, { 'X-Variant': 'a' }, 'REFRESH');

    it.each([500, 503])('leaves what was there when the origin answers %d', async (status) => {
      const url = `/refresh/${status}`;
      const before = await both(url);
      statuses.set(url, status);
      expect((await refresh(url)).status).toBe(status);
      for (let i = 0; i < threads; i++) expect(await both(url)).toEqual(before);
    });

    it('replaces all variants with an error that the program keeps', async () => {
      const url = '/kept/refresh';
      await both(url);
      statuses.set(url, 500);
      const bad = (await refresh(url)).body.toString();
      expect(await both(url)).toEqual([bad, bad]);
    });

    it('replaces all variants, and the answer comes after that', async () => {
      const url = '/refresh/all';
      const before = await both(url);
      const fresh = (await refresh(url)).body.toString();
      const after = await both(url);
      expect(after[0]).toBe(fresh);
      expect(before).not.toContain(after[1]);
      expect(field(await ask(url, {}, 'PURGE'), 'x-invalidated')).toBe('2');
      expect(origin.seen(url)[2]?.head).not.toMatch(/^x-invalidated/im);
    });

    it('takes all of it when the answer is nobody else’s, and when the program passes it', async () => {
      const url = '/refresh/private';
      const before = await both(url);
      origin.on(url, () => respond('200 OK', { 'X-Private': 'yes' }, `${++answers}`));
      expect((await refresh(url)).status).toBe(200);
      for (const after of await both(url)) expect(before).not.toContain(after);
      expect((await refresh('/refresh/passed')).status).toBe(200);
      await proxy.logged(/Notice +purge\.others: 0$/m, '-g', 'vxid', '-q', 'ReqURL eq "/refresh/passed"');
    });

    it('leaves it when the answer breaks off, and serves it until the new one is whole', async () => {
      const url = '/refresh/broken';
      const before = await both(url);
      const head = 'HTTP/1.1 200 OK\r\nVary: X-Variant\r\nContent-Length: 10\r\n\r\n';
      origin.on(url, () => [{ send: `${head}half` }, { reset: true }]);
      expect((await refresh(url)).status).toBe(503);
      expect(await both(url)).toEqual(before);
      let release: () => void = () => undefined;
      const hold = new Promise<void>((resolve) => {
        release = resolve;
      });
      origin.on(url, () => [{ send: `${head}half-` }, { hold }, { send: 'whole' }]);
      const asked = origin.seen(url).length;
      const refreshed = refresh(url);
      await until('its request', () => origin.seen(url).length > asked);
      // The other variant, which the fetch under way cannot hide.
      expect(await body(url, { 'X-Variant': 'b' })).toBe(before[1]);
      release();
      expect((await refreshed).body.toString()).toBe('half-whole');
      origin.on(url, () => respond('200 OK', { Vary: 'X-Variant' }, 'next'));
      expect(await both(url)).toEqual(['half-whole', 'next']);
    });

    it('cuts off fetches under way, which may bring what is older', async () => {
      const url = `/refresh/older/${threads}`;
      let release: () => void = () => undefined;
      const hold = new Promise<void>((resolve) => {
        release = resolve;
      });
      origin.on(url, (_request, n) =>
        n === 1 ? [{ hold }, ...respond('200 OK', {}, 'old')] : respond('200 OK', {}, 'new'),
      );
      const asked = origin.seen(url).length;
      const older = body(url);
      await until('its request', () => origin.seen(url).length > asked);
      expect((await ask(url, {}, 'REFRESH')).body.toString()).toBe('new');
      release();
      expect(await older).toBe('old');
      await serves(url, 'new');
    });
  });
});
