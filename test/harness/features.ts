// Features that clients and programs ask for with one request, each with its outcome: the same whatever the protocol.
import { gzipSync } from 'node:zlib';
import { type Origin, respond, respondChunked } from './origin.ts';
import { delay } from './processes.ts';
import type { Answer, Wish } from './two-protocols.ts';

const FRESH = { 'Cache-Control': 'max-age=100' };
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const TEXT = 'packed text '.repeat(5000);
const LARGE = Buffer.alloc(3_000_000);
for (let i = 0; i < LARGE.length; i++) LARGE[i] = (i * 7 + (i >> 8)) & 255;
const GZIP = { 'Accept-Encoding': 'gzip' };

/** Its program, without a backend. */
export const FEATURES_PROGRAM = `
import std;
sub vcl_recv {
  if (req.method == "PURGE") { return (purge); }
  if (req.method == "BAN") { std.ban("obj.http.x-tag == " + req.http.x-tag); return (synth(202)); }
  if (req.url ~ "/pass") { return (pass); }
  if (req.url ~ "/pipe") { return (pipe); }
  if (req.url ~ "/synth") { return (synth(404, "Nothing here")); }
  if (req.url ~ "/fail") { return (fail); }
  if (req.url ~ "/kept") { std.cache_req_body(2MB); return (pass); }
  if (req.url ~ "/hash-upload") { return (hash); }
}
sub vcl_synth {
  if (req.url ~ "/synth/empty") { set resp.body = ""; return (deliver); }
  if (req.url ~ "/synth/fail") { return (fail); }
}
sub vcl_backend_fetch { if (bereq.url ~ "/hash-upload") { set bereq.method = "POST"; } }
sub vcl_backend_response {
  set beresp.do_esi = bereq.url ~ "/page";
  set beresp.do_gzip = bereq.url ~ "/pack";
  set beresp.do_gunzip = bereq.url ~ "/plain";
  set beresp.do_stream = bereq.url !~ "/whole";
  if (bereq.url ~ "/hfm") { return (pass(10s)); }
}
sub vcl_deliver {
  if (req.url ~ "/restart" && req.restarts < 2) { return (restart); }
  set resp.http.x-restarts = req.restarts;
}
`;

async function* later(body: string): AsyncGenerator<Buffer> {
  await delay(100);
  yield Buffer.from(body);
}

export interface Row {
  readonly name: string;
  /** The path below that of the protocol. */
  readonly path: string;
  readonly serves?: (path: string, origin: Origin) => void;
  readonly wish?: Wish | (() => Wish);
  /** How often it is asked for. */
  readonly times?: number;
  readonly wants: Partial<Omit<Answer, 'fields'>> & { readonly fields?: Record<string, unknown> };
  /** How many requests the origin gets. */
  readonly fetches?: number;
}

const on = (fields: Record<string, string>, body: string | Buffer, status = '200 OK') => {
  return (path: string, origin: Origin): void => void origin.on(path, respond(status, fields, body));
};

async function* slowly(body: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += size) {
    yield body.subarray(at, at + size);
    await delay(1);
  }
}

