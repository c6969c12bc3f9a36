// Products of things that are harmless alone: bodies on every method and every kind of answer, fields that Connection
// names, upgrades, programs that are handed line ends to put into heads, keys that look alike, ranges that are none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-matrix');
const FRESH = { 'Cache-Control': 'max-age=100' };
const DECODED = 'blob.transcode(encoded=req.http.B, decoding=BASE64, encoding=IDENTITY)';
let origin: Origin;
let proxy: RunningProxy;
let worker: number | null;
let paths = 0;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', FRESH, 'fine\n'));
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `import blob;
backend dead { .host = "127.0.0.1"; .port = "1"; }
sub vcl_recv {
  if (req.url ~ "^/dead") { set req.backend_hint = dead; }
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/synth") { return (synth(404)); }
  if (req.method == "PURGE") { return (purge); }
  if (req.url ~ "^/field") { set req.http.X-A = ${DECODED}; }
  if (req.url ~ "^/url") { set req.url = ${DECODED}; }
  if (req.url ~ "^/method") { set req.method = ${DECODED}; return (pass); }
  if (req.url ~ "^/page") { return (synth(700, ${DECODED})); }
}
sub vcl_backend_fetch { if (bereq.url ~ "^/coding") { set bereq.http.Transfer-Encoding = bereq.http.B; } }
sub vcl_deliver {
  if (req.url ~ "^/answer") { set resp.http.X-A = ${DECODED}; }
  if (req.url ~ "^/reason") { set resp.reason = ${DECODED}; }
  if (req.url ~ "^/coding") { set resp.http.Transfer-Encoding = req.http.B; }
}
sub vcl_synth {
  if (req.url ~ "coding") { set resp.http.Transfer-Encoding = req.http.B; }
  else if (req.http.B) { set resp.http.Location = ${DECODED}; } }`,
    ),
    params: { timeout_idle: '2' },
  });
  worker = proxy.workerPid();
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

function path(prefix: string): string {
  return `${prefix}${++paths}`;
}

/** Everything sent in reply to these bytes, which lead to nothing. */
async function output(bytes: string): Promise<string> {
  const conn = await ClientConnection.open(proxy.port);
  conn.send(bytes);
  conn.finish();
  const all = (await conn.rest()).toString('latin1');
  conn.close();
  return all;
}

