// Hit, miss, pass and pipe through one running daemon: requests to the origin, their number, and each side's view.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-smoke-traffic');
const FRESH = { 'Cache-Control': 'max-age=100' };
let origin: Origin;
let proxy: RunningProxy;

/** A promise and what settles it. */
function gate(): { hold: Promise<void>; open: () => void } {
  let open = (): void => {};
  const hold = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { hold, open };
}

const probes = { gate: gate(), status: '200 OK' };

beforeAll(async () => {
  origin = await Origin.start();
  // A probe ends with its connection.
  origin.on('/probe', () => [{ hold: probes.gate.hold }, ...respond(probes.status), { close: true }]);
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `
backend probed { .host = "127.0.0.1"; .port = "${origin.port}"; .probe = {
  .url = "/probe"; .interval = 100ms; .timeout = 60s; .window = 4; .threshold = 3; .initial = 2; } }
backend down { .host = "127.0.0.1"; .port = "1"; }
sub vcl_recv {
  if (req.url == "/probed") { set req.backend_hint = probed; }
  if (req.url == "/down") { set req.backend_hint = down; }
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/tube") { return (pipe); }
  if (req.url == "/teapot") { return (synth(418, "Teapot")); }
  if (req.url == "/again" && req.restarts == 0) { return (restart); }
}
sub vcl_hit { if (req.http.fresh) { return (pass); } }
sub vcl_deliver { set resp.http.hits = obj.hits; set resp.http.restarts = req.restarts; }
sub vcl_backend_response {
  if (bereq.url == "/grace") { set beresp.ttl = 1ms; set beresp.grace = 1h; }
}`,
    ),
  });
});
afterAll(async () => {
  probes.gate.open();
  await box.dispose();
  await origin.close();
});

const text = async (path: string, fields: Record<string, string> = {}): Promise<string> =>
  (await proxy.get(path, { fields })).body.toString();