export const FEATURES: readonly Row[] = [
  {
    name: 'a miss and its hits',
    path: '/hit',
    serves: on(FRESH, 'hit'),
    times: 3,
    fetches: 1,
    wants: { status: 200, body: Buffer.from('hit') },
  },
  {
    name: 'a large hit',
    path: '/large',
    serves: on(FRESH, LARGE),
    times: 3,
    fetches: 1,
    wants: { status: 200, body: LARGE },
  },
  {
    name: 'an empty hit',
    path: '/empty',
    serves: on(FRESH, ''),
    times: 3,
    fetches: 1,
    wants: { status: 200, body: Buffer.alloc(0) },
  },
  {
    name: 'an answer without a body',
    path: '/none',
    serves: on(FRESH, '', '204 No Content'),
    times: 2,
    fetches: 1,
    wants: { status: 204 },
  },
  {
    name: 'a pass',
    path: '/pass',
    serves: on(FRESH, 'passed'),
    times: 2,
    fetches: 2,
    wants: { status: 200, body: Buffer.from('passed') },
  },
  {
    name: 'a large pass',
    path: '/pass/large',
    serves: on(FRESH, LARGE),
    times: 2,
    fetches: 2,
    wants: { status: 200, body: LARGE },
  },
  {
    name: 'a pass that streams in chunks',
    path: '/pass/chunks',
    serves: (path, origin) => origin.on(path, respondChunked('200 OK', FRESH, [LETTERS, TEXT, LETTERS], 10)),
    wants: {
      status: 200,
      body: Buffer.from(LETTERS + TEXT + LETTERS),
      fields: { 'content-length': undefined },
    },
  },
  {
    name: 'a miss that streams in chunks',
    path: '/chunks',
    serves: (path, origin) => origin.on(path, respondChunked('200 OK', FRESH, [LETTERS, TEXT, LETTERS], 10)),
    times: 2,
    fetches: 1,
    wants: { status: 200, body: Buffer.from(LETTERS + TEXT + LETTERS) },
  },
  {
    name: 'a body fetched whole',
    path: '/whole',
    serves: on(FRESH, LARGE),
    fetches: 1,
    wants: { status: 200, body: LARGE },
  },
  {
    name: 'HEAD',
    path: '/head',
    serves: on(FRESH, LETTERS),
    wish: { method: 'HEAD' },
    times: 2,
    fetches: 1,
    wants: { status: 200, body: Buffer.alloc(0), fields: { 'content-length': '26' } },
  },
  {
    name: 'HEAD passed',
    path: '/pass/head',
    serves: (path, origin) => origin.on(path, [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n' }]),
    wish: { method: 'HEAD' },
    wants: { status: 200, body: Buffer.alloc(0), fields: { 'content-length': '26' } },
  },
  {
    name: '304 to who has it',
    path: '/etag',
    serves: on({ ...FRESH, ETag: '"a"' }, LETTERS),
    wish: { fields: { 'If-None-Match': '"a"' } },
    times: 2,
    fetches: 1,
    wants: { status: 304, body: Buffer.alloc(0), fields: { etag: '"a"' } },
  },
  {
    name: 'a range',
    path: '/range',
    serves: on(FRESH, LETTERS),
    wish: { fields: { Range: 'bytes=2-4' } },
    times: 2,
    wants: {
      status: 206,
      body: Buffer.from('cde'),
      fields: { 'content-range': 'bytes 2-4/26', 'content-length': '3' },
    },
  },
  {
    name: 'a range of a large body',
    path: '/range/large',
    serves: on(FRESH, LARGE),
    wish: { fields: { Range: 'bytes=100000-2000000' } },
    times: 2,
    wants: { status: 206, body: LARGE.subarray(100_000, 2_000_001) },
  },
  {
    name: 'a range that is not there',
    path: '/range/none',
    serves: on(FRESH, LETTERS),
    wish: { fields: { Range: 'bytes=99-' } },
    times: 2,
    wants: { status: 416, fields: { 'content-range': 'bytes */26' } },
  },
  {
    name: 'a range if it is still the same',
    path: '/range/same',
    serves: on({ ...FRESH, ETag: '"a"' }, LETTERS),
    wish: { fields: { Range: 'bytes=-3', 'If-Range': '"a"' } },
    times: 2,
    wants: { status: 206, body: Buffer.from('xyz') },
  },
  {
    name: 'no range if it has changed',
    path: '/range/other',
    serves: on({ ...FRESH, ETag: '"a"' }, LETTERS),
    wish: { fields: { Range: 'bytes=-3', 'If-Range': '"b"' } },
    times: 2,
    wants: { status: 200, body: Buffer.from(LETTERS) },
  },
  {
    name: 'several ranges',
    path: '/range/several',
    serves: on(FRESH, LETTERS),
    wish: { fields: { Range: 'bytes=0-1,5-6' } },
    times: 2,
    // They are so near to each other that one part is shorter.
    wants: { status: 206, body: Buffer.from('abcdefg'), fields: { 'content-range': 'bytes 0-6/26' } },
  },
  {
    name: 'packed for who takes it',
    path: '/pack',
    serves: on(FRESH, TEXT),
    wish: { fields: GZIP },
    times: 2,
    fetches: 1,
    wants: { status: 200, body: Buffer.from(TEXT), fields: { 'content-encoding': 'gzip' } },
  },
  {
    name: 'unpacked for who does not',
    path: '/packed',
    serves: on({ ...FRESH, 'Content-Encoding': 'gzip' }, gzipSync(TEXT)),
    times: 2,
    fetches: 1,
    wants: { status: 200, body: Buffer.from(TEXT), fields: { 'content-encoding': undefined } },
  },
  {
    name: 'unpacked when fetched',
    path: '/plain',
    serves: on({ ...FRESH, 'Content-Encoding': 'gzip' }, gzipSync(TEXT)),
    times: 2,
    fetches: 1,
    wants: { status: 200, body: Buffer.from(TEXT) },
  },
  {
    name: 'a page of fragments',
    path: '/page',
    serves: (path, origin) => {
      origin.on(
        path,
        respond(
          '200 OK',
          FRESH,
          [0, 1, 2, 3].map((i) => `<${i}><esi:include src="${path}/part/${i}"/>`).join(''),
        ),
      );
      for (let i = 0; i < 4; i++)
        origin.on(`${path}/part/${i}`, [
          { wait: (4 - i) * 20 },
          ...respond('200 OK', FRESH, LETTERS.repeat(i * 1000)),
        ]);
    },
    times: 2,
    fetches: 1,
    wants: {
      status: 200,
      body: Buffer.from([0, 1, 2, 3].map((i) => `<${i}>${LETTERS.repeat(i * 1000)}`).join('')),
    },
  },
  {
    name: 'a page of fragments, packed',
    path: '/page/pack',
    serves: (path, origin) => {
      origin.on(path, respond('200 OK', FRESH, `<p>${TEXT}<esi:include src="${path}/part"/></p>`));
      origin.on(`${path}/part`, respond('200 OK', FRESH, LETTERS));
    },
    wish: { fields: GZIP },
    times: 2,
    fetches: 1,
    wants: {
      status: 200,
      body: Buffer.from(`<p>${TEXT}${LETTERS}</p>`),
      fields: { 'content-encoding': 'gzip' },
    },
  },
  {
    name: 'an upload',
    path: '/pass/up',
    serves: (path, origin) => origin.on(path, ({ body }) => respond('200 OK', {}, body)),
    wish: { method: 'POST', body: LETTERS },
    wants: { status: 200, body: Buffer.from(LETTERS) },
  },
  {
    name: 'a large upload',
    path: '/pass/up/large',
    serves: (path, origin) => origin.on(path, ({ body }) => respond('200 OK', {}, body)),
    wish: { method: 'PUT', body: LARGE },
    wants: { status: 200, body: LARGE },
  },
  {
    name: 'an upload of unknown length',
    path: '/pass/up/pieces',
    serves: (path, origin) => origin.on(path, ({ body }) => respond('200 OK', {}, body)),
    wish: () => ({ method: 'POST', pieces: slowly(LARGE, 90_000) }),
    wants: { status: 200, body: LARGE },
  },
  {
    name: 'an empty upload',
    path: '/pass/up/empty',
    serves: (path, origin) =>
      origin.on(path, ({ body, head }) =>
        respond('200 OK', {}, `${body.length} ${/^content-length: (.*)\r$/im.exec(head)?.[1]}`),
      ),
    wish: { method: 'POST', body: '' },
    wants: { status: 200, body: Buffer.from('0 0') },
  },
  {
    name: 'an upload to a miss',
    path: '/hash-upload',
    serves: (path, origin) => origin.on(path, ({ body }) => respond('200 OK', {}, `got ${body.length}`)),
    wish: { method: 'POST', body: LETTERS },
    wants: { status: 200 },
  },
  {
    name: 'an upload that a program keeps',
    path: '/kept/restart',
    serves: (path, origin) => origin.on(path, ({ body }) => respond('200 OK', {}, body)),
    wish: { method: 'POST', body: LARGE.subarray(0, 1_500_000) },
    fetches: 3,
    wants: { status: 200, body: LARGE.subarray(0, 1_500_000), fields: { 'x-restarts': '2' } },
  },
  {
    name: 'an upload of unknown length that a program keeps',
    path: '/kept',
    serves: (path, origin) =>
      origin.on(path, ({ body, head }) =>
        respond('200 OK', { 'X-Length': /^content-length: (.*)\r$/im.exec(head)?.[1] ?? 'none' }, body),
      ),
    wish: () => ({ method: 'POST', pieces: slowly(LARGE.subarray(0, 1_500_000), 200_000) }),
    wants: { status: 200, body: LARGE.subarray(0, 1_500_000), fields: { 'x-length': '1500000' } },
  },
  {
    name: 'an upload too large to be kept',
    path: '/kept/large',
    wish: { method: 'POST', body: LARGE },
    fetches: 0,
    wants: { status: 400 },
  },
  {
    name: 'an upload that nobody reads',
    path: '/synth/up',
    wish: { method: 'POST', body: LETTERS },
    wants: { status: 404 },
  },
  {
    name: 'an upload that is awaited with 100',
    path: '/pass/continue',
    serves: (path, origin) => origin.on(path, ({ body }) => respond('200 OK', {}, body)),
    wish: () => ({ method: 'POST', pieces: later(LETTERS), fields: { Expect: '100-continue' } }),
    wants: { status: 200, body: Buffer.from(LETTERS), interim: [100] },
  },
  {
    name: 'early hints',
    path: '/pass/hints',
    serves: (path, origin) =>
      origin.on(path, [
        { send: 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n' },
        ...respond('200 OK', {}, 'after'),
      ]),
    wants: { status: 200, body: Buffer.from('after'), interim: [103] },
  },
  {
    name: 'restarts',
    path: '/restart',
    serves: on(FRESH, 'again'),
    fetches: 1,
    wants: { status: 200, body: Buffer.from('again'), fields: { 'x-restarts': '2' } },
  },
  { name: 'an answer of the program', path: '/synth', wants: { status: 404 } },
  {
    name: 'an empty answer of the program',
    path: '/synth/empty',
    wants: { status: 404, body: Buffer.alloc(0) },
  },
  { name: 'a program that fails', path: '/fail', wants: { status: 503 } },
  {
    name: 'a program that fails in vcl_synth',
    path: '/synth/fail',
    wants: { status: 500, body: Buffer.alloc(0) },
  },
  {
    name: 'hit-for-miss',
    path: '/miss',
    serves: on({ 'Set-Cookie': 'a=b', 'Cache-Control': 'no-store' }, 'mine'),
    times: 3,
    fetches: 3,
    wants: { status: 200, body: Buffer.from('mine'), fields: { 'set-cookie': 'a=b' } },
  },
  {
    name: 'hit-for-pass',
    path: '/hfm',
    serves: on({}, 'mine'),
    times: 3,
    fetches: 3,
    wants: { status: 200, body: Buffer.from('mine') },
  },
  {
    name: 'an origin that fails',
    path: '/broken',
    serves: (path, origin) => origin.on(path, [{ reset: true }]),
    wants: { status: 503 },
  },
  {
    name: 'an origin’s error',
    path: '/500',
    serves: on({}, 'no', '500 Broken'),
    wants: { status: 500, body: Buffer.from('no') },
  },
  {
    name: 'a body cut by the origin',
    path: '/pass/cut',
    serves: (path, origin) =>
      origin.on(path, [
        { send: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf' },
        { wait: 50 },
        { reset: true },
      ]),
    wants: { status: 200, complete: false },
  },
  {
    name: 'chunks cut by the origin',
    path: '/cut/chunks',
    serves: (path, origin) =>
      origin.on(path, [
        { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n' },
        { wait: 50 },
        { reset: true },
      ]),
    wants: { status: 200, complete: false },
  },
];
