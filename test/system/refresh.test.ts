// vcl_backend_refresh in a running daemon: what each decision about a 304 makes of the object, and what becomes of a
// revalidation whose stale object is purged or banned meanwhile.
// Source: Varnish 8.0 and 9.0, vcl_step.rst, vcl_var.rst, vcl-built-in-code.rst and changes-9.0.rst. Black box.
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, type Response } from '../harness/http-client.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-refresh');
/** Requests for each path, as the conditions that they came with. */
const asked = new Map<string, string[]>();
/** Answers for paths below /held/ from the second on, which wait for the test. */
const held = new Map<string, () => void>();
const origin = createServer((request: IncomingMessage, response: ServerResponse) => {
  const { url = '', headers } = request;
  const conditions = [headers['if-none-match'], headers['if-modified-since']].join('|');
  const seen = [...(asked.get(url) ?? []), conditions];
  asked.set(url, seen);
  const send = (): void => answer(url, seen, response);
  if (url.startsWith('/held/') && seen.length === 2) held.set(url, send);
  else send();
});

const MODIFIED = 'Tue, 10 Nov 2026 10:00:00 GMT';

function answer(url: string, seen: string[], response: ServerResponse): void {
  response.setHeader('Cache-Control', 'max-age=60');
  response.setHeader('X-Both', `n${seen.length}`);
  const isConfirmed = seen.length > 1 && (seen.at(-1) !== '|' || url.includes('unasked'));
  if (isConfirmed) {
    response.writeHead(304, { 'X-New': 'new', ETag: '"new"', 'Content-Encoding': 'odd' });
    response.end();
    return;
  }
  response.writeHead(url.includes('gone') ? 404 : 200, {
    ...(url.includes('bare') ? {} : { ETag: '"old"', 'Last-Modified': MODIFIED }),
    ...{ 'X-Old': 'old', 'Content-Language': 'de', xkey: 'all' },
  });
  response.end(`body ${seen.length}`);
}

await new Promise<void>((listening) => origin.listen(0, '127.0.0.1', listening));
const { port } = origin.address() as AddressInfo;
const BACKEND = `vcl 4.1; backend d { .host = "127.0.0.1"; .port = "${port}"; }`;

/** Objects are stale at once, and kept. */
const KEPT = `sub vcl_backend_response {
  set beresp.http.Was = beresp.was_304;
  if (bereq.url !~ "/lives") { set beresp.ttl = 0.001s * 0.001; } else { set beresp.http.Ttl = beresp.ttl; }
  set beresp.grace = 0s; set beresp.keep = 1h;
  return (deliver);
}`;

const PROGRAM = `${BACKEND} import std; import xkey;
sub vcl_recv {
  if (req.method == "PURGE") { return (purge); }
  if (req.method == "XKEY") { set req.http.n = xkey.purge("all"); return (synth(200)); }
  if (req.method == "SOFT") { set req.http.n = xkey.softpurge("all"); return (synth(200)); }
}
sub vcl_backend_fetch {
  if (bereq.url ~ "/unasked" && bereq.http.If-None-Match) { unset bereq.http.If-None-Match; unset bereq.http.If-Modified-Since; }
  if (bereq.url ~ "/gone") { set bereq.http.If-None-Match = {""old""}; }
}
sub vcl_backend_refresh {
  if (bereq.url ~ "/decides") {
    set beresp.http.Program = obj_stale.status + " " + obj_stale.http.X-Old + " " + obj_stale.is_valid + " " + beresp.status
      + " " + obj_stale.hits + " " + obj_stale.uncacheable + " " + obj_stale.can_esi + " " + obj_stale.storage
      + " " + obj_stale.proto + " " + obj_stale.reason + " " + obj_stale.keep + " " + obj_stale.grace + " " + beresp.was_304;
    if (obj_stale.ttl < 0s && obj_stale.age >= 0s && obj_stale.time <= now) { set beresp.http.Past = "true"; }
    unset beresp.http.X-Both;
  }
  if (bereq.url ~ "/lives") { set beresp.ttl = 1000s; }
  if (bereq.url ~ "/merge$") { return (merge); }
  if (bereq.url ~ "/obj_stale$") { return (obj_stale); }
  if (bereq.url ~ "/beresp$") { return (beresp); }
  if (bereq.url ~ "/made$") { set beresp.status = 203; set beresp.http.ETag = {""made""}; return (beresp); }
  if (bereq.url ~ "/error$") { return (error(507, "No refresh")); }
  if (bereq.url ~ "/fail$") { return (fail("not this one")); }
  if (bereq.url ~ "/abandon$") { return (abandon); }
  if (bereq.url ~ "/retry$") {
    if (bereq.retries == 0) { unset bereq.http.If-None-Match; unset bereq.http.If-Modified-Since; return (retry); }
  }
  if (bereq.url ~ "/rfc_ttl$") { set beresp.http.Cache-Control = "max-age=777"; std.rfc_ttl(); }
}
sub vcl_refresh_valid { if (bereq.url ~ "/ignores") { return; } if (bereq.url ~ "/again" && !obj_stale.is_valid) { return (retry); } }
sub vcl_refresh_status { if (bereq.url ~ "/gone/allowed") { return; } }
sub vcl_backend_error { if (bereq.url ~ "/second" && bereq.retries == 0) { return (retry); } }
${KEPT}`;