describe('a hit', () => {
  it('is stored once, with its age, the ids of both transactions and its count', async () => {
    origin.on('/hit', respond('200 OK', { ...FRESH, Age: '40' }, 'cached\n'));
    const miss = await proxy.get('/hit');
    expect(field(miss, 'X-Proxy-Id')).toMatch(/^\d+$/);
    expect([field(miss, 'Age'), field(miss, 'hits')]).toEqual(['40', '0']);
    const hit = await proxy.get('/hit');
    expect(field(hit, 'X-Proxy-Id')).toMatch(/^\d+ \d+$/);
    expect([hit.status, hit.body.toString(), field(hit, 'hits')]).toEqual([200, 'cached\n', '1']);
    expect(field(hit, 'Age')).toMatch(/^[4-9]\d$/);
    expect(origin.seen('/hit')).toHaveLength(1);
    expect(origin.seen('/hit')[0]?.head).toMatch(
      /^GET \/hit HTTP\/1\.1\r\nHost: example\.test\r\nX-Forwarded-For: 127\.0\.0\.1\r\nAccept-Encoding: gzip\r\nX-Proxy-Id: \d+\r\n\r\n$/,
    );
  });

  it('answers HEAD without a body, and a condition that holds with 304', async () => {
    const fields = { ...FRESH, ETag: '"one"', 'Last-Modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };
    origin.on('/condition', respond('200 OK', fields, 'whole'));
    expect(await text('/condition')).toBe('whole');
    const head = await proxy.get('/condition', { method: 'HEAD' });
    expect([head.status, field(head, 'Content-Length'), head.framing]).toEqual([200, '5', 'none']);
    const ask = async (condition: Record<string, string>) =>
      (await proxy.get('/condition', { fields: condition })).status;
    expect(await ask({ 'If-None-Match': '"none", "one"' })).toBe(304);
    expect(await ask({ 'If-None-Match': 'W/"one"' })).toBe(304);
    expect(await ask({ 'If-None-Match': '"two"' })).toBe(200);
    expect(await ask({ 'If-Modified-Since': 'Thu, 01 Jan 2026 00:00:00 GMT' })).toBe(304);
    expect(await ask({ 'If-Modified-Since': 'Wed, 31 Dec 2025 23:59:59 GMT' })).toBe(200);
    expect(origin.seen('/condition')).toHaveLength(1);
  });

  it('is of the variant that was asked for', async () => {
    origin.on('/vary', (req) =>
      respond('200 OK', { ...FRESH, Vary: 'X-Kind' }, `${/X-Kind: (\w+)/.exec(req.head)?.[1]}`),
    );
    for (const kind of ['a', 'b', 'a', 'b']) expect(await text('/vary', { 'X-Kind': kind })).toBe(kind);
    expect(origin.seen('/vary')).toHaveLength(2);
  });

  it('is stale during grace, while one fetch brings the next', async () => {
    const next = gate();
    origin.on('/grace', (_req, n) => [
      ...(n > 1 ? [{ hold: next.hold }] : []),
      ...respond('200 OK', {}, `v${n}`),
    ]);
    expect(await text('/grace')).toBe('v1');
    // The first answer is stale by the time the next one is asked for.
    expect(await text('/grace')).toBe('v1');
    await until('the fetch', () => origin.seen('/grace').length === 2);
    expect(await text('/grace')).toBe('v1');
    expect(origin.seen('/grace')).toHaveLength(2);
    next.open();
    await until('the next one', async () => (await text('/grace')) !== 'v1');
  });

  it('goes to the origin where the program passes it', async () => {
    origin.on('/fresh', (_req, n) => respond('200 OK', FRESH, `v${n}`));
    expect(await text('/fresh')).toBe('v1');
    expect(await text('/fresh', { fresh: '1' })).toBe('v2');
    expect(await text('/fresh')).toBe('v1');
  });
});

describe('a miss', () => {
  it('is one fetch for all clients, and its first bytes come before its last', async () => {
    const rest = gate();
    origin.on('/many', [
      { send: 'HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 11\r\n\r\nfirst ' },
      { hold: rest.hold },
      { send: 'later' },
    ]);
    const first = await ClientConnection.open(proxy.port);
    first.send(requestText('/many'));
    await until('the first part', () => first.pending > 0);
    const others = Array.from({ length: 10 }, () => text('/many'));
    rest.open();
    expect((await first.response()).body.toString()).toBe('first later');
    first.close();
    expect(new Set(await Promise.all(others))).toEqual(new Set(['first later']));
    expect(origin.seen('/many')).toHaveLength(1);
  });

  it('of what may not be stored is one again, side by side with others', async () => {
    origin.on('/private', (_req, n) => respond('200 OK', { 'Cache-Control': 'private' }, `v${n}`));
    expect([await text('/private'), await text('/private'), await text('/private')]).toEqual([
      'v1',
      'v2',
      'v3',
    ]);
  });

  it('is 503 where nobody listens, and the program’s own answer where it makes one', async () => {
    const failed = await proxy.get('/down');
    expect([failed.status, failed.reason]).toEqual([503, 'Backend fetch failed']);
    expect(field(failed, 'Retry-After')).toBe('5');
    const teapot = await proxy.get('/teapot');
    expect([teapot.status, teapot.reason, field(teapot, 'Server')]).toEqual([418, 'Teapot', 'proxyd']);
    origin.on('/again', respond('200 OK', FRESH, 'again'));
    expect(field(await proxy.get('/again'), 'restarts')).toBe('1');
  });

  it('waits for a backend that its probes have called healthy', async () => {
    origin.on('/probed', respond('200 OK', { 'Cache-Control': 'no-store' }, 'up'));
    const health = async () =>
      /^boot\.probed +probe +(\S+) +(\S+)/m.exec((await proxy.adm('backend.list')).stdout)?.slice(1);
    await until('a probe', () => origin.seen('/probe').length === 1);
    expect(await health()).toEqual(['2/4', 'sick']);
    expect((await proxy.get('/probed')).status).toBe(503);
    probes.gate.open();
    await until('health', async () => (await proxy.get('/probed')).status === 200);
    probes.status = '500 Broken';
    await until('sickness', async () => (await proxy.get('/probed')).status === 503);
    expect((await health())?.[0]).toMatch(/^[0-2]\/4$/);
  });
});

describe('a pass', () => {
  it('is asked of the origin each time, with the body of its request', async () => {
    origin.on('/pass', ({ method, body }, n) => respond('200 OK', FRESH, `${method} ${body} ${n}`));
    const ask = async (method: string, body: string) =>
      (await proxy.get('/pass', { method, body })).body.toString();
    expect(await ask('GET', '')).toBe('GET  1');
    expect(await ask('POST', 'sent')).toBe('POST sent 2');
    expect(await ask('PUT', 'x'.repeat(100_000))).toBe(`PUT ${'x'.repeat(100_000)} 3`);
  });
});

describe('a pipe', () => {
  it('hands on bytes both ways until both sides have ended, and asks the origin to close', async () => {
    origin.on('/tube', [
      { send: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nout' },
      { close: true },
    ]);
    const connection = await ClientConnection.open(proxy.port);
    connection.send(requestText('/tube'));
    connection.finish();
    expect((await connection.rest()).toString()).toBe(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nout',
    );
    expect(origin.seen('/tube')[0]?.head).toMatch(/^Connection: close\r$/m);
    connection.close();
  });
});

describe('a request', () => {
  it('that is none is refused without harm to the next client', async () => {
    for (const bad of [
      'nonsense\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    ]) {
      const connection = await ClientConnection.open(proxy.port);
      connection.send(bad);
      expect((await connection.response()).status).toBe(400);
      expect(await connection.closedByPeer()).toBe(true);
      connection.close();
    }
    expect((await proxy.get('/teapot')).status).toBe(418);
  });

  it('follows another one on its connection, also before that was answered', async () => {
    origin.on('/kept', respond('200 OK', FRESH, 'kept'));
    const connection = await ClientConnection.open(proxy.port);
    connection.send(requestText('/kept') + requestText('/teapot') + requestText('/kept'));
    const answers = [await connection.response(), await connection.response(), await connection.response()];
    expect(answers.map((answer) => answer.status)).toEqual([200, 418, 200]);
    connection.close();
  });
});
