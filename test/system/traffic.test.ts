// Clients and origins of one running daemon: caching, streaming, coalescing, and rejected input that disturbs no one
// else.
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { Origin, respond, respondChunked } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-traffic');
const FRESH = { 'Cache-Control': 'max-age=100' };
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `
sub vcl_recv {
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/synth") { return (synth(404)); }
  if (req.url ~ "^/tube") { return (pipe); }
}
sub vcl_backend_response {
  if (bereq.url == "/pass/whole") { set beresp.do_stream = false; }
}`,
    ),
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

describe('caching', () => {
  it('serves a hit with both ids and an age', async () => {
    origin.on('/hit', respond('200 OK', FRESH, 'cached\n'));
    const miss = await proxy.get('/hit');
    expect(field(miss, 'X-Proxy-Id')).toMatch(/^\d+$/);
    expect(field(miss, 'Age')).toBe('0');
    expect(field(miss, 'Via')).toMatch(/^1\.1 \S+ \(proxyd\/\d+\.\d+\)$/);
    const hit = await until('it is a second old', async () => {
      const answer = await proxy.get('/hit');
      return field(answer, 'Age') === '0' ? null : answer;
    });
    expect(field(hit, 'X-Proxy-Id')).toMatch(/^\d+ \d+$/);
    expect(Number(field(hit, 'Age'))).toBeGreaterThanOrEqual(1);
    expect(hit.body.toString()).toBe('cached\n');
    expect(origin.seen('/hit')).toHaveLength(1);
  });

  it('asks the origin for gzip and names the client', async () => {
    origin.on('/added', respond('200 OK', FRESH, 'x'));
    await proxy.get('/added');
    expect(origin.seen('/added')[0]?.head).toMatch(/^Accept-Encoding: gzip\r$/m);
    expect(origin.seen('/added')[0]?.head).toMatch(/^X-Forwarded-For: 127\.0\.0\.1\r$/m);
  });

  it('keeps variants apart', async () => {
    origin.on('/vary', (req) =>
      respond('200 OK', { ...FRESH, Vary: 'X-Kind' }, `${/X-Kind: (\w+)/.exec(req.head)?.[1]}`),
    );
    for (const kind of ['a', 'b', 'a', 'b']) {
      expect((await proxy.get('/vary', { fields: { 'X-Kind': kind } })).body.toString()).toBe(kind);
    }
    expect(origin.seen('/vary')).toHaveLength(2);
  });

  it('unpacks for a client that does not take gzip', async () => {
    const text = 'packed text '.repeat(500);
    origin.on('/gzip', respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, gzipSync(text)));
    const plain = await proxy.get('/gzip');
    expect(field(plain, 'Content-Encoding')).toBeUndefined();
    expect(plain.body.toString()).toBe(text);
    const packed = await proxy.get('/gzip', { fields: { 'Accept-Encoding': 'gzip' } });
    expect(field(packed, 'Content-Encoding')).toBe('gzip');
    expect(gunzipSync(packed.body).toString()).toBe(text);
    expect(origin.seen('/gzip')).toHaveLength(1);
  });

  it('fetches once for many that ask at the same time', async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    origin.on('/many', [{ hold: gate }, ...respond('200 OK', FRESH, 'one for all\n')]);
    const slept = (await proxy.counters())['MAIN.busy_sleep'] ?? 0;
    const asked = Array.from({ length: 100 }, () => proxy.get('/many'));
    await proxy.counterReaches('MAIN.busy_sleep', slept + 99);
    open();
    const answers = await Promise.all(asked);
    expect(answers.every((a) => a.status === 200 && a.body.toString() === 'one for all\n')).toBe(true);
    expect(origin.seen('/many')).toHaveLength(1);
  });

  it('lets waiters for an uncacheable page fetch side by side', async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const reply = respond('200 OK', { 'Cache-Control': 'private' }, 'mine\n');
    let openOthers: () => void = () => {};
    const others = new Promise<void>((resolve) => {
      openOthers = resolve;
    });
    origin.on('/private', (_req, n) => [{ hold: n === 1 ? gate : others }, ...reply]);
    const slept = (await proxy.counters())['MAIN.busy_sleep'] ?? 0;
    const asked = Array.from({ length: 30 }, () => proxy.get('/private'));
    await proxy.counterReaches('MAIN.busy_sleep', slept + 29);
    open();
    // None of the others is answered before all are asked for: one after the other would stop here.
    await until('all fetches', () => origin.seen('/private').length === 30);
    openOthers();
    const answers = await Promise.all(asked);
    expect(answers.every((a) => a.status === 200)).toBe(true);
    expect(origin.seen('/private')).toHaveLength(30);
  });

  it('streams: the head and the first part arrive while the origin still sends', async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    origin.on('/stream', [
      { send: 'HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 11\r\n\r\nfirst ' },
      { hold: gate },
      { send: 'later' },
    ]);
    const connection = await ClientConnection.open(proxy.port);
    connection.send(requestText('/stream'));
    await until('the first part', () => connection.pending > 0);
    open();
    expect((await connection.response()).body.toString()).toBe('first later');
    connection.close();
  });

  it('waits for the body of a pass, whose fields stay its own while other answers are read', async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const fields = 'X-First: its own\r\nX-Second: its own, too\r\n';
    origin.on('/pass/whole', [
      { send: `HTTP/1.1 200 OK\r\n${fields}Content-Length: 5\r\n\r\n` },
      { hold: gate },
      { send: 'whole' },
    ]);
    origin.on('/pass/other', respond('200 OK', { 'X-Other': 'o'.repeat(100) }, 'other'));
    const connection = await ClientConnection.open(proxy.port);
    connection.send(requestText('/pass/whole'));
    await until('the request', () => origin.seen('/pass/whole').length === 1);
    for (let i = 0; i < 3; i++) expect((await proxy.get('/pass/other')).status).toBe(200);
    open();
    const answer = await connection.response();
    expect([field(answer, 'X-First'), field(answer, 'X-Second')]).toEqual(['its own', 'its own, too']);
    expect(answer.body.toString()).toBe('whole');
    connection.close();
  });
});