let proxy: RunningProxy;
beforeAll(async () => {
  proxy = await startProxy(box, {
    program: PROGRAM,
    params: { varnish_release: '9.0', worker_threads: '2', ban_lurker_age: '0', ban_lurker_sleep: '0.01' },
  });
});
afterAll(async () => {
  origin.close();
  origin.closeAllConnections();
  await box.dispose();
});

/** The answer to the second request for a path, whose object has gone stale by then. */
async function revalidated(path: string): Promise<Response> {
  expect((await proxy.get(path)).body.toString()).toBe('body 1');
  return proxy.get(path);
}

/** The same, with what happens while the origin has the second request. */
async function meanwhile(path: string, happens: () => Promise<unknown>): Promise<Response> {
  expect((await proxy.get(path)).body.toString()).toBe('body 1');
  const second = proxy.get(path);
  await until('the second request', () => held.has(path) || null);
  await happens();
  held.get(path)?.();
  return second;
}

const fields = (response: Response, ...names: string[]): (string | undefined)[] =>
  names.map((name) => field(response, name));
const FIELDS = ['x-old', 'x-new', 'x-both', 'etag', 'last-modified', 'content-language', 'content-encoding'];

describe('the headers after a 304', () => {
  it('are those of both with return (merge), which is the default', async () => {
    for (const path of ['/merge', '/default']) {
      const response = await revalidated(path);
      expect([response.status, response.body.toString()]).toEqual([200, 'body 1']);
      expect(fields(response, ...FIELDS)).toEqual(['old', 'new', 'n2', '"new"', MODIFIED, 'de', undefined]);
      expect(fields(response, 'was', 'content-length')).toEqual(['true', '6']);
    }
  });

  it('are those of the stale object with return (obj_stale)', async () => {
    const response = await revalidated('/obj_stale');
    expect([response.status, response.body.toString()]).toEqual([200, 'body 1']);
    expect(fields(response, ...FIELDS)).toEqual(['old', undefined, 'n1', '"old"', MODIFIED, 'de', undefined]);
    expect(fields(response, 'was', 'content-length')).toEqual(['true', '6']);
  });

  it('are those of beresp with return (beresp), but for length, encoding and validators', async () => {
    const response = await revalidated('/beresp');
    expect([response.status, response.body.toString()]).toEqual([200, 'body 1']);
    expect(fields(response, ...FIELDS)).toEqual([
      ...[undefined, 'new', 'n2', '"old"', MODIFIED, undefined, undefined],
    ]);
    expect(fields(response, 'was', 'content-length')).toEqual(['true', '6']);
  });

  it('have the status and what else the program has set; validators are the stale object’s, if it has any', async () => {
    const made = await revalidated('/made');
    expect([made.status, made.body.toString(), field(made, 'etag')]).toEqual([203, 'body 1', '"old"']);
    // Asked for again by the validators that were kept.
    await proxy.get('/made');
    expect(asked.get('/made')).toEqual(['|', `"old"|${MODIFIED}`, '|']);
  });

  it('are in the log, between the two states', async () => {
    await revalidated('/logged/obj_stale');
    const log = await proxy.logged('BerespHeader', '-g', 'request', '-q', 'BereqURL eq "/logged/obj_stale"');
    const second = log.slice(log.lastIndexOf('VCL_call       BACKEND_FETCH'));
    expect(second).toMatch(
      /TTL +RFC 60 [\s\S]*VCL_call +BACKEND_REFRESH\n.*VCL_return +obj_stale\n[\s\S]*BerespUnset +X-New: new\n[\s\S]*BerespStatus +200\n[\s\S]*BerespHeader +X-Old: old\n[\s\S]*VCL_call +BACKEND_RESPONSE\n/i,
    );
  });
});