const statuses = (all: string): string[] =>
  [...all.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((found) => found[1] as string).filter((s) => s !== '100');

describe('a body that is a request', () => {
  const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
  const inChunks = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;
  const FRAMES: readonly (readonly [string, string, string])[] = [
    ['length', `Content-Length: ${SMUGGLED.length}\r\n`, SMUGGLED],
    ['chunks', 'Transfer-Encoding: chunked\r\n', inChunks],
    ['expected length', `Expect: 100-continue\r\nContent-Length: ${SMUGGLED.length}\r\n`, SMUGGLED],
    ['expected chunks', 'Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n', inChunks],
  ];
  const METHODS = 'GET POST PUT DELETE HEAD PURGE OPTIONS PATCH TRACE FOO get'.split(' ');

  it.each(['/warm', '/synth', '/dead', '/pass', '/miss'])('at %s is never served', async (prefix) => {
    await output('GET /warm HTTP/1.1\r\nHost: a\r\n\r\n');
    const wrong: string[] = [];
    const cases = METHODS.flatMap((method) => FRAMES.map((frame) => [method, ...frame] as const));
    await Promise.all(
      cases.map(async ([method, name, fields, body]) => {
        const url = /warm|synth/.test(prefix) ? prefix : path(prefix);
        const all = await output(
          `${method} ${url} HTTP/1.1\r\nHost: a\r\n${fields}\r\n${body}GET /warm HTTP/1.1\r\nHost: a\r\n\r\n`,
        );
        const got = statuses(all).join();
        // Unknown methods are piped: the response is the origin's, or none.
        const piped = /^(FOO|get)$/.test(method);
        if (!/^\d{3}(,200)?$/.test(got) && !(piped && got === '')) wrong.push(`${method} ${name}: ${got}`);
      }),
    );
    expect(wrong).toEqual([]);
    expect(origin.seen('/smuggled').filter((r) => r.head.includes('X-Forwarded-For'))).toEqual([]);
  });
});

describe('line ends in what a program puts into a head', () => {
  const EVIL = [
    'a\r\nX-Evil: 1',
    'a\nX-Evil: 1',
    'a\rX-Evil: 1',
    'a\0b',
    '\r\n\r\nbody',
    'a\x7f',
    'a\x0bb',
    'a\r\n b',
  ];
  it.each(['/field', '/url', '/method', '/answer', '/reason', '/synth', '/page'])('%s', async (prefix) => {
    for (const evil of EVIL) {
      const before = origin.requests.length;
      const b = Buffer.from(evil, 'latin1').toString('base64');
      const all = await output(`GET ${path(prefix)} HTTP/1.1\r\nHost: a\r\nB: ${b}\r\n\r\n`);
      const head = `${all.split('\r\n\r\n')[0]}\r\n`;
      const heads = [head, ...origin.requests.slice(before).map((r) => r.head)];
      for (const each of heads) {
        expect(each).toMatch(/^(?:[^\0-\x08\x0a-\x1f\x7f]*\r\n)+$/);
        expect(each).not.toMatch(/^X-Evil/im);
      }
      expect(statuses(all).length).toBeLessThan(2);
    }
  });
});

describe('what a program may not decide', () => {
  it.each(['/url', '/method'])('a blank in the request line: %s', async (prefix) => {
    const before = origin.requests.length;
    const b = Buffer.from('a b').toString('base64');
    const all = await output(`GET ${path(prefix)} HTTP/1.1\r\nHost: a\r\nB: ${b}\r\n\r\n`);
    expect([statuses(all), origin.requests.length]).toEqual([['503'], before]);
  });

  it.each([
    ['/coding', 'gzip'],
    ['/coding', 'chunked'],
    ['/coding', 'identity'],
    ['/synth-coding', 'chunked'],
  ])('a coding: %s %s', async (prefix, coding) => {
    const url = path(prefix);
    const all = await output(`GET ${url} HTTP/1.1\r\nHost: a\r\nB: ${coding}\r\n\r\n`);
    expect(all).toMatch(/^content-length: \d+\r$/im);
    for (const head of [all, ...origin.seen(url).map((r) => r.head)]) {
      expect(head).not.toMatch(/^transfer-encoding:/im);
    }
  });
});

describe('what Connection names', () => {
  const post = (url: string, value: string): Promise<string> =>
    output(
      `POST ${url} HTTP/1.1\r\nHost: a\r\nConnection: ${value}\r\nContent-Length: 5\r\nCookie: c=d\r\n\r\nhello`,
    );

  it.each([
    'Host',
    'host, content-length',
    'Transfer-Encoding',
    'close, Host',
    'Via',
    'Cookie',
    'keep-alive, Content-Length',
  ])('%.20s in a request is refused', async (value) => {
    const url = path('/pass');
    expect(statuses(await post(url, value))).toEqual(['400']);
    expect(origin.seen(url)).toEqual([]);
  });

  it.each(['Connection', ',,,', 'a b', '"x"', 'X'.repeat(5000)])('%.20s in a request', async (value) => {
    const url = path('/pass');
    const all = await post(url, value);
    expect(statuses(all)).toEqual(['200']);
    const seen = origin.seen(url)[0];
    expect(seen?.body.toString()).toBe('hello');
    expect(seen?.head.match(/^(host: a|content-length: 5)\r$/gim)).toHaveLength(2);
    expect(seen?.head).not.toMatch(/^connection:/im);
  });

  it.each([
    'Content-Length',
    'Set-Cookie',
    'Cache-Control',
    'Vary',
    'Content-Encoding',
    'Date',
    'close, Expires',
  ])('%s in an answer that is not for sharing', async (value) => {
    const url = path('/object');
    origin.on(
      url,
      respond('200 OK', { 'Cache-Control': 'private', 'Set-Cookie': 'a=b', Connection: value }, 'body'),
    );
    for (let i = 1; i <= 2; i++) {
      expect(await output(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(
        /Content-Length: 4\r\n.*\r\n\r\nbody$/s,
      );
      expect(origin.seen(url)).toHaveLength(i);
    }
  });

  it.each(['websocket', 'h2c', 'TLS/1.0', 'foo'])('an upgrade to %s that the origin grants', async (to) => {
    const url = path('/pass');
    origin.on(url, [{ send: 'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nSECRET' }]);
    const all = await output(
      `GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${to}\r\nHTTP2-Settings: AAMA\r\n\r\n`,
    );
    expect(statuses(all)).toEqual(['503']);
    expect(all).not.toContain('SECRET');
    expect(origin.seen(url)[0]?.head).not.toMatch(/^(upgrade|http2-settings|connection):/im);
  });
});

describe('keys', () => {
  const PAIRS =
    '/%2F //|/a%2fb /a/b|/A /a|/./a /a|/x/../a /a|/a? /a|/a;x /a|/%61 /a|/a%00 /a|/a\\b /a/b|/a+b /a%20b';
  it.each(PAIRS.split('|').map((pair) => pair.split(' ') as [string, string]))(
    '%s is not %s',
    async (one, other) => {
      const prefix = path('/key');
      for (const url of [prefix + one, prefix + other]) {
        origin.on(url, (request) => respond('200 OK', FRESH, request.url));
        expect(await output(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
      }
      for (const url of [prefix + one, prefix + other]) {
        expect((await output(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`)).split('\r\n\r\n')[1]).toBe(url);
      }
    },
  );

  it.each(['K', 'k:80', 'k.', 'k:'])(
    'a page of k is not given to %s unless the origin is asked for k',
    async (host) => {
      const url = path('/key');
      const asked = (): string[] => origin.seen(url).map((r) => /^host: (.*)\r$/im.exec(r.head)?.[1] ?? '');
      origin.on(url, (r) => respond('200 OK', FRESH, /^host: (.*)\r$/im.exec(r.head)?.[1] ?? ''));
      await output(`GET ${url} HTTP/1.1\r\nHost: k\r\n\r\n`);
      const body = (await output(`GET ${url} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).split('\r\n\r\n')[1];
      expect(new Set(asked()).size).toBe(asked().length);
      expect(body).toBe(asked().at(-1));
    },
  );
});

describe('ranges', () => {
  const RANGES =
    'bytes=0-0|bytes=-0|bytes=-1|bytes=-99999999999999999999|bytes=5-2|bytes=0-18446744073709551615|bytes=18446744073709551615-|bytes=999-|bytes=1000-|bytes=--1|bytes=+1-2|bytes=0x1-2|bytes= 0-1|bytes=0-1,|bytes=,0-1|bytes=a-b|bytes|bytes=|bytes=-|pages=0-1|bytes=0-1;x|bytes=1.5-2|bytes=-1-2|\xff=0-1|bytes=1-0,0-1'
      .split('|')
      .concat(`bytes=${'0-0,'.repeat(500)}0-0`, `bytes=${'0-,'.repeat(1300)}0-`);
  it('a malformed range, or many: as many bytes as declared, and no more than exist', async () => {
    const url = path('/range');
    origin.on(url, respond('200 OK', FRESH, 'x'.repeat(1000)));
    await output(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`);
    for (const range of RANGES) {
      const all = await output(`GET ${url} HTTP/1.1\r\nHost: a\r\nRange: ${range}\r\n\r\n`);
      expect(['200', '206', '416']).toContain(statuses(all)[0]);
      const at = all.indexOf('\r\n\r\n') + 4;
      expect(all.length - at).toBe(Number(/^content-length: (\d+)\r$/im.exec(all)?.[1]));
      expect(all.length - at).toBeLessThanOrEqual(1000);
    }
  });

  it.each(['200 OK', '206 Partial Content', '416 Range Not Satisfiable'])(
    'an odd Content-Range on %s',
    async (status) => {
      for (const value of [
        'bytes 0-3/4',
        'bytes */4',
        'bytes 5-1/4',
        `bytes 0-${'9'.repeat(20)}/5`,
        'pages 1-2/3',
        '',
        'bytes',
      ]) {
        const url = path('/part');
        origin.on(url, respond(status, { ...FRESH, 'Content-Range': value }, 'body'));
        for (const range of ['', '', 'Range: bytes=1-2\r\n']) {
          const got = statuses(await output(`GET ${url} HTTP/1.1\r\nHost: a\r\n${range}\r\n`));
          // The claimed range was not requested.
          expect(['200', '206', '416', '503']).toContain(got[0]);
          if (range === '' && value.startsWith('bytes')) expect(got[0]).toBe('503');
        }
        // A part is not a complete body.
        if (!status.startsWith('200') || value.startsWith('bytes')) expect(origin.seen(url)).toHaveLength(3);
      }
    },
  );
});

it('afterwards the worker is the same', async () => {
  expect(proxy.workerPid()).toBe(worker);
  expect((await proxy.get('/warm', { host: 'a' })).body.toString()).toBe('fine\n');
});