describe('failures of the origin', () => {
  it('a reset is a 503, and the next request is tried again', async () => {
    origin.on('/flaky', (_req, n) => (n <= 2 ? [{ reset: true }] : respond('200 OK', FRESH, 'well again\n')));
    const bad = await proxy.get('/flaky');
    expect(bad.status).toBe(503);
    expect(field(bad, 'Content-Type')).toBe('text/html; charset=utf-8');
    const good = await until('a good answer', async () => {
      const answer = await proxy.get('/flaky');
      return answer.status === 200 ? answer : null;
    });
    expect(good.body.toString()).toBe('well again\n');
  });

  it.each([
    ['with a length', 'Content-Length: 1000\r\n\r\nshort'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n'],
  ])('a body %s that ends early is visibly cut and not cached', async (kind, rest) => {
    const url = `/cut-${kind.length}`;
    origin.on(url, (_req, n) =>
      n === 1
        ? [
            { send: `HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\n${rest}` },
            { wait: 50 },
            { close: true },
          ]
        : respond('200 OK', FRESH, 'whole\n'),
    );
    const cut = await proxy.get(url).catch(() => null);
    expect(cut === null || cut.status === 503 || !cut.complete).toBe(true);
    const whole = await proxy.get(url);
    expect(whole.body.toString()).toBe('whole\n');
  });
});

describe('requests of odd kinds', () => {
  it('PRI gets a 405 of the proxy itself', async () => {
    const connection = await ClientConnection.open(proxy.port);
    connection.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    const response = await connection.response();
    connection.close();
    expect(response.status).toBe(405);
    expect(response.reason).toBe('Method Not Allowed');
    expect(field(response, 'Retry-After')).toBe('5');
    expect(field(response, 'Server')).toMatch(/proxyd/i);
    expect(field(response, 'Content-Type')).toBe('text/html; charset=utf-8');
    const id = field(response, 'X-Proxy-Id') ?? '';
    expect(id).toMatch(/^\d+$/);
    const page = response.body.toString();
    expect(page).toContain('405');
    expect(page).toContain('Method Not Allowed');
    expect(page).toContain(id);
    expect(field(response, 'Content-Length')).toBe(String(response.body.length));
  });

  it('an unknown method is piped, and the reply comes back unchanged', async () => {
    const reply = 'HTTP/1.1 299 Strange\r\nX-Odd:   spaced\r\n\r\nany bytes \x00\xff';
    origin.on('/odd', [{ send: reply }, { close: true }]);
    const connection = await ClientConnection.open(proxy.port);
    connection.send(requestText('/odd', { method: 'FROBNICATE' }));
    expect((await connection.rest()).toString('latin1')).toBe(reply);
    expect(origin.seen('/odd')[0]?.method).toBe('FROBNICATE');
  });

  it('a pipe takes a kept connection, and another one where the origin has left that', async () => {
    origin.on('/tube', (_request, n) =>
      n === 1 ? [{ close: true }] : [{ send: 'HTTP/1.1 200 OK\r\n\r\nthrough' }, { close: true }],
    );
    origin.on('/kept', respond('200 OK', {}, 'kept\n'));
    // Of one client: connections are kept by the thread that serves it.
    const connection = await ClientConnection.open(proxy.port);
    connection.send('POST /kept HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx');
    await connection.response();
    await until('the connection is given back', async () => {
      const counters = Object.entries(await proxy.counters());
      return counters.some(([name, value]) => /^VBE\..*\.conn$/.test(name) && value === 0);
    });
    connection.send(requestText('/tube'));
    expect((await connection.rest()).toString('latin1')).toContain('\r\n\r\nthrough');
    const [kept, first, second] = [...origin.seen('/kept'), ...origin.seen('/tube')].map((r) => r.connection);
    expect(first).toBe(kept);
    expect(second).toBeGreaterThan(first as number);
  });

  it('bodies go to the origin by length and in chunks', async () => {
    origin.on('/body', respond('200 OK', {}, 'taken\n'));
    const large = 'z'.repeat(200_000);
    expect((await proxy.get('/body', { method: 'POST', body: large })).status).toBe(200);
    expect(origin.seen('/body')[0]?.body.toString()).toBe(large);
    const connection = await ClientConnection.open(proxy.port);
    connection.send('POST /body HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
    await delay(30);
    connection.send('4\r\ndefg\r\n0\r\n\r\n');
    expect((await connection.response()).status).toBe(200);
    connection.close();
    expect(origin.seen('/body')[1]?.body.toString()).toBe('abcdefg');
  });

  it('pipelined requests are answered in order', async () => {
    const urls = Array.from({ length: 20 }, (_, i) => `/line/${i}`);
    for (const url of urls)
      origin.on(url, [{ wait: (url.length * 7) % 30 }, ...respond('200 OK', FRESH, `page ${url}`)]);
    const connection = await ClientConnection.open(proxy.port);
    connection.send(urls.map((url) => requestText(url)).join(''));
    for (const url of urls) expect((await connection.response()).body.toString()).toBe(`page ${url}`);
    connection.close();
  });

  it('a request in single bytes is a request', async () => {
    origin.on('/bytes', respond('200 OK', FRESH, 'slowly\n'));
    const connection = await ClientConnection.open(proxy.port);
    for (const byte of requestText('/bytes')) {
      connection.send(byte);
      await delay(1);
    }
    expect((await connection.response()).body.toString()).toBe('slowly\n');
    connection.close();
  });

  it('a body in chunks reaches the client whole', async () => {
    const parts = Array.from({ length: 50 }, (_, i) => `part ${i};`.repeat(i + 1));
    origin.on('/chunked', respondChunked('200 OK', FRESH, parts));
    for (let i = 0; i < 2; i++) expect((await proxy.get('/chunked')).body.toString()).toBe(parts.join(''));
  });
});

describe('input that is refused', () => {
  const refused: [string, string][] = [
    ['a request line of 100 KB', `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a.test\r\n\r\n`],
    [
      'a head of 100 KB',
      `GET / HTTP/1.1\r\nHost: a.test\r\n${`X-A: ${'b'.repeat(1000)}\r\n`.repeat(100)}\r\n`,
    ],
    ['a thousand fields', `GET / HTTP/1.1\r\nHost: a.test\r\n${'X: y\r\n'.repeat(1000)}\r\n`],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a signed length', 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: +1\r\n\r\na'],
    [
      'chunks that are not last',
      'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked, gzip\r\n\r\n',
    ],
    ['a bare line feed in a field', 'GET / HTTP/1.1\r\nHost: a.test\r\nX: a\nb\r\n\r\n'],
    ['a fold', 'GET / HTTP/1.1\r\nHost: a.test\r\nX: a\r\n b\r\n\r\n'],
    ['a blank before the colon', 'GET / HTTP/1.1\r\nHost: a.test\r\nX : a\r\n\r\n'],
    ['a NUL in a field', 'GET / HTTP/1.1\r\nHost: a.test\r\nX: a\0b\r\n\r\n'],
    ['a lower-case version', 'GET / http/1.1\r\nHost: a.test\r\n\r\n'],
    ['no version', 'GET /\r\n\r\n'],
    ['binary noise', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ];
  it.each(refused)('%s: an error and the end of the connection, or the end alone', async (_what, bytes) => {
    const before = origin.requests.length;
    const connection = await ClientConnection.open(proxy.port);
    connection.send(bytes);
    const text = (await connection.rest()).toString('latin1');
    if (text !== '') expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(origin.requests).toHaveLength(before);
    // Nothing else is disturbed.
    origin.on('/still', respond('200 OK', FRESH, 'still here\n'));
    expect((await proxy.get('/still')).body.toString()).toBe('still here\n');
  });

  it('answers 400 if the framing is ambiguous', async () => {
    const connection = await ClientConnection.open(proxy.port);
    connection.send('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab');
    expect((await connection.rest()).toString('latin1')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a broken chunk of an upload never reaches the origin as a whole body', async () => {
    origin.on('/pass/upload', respond('200 OK', {}, 'taken\n'));
    const connection = await ClientConnection.open(proxy.port);
    connection.send(
      'POST /pass/upload HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n',
    );
    await connection.rest();
    // Nothing that was begun is under way any more.
    await until('the end of the upload', async () => (await proxy.counters())['VBE.boot.default.conn'] === 0);
    expect(origin.seen('/pass/upload').filter((r) => r.complete)).toHaveLength(0);
  });

  it('the worker is still the one that was started', async () => {
    expect(await proxy.counterReaches('MGT.child_start', 1)).toBe(1);
    expect((await proxy.counters())['MGT.child_panic'] ?? 0).toBe(0);
  });
});