describe('the program in vcl_backend_refresh', () => {
  it('sees the stale object and the 304, and may change the latter', async () => {
    const response = await revalidated('/decides/merge');
    expect(field(response, 'program')).toBe(
      '200 old true 304 0 false false storage.s0 HTTP/1.1 OK 3600.000 0.000 false',
    );
    // A header that it has unset there is the stale object's again.
    expect(fields(response, 'past', 'x-both')).toEqual(['true', 'n1']);
  });

  it('sets lifetimes that stay', async () => {
    const path = '/lives';
    expect((await proxy.get(path)).status).toBe(200);
    await proxy.adm('ban', 'obj.http.x-none', '==', 'none');
    await proxy.get('/soft', { method: 'SOFT' });
    const response = await proxy.get(path);
    expect(fields(response, 'was', 'ttl')).toEqual(['true', '1000.000']);
  });

  it('may have them calculated again', async () => {
    await revalidated('/rfc_ttl');
    const log = await proxy.logged('max-age=777', '-g', 'request', '-q', 'BereqURL eq "/rfc_ttl"');
    expect(log).toMatch(/VCL_call +BACKEND_REFRESH\n[\s\S]*TTL +RFC 777 [\s\S]*VCL_return +merge/);
  });

  it('ends the fetch with an error of its own', async () => {
    const response = await revalidated('/error');
    expect([response.status, response.reason]).toEqual([507, 'No refresh']);
  });

  it('fails it, or gives it up', async () => {
    for (const path of ['/fail', '/abandon']) expect((await revalidated(path)).status).toBe(503);
    const log = await proxy.logged('not this one', '-g', 'request', '-q', 'VCL_Error');
    expect(log).toMatch(/VCL_call +BACKEND_REFRESH\n[\s\S]*VCL_Error +not this one/);
  });

  it('has it tried again, over the same connection', async () => {
    const response = await revalidated('/retry');
    expect([response.status, response.body.toString()]).toEqual([200, 'body 3']);
    expect(asked.get('/retry')).toEqual(['|', `"old"|${MODIFIED}`, '|']);
  });
});

describe('the builtin program', () => {
  it('refuses a 304 that nobody asked for', async () => {
    const response = await revalidated('/unasked');
    expect([response.status, response.reason]).toEqual([503, 'Unexpected 304']);
  });

  it('refuses a 304 about an object that is no 200, unless the program lets it be', async () => {
    const response = await revalidated('/gone');
    expect([response.status, response.reason]).toEqual([503, 'Invalid object for refresh (status)']);
    const allowed = await revalidated('/gone/allowed');
    expect([allowed.status, field(allowed, 'x-new'), allowed.body.toString()]).toEqual([
      404,
      'new',
      'body 1',
    ]);
  });
});

const WAYS: [string, (path: string) => Promise<unknown>][] = [
  ['purged', (path) => proxy.get(path, { method: 'PURGE' })],
  ['purged by its key', (path) => proxy.get(path, { method: 'XKEY' })],
  ['banned by its header', () => proxy.adm('ban', 'obj.http.x-old', '==', 'old')],
  ['banned by its URL', (path) => proxy.adm('ban', 'req.url', '==', path)],
  [
    'banned, and the lurker was there,',
    async () => {
      const before = (await proxy.counters())['MAIN.bans_lurker_obj_killed'] as number;
      await proxy.adm('ban', 'obj.http.x-old', '~', 'old');
      await proxy.counterReaches('MAIN.bans_lurker_obj_killed', before + 1);
    },
  ],
];

describe.each(WAYS)('an object that is %s while its origin is asked', (way, invalidate) => {
  const name = way.replace(/\W/g, '-');

  it('is not brought back: the fetch fails', async () => {
    const path = `/held/${name}`;
    const response = await meanwhile(path, () => invalidate(path));
    expect([response.status, response.reason]).toEqual([503, 'Invalid object for refresh']);
  });

  it('is fetched as a whole, where vcl_backend_error or vcl_refresh_valid tries again', async () => {
    for (const how of ['second', 'again']) {
      const path = `/held/${how}/${name}`;
      const response = await meanwhile(path, () => invalidate(path));
      expect([response.status, response.body.toString()]).toEqual([200, 'body 3']);
      expect(asked.get(path)).toEqual(['|', `"old"|${MODIFIED}`, '|']);
    }
  });

  it('is taken all the same, where the program does not care', async () => {
    const path = `/held/ignores/${name}`;
    const response = await meanwhile(path, () => invalidate(path));
    expect([response.status, response.body.toString()]).toEqual([200, 'body 1']);
  });
});

describe('an object that only goes stale while its origin is asked', () => {
  it('is valid: after a soft purge, and after a ban of others', async () => {
    const path = '/held/soft';
    const response = await meanwhile(path, async () => {
      await proxy.get(path, { method: 'SOFT' });
      await proxy.adm('ban', 'req.url', '==', '/other');
    });
    expect([response.status, response.body.toString(), field(response, 'was')]).toEqual([
      200,
      'body 1',
      'true',
    ]);
  });
});

describe('with varnish_release=7.1', () => {
  it('core merges a 304, without the state, also that of a banned object', async () => {
    const file = box.path('plain.vcl');
    writeFileSync(file, `${BACKEND}\n${KEPT}`);
    await proxy.adm('param.set', 'varnish_release', '7.1');
    const loaded = await proxy.adm('vcl.load', 'plain', file);
    expect(loaded.code).toBe(0);
    await proxy.adm('vcl.use', 'plain');
    const path = '/held/plain';
    const response = await meanwhile(path, () => proxy.adm('ban', 'req.url', '==', path));
    expect([response.status, response.body.toString(), field(response, 'x-new')]).toEqual([
      200,
      'body 1',
      'new',
    ]);
    const log = await proxy.logged(/BereqURL +\/held\/plain/, '-g', 'request', '-q', `BereqURL eq "${path}"`);
    expect(log).not.toContain('BACKEND_REFRESH');
  });
});
