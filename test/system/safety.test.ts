// The safety rules as tables: hostile requests and hostile origins against one running daemon, byte by byte.
// Each row says what the client sees, and the table's runner what the origin may have seen and what may be in
// the cache afterwards. Rows are independent: each has a URL and a connection of its own. The last test asks
// whether the worker is still the one that was started: none of this may take it down.
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field, type Response } from '../harness/http-client.ts';
import { type Action, Origin, type Reply, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-safety');
const FRESH = { 'Cache-Control': 'max-age=100' };
const LONG = 'x'.repeat(200);
let origin: Origin;
/** Answers as soon as anything comes, and reads on. */
const early = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno\n');
    socket.resume();
  });
});
let proxy: RunningProxy;
let worker: number | null;
let paths = 0;

beforeAll(async () => {
  origin = await Origin.start();
  await new Promise<void>((resolve) => early.listen(0, '127.0.0.1', resolve));
  origin.on('*', respond('200 OK', FRESH, 'fine\n'));
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `
backend early { .host = "127.0.0.1"; .port = "${(early.address() as AddressInfo).port}"; }
sub vcl_recv {
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/synth") { return (synth(404)); }
  if (req.url ~ "^/early") { set req.backend_hint = early; }
}
sub vcl_deliver {
  if (req.url ~ "^/again" && req.restarts == 0) { return (restart); }
  if (req.url ~ "^/shrink") { set resp.http.Content-Length = "3"; }
}
sub vcl_backend_response {
  if (bereq.url ~ "^/twice" && beresp.was_304 && bereq.retries == 0) { return (retry); }
  if (bereq.url ~ "^/unzip") { set beresp.do_gunzip = true; }
}`,
    ),
    params: { first_byte_timeout: '3', between_bytes_timeout: '3' },
  });
  worker = proxy.workerPid();
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
  early.close();
});

/** A URL that no other row uses. */
function path(prefix = '/r'): string {
  paths++;
  return `${prefix}${paths}`;
}

/** Sends bytes on a new connection; the first response, or null when it closed without one. */
async function talk(
  bytes: string,
  method = 'GET',
): Promise<{ conn: ClientConnection; got: Response | null }> {
  const conn = await ClientConnection.open(proxy.port);
  conn.send(bytes);
  const got = await conn.response(method).catch((error: Error) => {
    if (conn.ended) return null;
    throw error;
  });
  return { conn, got };
}

/** The client's view of one GET, with the connection closed afterwards. */
async function get(url: string, fields = ''): Promise<Response | null> {
  const { conn, got } = await talk(`GET ${url} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`);
  conn.close();
  return got;
}

/** Resident bytes of a process. */
function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024;
}

const whole = (got: Response | null): boolean => got !== null && got.status < 500 && got.complete;

// ---- Rules 1, 2, 5, 6, 10: what a client may not send

/** `@` is replaced by the row's URL; a request that would be smuggled follows each of them. */
const REFUSED: readonly (readonly [string, string])[] = [
  [
    'two lengths that differ',
    'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
  ],
  [
    'two lengths that agree',
    'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello',
  ],
  ['a list of lengths', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 6\r\n\r\nhello!'],
  ['a positive sign', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello'],
  ['a negative length', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nhello'],
  ['a hex length', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello'],
  ['a length with a letter', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 5a\r\n\r\nhello'],
  ['a length with a blank inside', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 5 5\r\n\r\nhello'],
  ['a length beyond 2^53', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 9007199254740993\r\n\r\nhello'],
  ['a length beyond 2^64', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551621\r\n\r\nhello'],
  ['an empty length', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nhello'],
  ['a fraction', 'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 5.0\r\n\r\nhello'],
  ['a length on a GET that is none', 'GET @ HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n'],
  [
    'length, then coding',
    'POST @ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'coding, then length',
    'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
  ],
  ['chunked in HTTP/1.0', 'POST @ HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['an upload of HTTP/1.0 without a length', 'POST @ HTTP/1.0\r\nHost: a\r\n\r\n'],
  [
    'one that keeps and closes its connection',
    'PUT @ HTTP/1.0\r\nHost: a\r\nConnection: keep-alive, close\r\n\r\n',
  ],
  ['gzip as transfer coding', 'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n'],
  ['chunked before gzip', 'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n'],
  ['gzip before chunked', 'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  [
    'chunked twice in a line',
    'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'chunked on two lines',
    'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'identity on a second line',
    'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
  ],
  ['identity', 'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n'],
  ['an unknown coding', 'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
  [
    'a coding with a parameter',
    'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n',
  ],
  ['an empty coding', 'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n'],
  [
    'a vertical tab before the coding',
    'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'a blank before the colon of the coding',
    'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a folded coding', 'POST @ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n'],
  ['a lower-case version', 'GET @ http/1.1\r\nHost: a\r\n\r\n'],
  ['version 1.2', 'GET @ HTTP/1.2\r\nHost: a\r\n\r\n'],
  ['version 2.0 in a request', 'GET @ HTTP/2.0\r\nHost: a\r\n\r\n'],
  ['version 11', 'GET @ HTTP/11\r\nHost: a\r\n\r\n'],
  ['version 1.10', 'GET @ HTTP/1.10\r\nHost: a\r\n\r\n'],
  ['no version', 'GET @\r\n\r\n'],
  ['two blanks', 'GET  @ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a tab between the parts', 'GET\t@ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a blank behind the version', 'GET @ HTTP/1.1 \r\nHost: a\r\n\r\n'],
  ['a blank in the target', 'GET @ b HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a method that is no token', 'G(ET @ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['NUL in the method', 'G\0ET @ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['NUL in the target', 'GET @\0 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['DEL in the target', 'GET @\x7f HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['NUL in a value', 'GET @ HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n'],
  ['a bare CR in a value', 'GET @ HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n'],
  ['a bare LF as line end', 'GET @ HTTP/1.1\r\nHost: a\r\nX: a\nY: b\r\n\r\n'],
  ['bare LFs only', 'GET @ HTTP/1.1\nHost: a\n\n'],
  ['a bare LF before the body', 'GET @ HTTP/1.1\r\nHost: a\r\n\n'],
  ['CR CR LF', 'GET @ HTTP/1.1\r\nHost: a\r\r\n\r\n'],
  ['DEL in a value', 'GET @ HTTP/1.1\r\nHost: a\r\nX: a\x7fb\r\n\r\n'],
  ['a folded line', 'GET @ HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n'],
  ['a blank before the first field', 'GET @ HTTP/1.1\r\n Host: a\r\n\r\n'],
  ['a blank before the colon', 'GET @ HTTP/1.1\r\nHost : a\r\n\r\n'],
  ['a tab before the colon', 'GET @ HTTP/1.1\r\nHost: a\r\nX\t: a\r\n\r\n'],
  ['an empty name', 'GET @ HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
  ['a name with a bracket', 'GET @ HTTP/1.1\r\nHost: a\r\nX[1]: x\r\n\r\n'],
  ['a name beyond ASCII', 'GET @ HTTP/1.1\r\nHost: a\r\nX\xe9: x\r\n\r\n'],
  ['a line without colon', 'GET @ HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n'],
  ['two Hosts', 'GET @ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ['two Hosts that agree', 'GET @ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
  ['two Hosts with an absolute target', 'GET http://a@ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ['an empty Host', 'GET @ HTTP/1.1\r\nHost:\r\n\r\n'],
  ['a Host with a path', 'GET @ HTTP/1.1\r\nHost: a/b\r\n\r\n'],
  ['a Host with a user', 'GET @ HTTP/1.1\r\nHost: u@a\r\n\r\n'],
  ['a Host with a blank', 'GET @ HTTP/1.1\r\nHost: a b\r\n\r\n'],
  ['a Host with a query', 'GET @ HTTP/1.1\r\nHost: a?b\r\n\r\n'],
  ['a port that is no number', 'GET @ HTTP/1.1\r\nHost: a:b\r\n\r\n'],
  ['a port beyond 65535', 'GET @ HTTP/1.1\r\nHost: a:65536\r\n\r\n'],
  ['an open bracket', 'GET @ HTTP/1.1\r\nHost: [::1\r\n\r\n'],
  ['a Host beyond ASCII', 'GET @ HTTP/1.1\r\nHost: \xe9\r\n\r\n'],
  ['a target without a slash', 'GET r@ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an asterisk for GET', 'GET * HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an absolute target with a user', 'GET http://u:p@a@ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an absolute target without host', 'GET http://@ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an absolute target of another scheme', 'GET ftp://a@ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['too many fields', `GET @ HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(80)}\r\n`],
  ['a field that is too long', `GET @ HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(9000)}\r\n\r\n`],
  ['a head that is too long', `GET @ HTTP/1.1\r\nHost: a\r\n${`X: ${'y'.repeat(7000)}\r\n`.repeat(6)}\r\n`],
  ['a request line of 100 KB', `GET @${'y'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['endless blank lines', '\r\n'.repeat(40_000)],
  ['a TLS greeting', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'],
  ['a method of 64 KB', `${'M'.repeat(65_536)} @ HTTP/1.1\r\nHost: a\r\n\r\n`],
];

/** A request that must never be served, at a URL that names its row. */
function smuggled(url: string): string {
  return `GET /smuggled${url} HTTP/1.1\r\nHost: a\r\n\r\n`;
}

describe('requests that are refused', () => {
  it('no Host', async () => {
    const url = path();
    const { conn, got } = await talk(`GET ${url} HTTP/1.1\r\nX: a\r\n\r\n`);
    conn.close();
    expect(got?.status).toBe(400);
    expect(origin.seen(url)).toEqual([]);
  });

  it.each(REFUSED.map((row) => [...row]))('%s', async (_name, text) => {
    const url = path();
    const before = origin.requests.length;
    const { conn, got } = await talk(`${text.replace('@', url)}${smuggled(url)}`);
    if (got !== null) {
      expect(got.status).toBe(400);
      expect(field(got, 'Connection')).toBe('close');
    }
    expect((await conn.rest()).toString('latin1')).toBe('');
    expect(origin.requests.slice(before).map((r) => r.url)).toEqual([]);
    conn.close();
  });

  it('an expectation nobody knows: 417, and the body is no request', async () => {
    const { conn, got } = await talk(
      'POST /x HTTP/1.1\r\nHost: a\r\nExpect: cake\r\nContent-Length: 40\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    expect(got?.status).toBe(417);
    expect(await conn.closedByPeer()).toBe(true);
    expect(origin.seen('/smuggled')).toEqual([]);
  });
});

/** Chunked bodies that break; the origin may see a cut upload but never a whole one. */
const BROKEN_UPLOADS: readonly (readonly [string, string])[] = [
  ['a sign', '+5\r\nhello\r\n0\r\n\r\n'],
  ['a negative size', '-5\r\nhello\r\n0\r\n\r\n'],
  ['a hex prefix', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['a leading blank', ' 5\r\nhello\r\n0\r\n\r\n'],
  ['a trailing blank', '5 \r\nhello\r\n0\r\n\r\n'],
  ['a letter beyond f', 'g\r\nhello\r\n0\r\n\r\n'],
  ['an empty size', '\r\nhello\r\n0\r\n\r\n'],
  ['an underscore', '1_0\r\nhellohellohello!\r\n0\r\n\r\n'],
  ['a bare LF after the size', '5\nhello\r\n0\r\n\r\n'],
  ['a size of 64 bits and more', '10000000000000005\r\nhello\r\n0\r\n\r\n'],
  ['more than 2^53', 'fffffffffffffff\r\nhello\r\n0\r\n\r\n'],
  ['many leading zeros', `${'0'.repeat(40)}5\r\nhello\r\n0\r\n\r\n`],
  ['a second chunk that is none', '5\r\nhello\r\nzz\r\n'],
  ['data longer than its size', '5\r\nhello!\r\n0\r\n\r\n'],
  ['data ended by LF', '5\r\nhello\n0\r\n\r\n'],
  ['an extension with a bare LF', '5;a\nb\r\nhello\r\n0\r\n\r\n'],
  ['an extension with NUL', '5;a\0\r\nhello\r\n0\r\n\r\n'],
  ['a CR in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
  ['endless extensions', `5;${'a'.repeat(6000)}\r\nhello\r\n0\r\n\r\n`],
  ['endless trailers', `5\r\nhello\r\n0\r\n${`T: ${LONG}\r\n`.repeat(60)}\r\n`],
  ['a trailer without colon', '5\r\nhello\r\n0\r\nnonsense\r\n\r\n'],
  ['a folded trailer', '5\r\nhello\r\n0\r\nT: a\r\n b\r\n\r\n'],
  ['a bare LF at the end', '5\r\nhello\r\n0\r\n\n'],
  ['an end of input after the data', '5\r\nhello\r\n'],
  ['an end of input inside the last chunk', '5\r\nhello\r\n0\r\n'],
];

describe('uploads that break', () => {
  it.each(BROKEN_UPLOADS.map((row) => [...row]))('%s', async (name, chunks) => {
    const url = path();
    const conn = await ClientConnection.open(proxy.port);
    conn.send(`POST ${url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
    if (name.startsWith('an end of input')) conn.finish();
    else conn.send(smuggled(url));
    const got = await conn.response().catch(() => null);
    if (got !== null) expect([400, 503]).toContain(got.status);
    expect((await conn.rest()).length).toBe(0);
    expect(origin.seen(url).filter((r) => r.complete)).toEqual([]);
    expect(origin.seen(`/smuggled${url}`)).toEqual([]);
  });

  it('a body short of its length', async () => {
    const url = path();
    const conn = await ClientConnection.open(proxy.port);
    conn.send(`POST ${url} HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nhello`);
    conn.finish();
    const got = await conn.response().catch(() => null);
    if (got !== null) expect([400, 503]).toContain(got.status);
    expect(origin.seen(url).filter((r) => r.complete)).toEqual([]);
  });

  it('a client that is gone midway', async () => {
    const url = path();
    const conn = await ClientConnection.open(proxy.port);
    conn.send(`POST ${url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`);
    await until('the upload has begun', () => origin.hasBegun(url));
    conn.reset();
    await until('the origin sees the cut', () => origin.seen(url).length > 0);
    expect(origin.seen(url)[0]?.complete).toBe(false);
  });
});

/** Uploads that are well formed; the origin gets exactly this body. */
const UPLOADS: readonly (readonly [string, string, string])[] = [
  ['an extension', '5;a=b\r\nhello\r\n0\r\n\r\n', 'hello'],
  ['a quoted extension', '5;a="q;\\"x"\r\nhello\r\n0\r\n\r\n', 'hello'],
  ['an upper-case size', 'A\r\n0123456789\r\n0\r\n\r\n', '0123456789'],
  ['a last chunk of many zeros', '5\r\nhello\r\n0000\r\n\r\n', 'hello'],
  ['a trailer that names a length', '5\r\nhello\r\n0\r\nContent-Length: 99\r\n\r\n', 'hello'],
  ['one byte a chunk', `${'1\r\nx\r\n'.repeat(300)}0\r\n\r\n`, 'x'.repeat(300)],
];

describe('uploads that are well formed', () => {
  it.each(UPLOADS.map((row) => [...row]))('%s', async (_name, chunks, body) => {
    const url = path();
    const { conn, got } = await talk(
      `POST ${url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}GET ${url}-next HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    expect(got?.status).toBe(200);
    expect((await conn.response()).body.toString()).toBe('fine\n');
    conn.close();
    const [seen] = origin.seen(url);
    expect(seen?.body.toString()).toBe(body);
    expect(seen?.head.match(/^(content-length|transfer-encoding):.*/gim)).toHaveLength(1);
    expect(seen?.head).not.toMatch(/99/);
  });
});

// ---- Rules 5, 6, 7, 10: what reaches the origin

describe('the forwarded head', () => {
  const lines = (url: string) => origin.seen(url).map((r) => r.head);

  it.each([
    ['an absolute target', (u: string) => `GET http://other${u} HTTP/1.1\r\nHost: a\r\n\r\n`, 'other'],
    [
      'one with a port and capitals',
      (u: string) => `GET HTTP://Other:80${u} HTTP/1.1\r\nHost: a\r\n\r\n`,
      'other:80',
    ],
    ['an absolute target in HTTP/1.0', (u: string) => `GET http://other${u} HTTP/1.0\r\n\r\n`, 'other'],
  ])('%s replaces Host', async (_name, make, host) => {
    const url = path();
    const { conn, got } = await talk(make(url));
    conn.close();
    expect(got?.status).toBe(200);
    expect(
      lines(url)[0]
        ?.match(/^host:.*/gim)
        ?.map((l) => l.trim().toLowerCase()),
    ).toEqual([`host: ${host}`]);
  });

  it('an absolute target without a path is the root, and its query stays', async () => {
    origin.on('/?root', respond('200 OK', {}, 'root'));
    const { conn, got } = await talk('GET http://other?root HTTP/1.1\r\nHost: a\r\n\r\n');
    conn.close();
    expect(got?.body.toString()).toBe('root');
  });

  it('the authority of the target is the key', async () => {
    const url = path();
    origin.on(url, (req) => respond('200 OK', FRESH, /^host: (.*?)\r$/im.exec(req.head)?.[1] ?? ''));
    const poison = await talk(`GET http://evil${url} HTTP/1.1\r\nHost: good\r\n\r\n`);
    poison.conn.close();
    const { conn, got } = await talk(`GET ${url} HTTP/1.1\r\nHost: good\r\n\r\n`);
    conn.close();
    expect(got?.body.toString()).toBe('good');
  });

  it.each(['Host', 'Content-Length', 'Transfer-Encoding', 'Cookie', 'X-Forwarded-For', 'Authorization'])(
    'Connection does not take %s away',
    async (name) => {
      const url = path();
      const { conn, got } = await talk(
        `POST ${url} HTTP/1.1\r\nHost: a\r\nConnection: ${name}\r\nContent-Length: 5\r\n\r\nhello`,
      );
      conn.close();
      expect(got?.status).toBe(400);
      expect(origin.seen(url)).toEqual([]);
    },
  );

  it('fields that Connection names, and an upgrade, end here', async () => {
    const url = path('/pass');
    const { conn, got } = await talk(
      `GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: X-A, Upgrade, HTTP2-Settings\r\nConnection: x-b\r\nX-A: 1\r\nX-B: 2\r\nX-C: 3\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nTE: trailers\r\nKeep-Alive: 5\r\n\r\n`,
    );
    conn.close();
    expect(got?.status).toBe(200);
    expect(lines(url)[0]).toContain('X-C: 3');
    expect(lines(url)[0]).not.toMatch(/^(x-a|x-b|upgrade|http2-settings|te|keep-alive):/im);
  });

  it('a cacheable fetch has neither range nor condition nor body', async () => {
    const url = path();
    const { conn, got } = await talk(
      `GET ${url} HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\nIf-None-Match: "x"\r\nIf-Modified-Since: Sat, 01 Jan 2022 00:00:00 GMT\r\nIf-Range: "x"\r\nContent-Length: 5\r\n\r\nhello`,
    );
    conn.close();
    expect(whole(got)).toBe(true);
    expect(lines(url)[0]).not.toMatch(/^(range|if-|content-length|transfer-encoding)/im);
    expect(origin.seen(url)[0]?.body.length).toBe(0);
  });

  it('HEAD does not leave an empty body for GET', async () => {
    const url = path();
    const { conn, got } = await talk(`HEAD ${url} HTTP/1.1\r\nHost: a\r\n\r\n`, 'HEAD');
    conn.close();
    expect(got?.status).toBe(200);
    expect((await get(url))?.body.toString()).toBe('fine\n');
    expect(origin.seen(url).map((r) => r.method)).toEqual(['GET']);
  });

  it('CONNECT opens no tunnel', async () => {
    const before = origin.requests.length;
    const { conn, got } = await talk(
      'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    expect(got === null || got.status >= 400).toBe(true);
    conn.close();
    expect(origin.requests.slice(before)).toEqual([]);
  });

  it('a pipe sends Connection: close to the origin, and closes its connection', async () => {
    const url = path();
    origin.on(url, [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi' }, { close: true }]);
    const { conn, got } = await talk(`BREW ${url} HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n`);
    expect(got?.body.toString()).toBe('hi');
    expect(await conn.closedByPeer()).toBe(true);
    expect(
      lines(url)[0]
        ?.match(/^connection:.*/gim)
        ?.map((l) => l.trim()),
    ).toEqual(['Connection: close']);
  });

  it('a pipe whose client has ended its side still brings the answer, and its end', async () => {
    const url = path();
    origin.on(url, [
      { wait: 30 },
      { send: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi' },
      { close: true },
    ]);
    const conn = await ClientConnection.open(proxy.port);
    conn.send(`BREW ${url} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`);
    conn.finish();
    expect((await conn.rest()).toString('latin1')).toMatch(/\r\n\r\nhi$/);
    expect(conn.error).toBeNull();
    conn.close();
  });
});

// ---- Rules 5, 12: unwanted bodies, half-closed clients, pipelines

describe('one connection, many requests', () => {
  const next = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';

  it.each([
    ['a hit', '/warm', 200],
    ['a synthetic answer', '/synth', 404],
  ])('a request body on %s is read past', async (_name, url, status) => {
    await get('/warm');
    const { conn, got } = await talk(
      `GET ${url} HTTP/1.1\r\nHost: a\r\nContent-Length: ${smuggled('').length}\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    expect(got?.status).toBe(status);
    conn.send(next);
    expect((await conn.response()).body.toString()).toBe('fine\n');
    conn.close();
    expect(origin.seen('/smuggled')).toEqual([]);
  });

  it('the end of such a body and the next request in one packet', async () => {
    await get('/warm');
    const { conn } = await talk('GET /warm HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel');
    conn.send(`lo${next}`);
    expect((await conn.response()).status).toBe(200);
    conn.close();
  });

  it('the same with chunks', async () => {
    await get('/warm');
    const { conn } = await talk(
      'GET /warm HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel',
    );
    conn.send(`\r\n0\r\n\r\n${next}${next}`);
    expect((await conn.response()).status).toBe(200);
    expect((await conn.response()).status).toBe(200);
    conn.close();
  });

  it('what a client sends after 100 Continue is the body it announced', async () => {
    await get('/warm');
    const body = smuggled('');
    const { conn, got } = await talk(
      `GET /warm HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    expect(got?.status).toBe(200);
    expect(got?.interim).toHaveLength(1);
    conn.send(`${body}GET /warm HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect((await conn.response()).status).toBe(200);
    expect((await conn.rest()).toString()).toBe('');
    expect(origin.seen('/smuggled')).toEqual([]);
  });

  it('100 Continue comes before the final answer where the body is wanted', async () => {
    const url = path();
    const conn = await ClientConnection.open(proxy.port);
    conn.send(`POST ${url} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`);
    await until('100 Continue', () => conn.pending > 0);
    conn.send('hello');
    const got = await conn.response();
    expect(got.interim).toHaveLength(1);
    expect(got.status).toBe(200);
    conn.close();
    expect(origin.seen(url)[0]?.body.toString()).toBe('hello');
    expect(origin.seen(url)[0]?.head).not.toMatch(/^expect/im);
  });

  it('a client that has ended its side gets all its answers', async () => {
    const urls = [path(), path(), path()];
    for (const url of urls) origin.on(url, [{ wait: 30 }, ...respond('200 OK', FRESH, url)]);
    const conn = await ClientConnection.open(proxy.port);
    conn.send(urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
    conn.finish();
    for (const url of urls) expect((await conn.response()).body.toString()).toBe(url);
    expect(await conn.closedByPeer()).toBe(true);
  });

  it('an upload whose client ended its side at once is whole', async () => {
    const url = path();
    const conn = await ClientConnection.open(proxy.port);
    conn.send(`POST ${url} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello`);
    conn.finish();
    expect((await conn.response()).status).toBe(200);
    expect(origin.seen(url)[0]?.body.toString()).toBe('hello');
  });

  it('thousands of pipelined requests with an empty body', async () => {
    await get('/warm');
    const count = 4000;
    const conn = await ClientConnection.open(proxy.port);
    conn.send('GET /warm HTTP/1.1\r\nHost:a\r\nContent-Length:0\r\n\r\n'.repeat(count));
    conn.finish();
    const all = (await conn.rest()).toString('latin1');
    expect(all.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(count);
  });

  it('an early answer to an upload closes the connection, and the rest is no request', async () => {
    const conn = await ClientConnection.open(proxy.port);
    conn.send('POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n');
    conn.send(smuggled('/early').repeat(100));
    const got = await conn.response();
    expect(got.status).toBe(413);
    expect(field(got, 'Connection')).toBe('close');
    conn.send(smuggled('/early').repeat(100));
    expect((await conn.rest()).length).toBe(0);
    expect(origin.seen('/smuggled/early')).toEqual([]);
  });

  it('a restarted request does not send an empty body for the one it has used up', async () => {
    const url = path('/again');
    const { conn, got } = await talk(
      `POST ${url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    );
    conn.close();
    expect(got?.status).toBe(503);
    expect(origin.seen(url).map((r) => r.body.toString())).toEqual(['hello']);
  });

  it('a response never has more bytes than its length says', async () => {
    const url = path('/shrink');
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    origin.on(url, [
      { send: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01' },
      { hold: gate },
      { send: '23456789' },
    ]);
    const conn = await ClientConnection.open(proxy.port);
    conn.send(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until('the head', () => conn.pending > 0);
    open();
    const got = await conn.response();
    expect(got.body.toString()).toBe('012');
    conn.send(next);
    const after = await conn.response().catch(() => null);
    expect(after === null || after.body.toString() === 'fine\n').toBe(true);
    conn.close();
  });
});

// ---- Rules 3, 4, 9: what an origin may not send

const packed = gzipSync(Buffer.from(`packed ${LONG}`.repeat(50)));
const badSum = Buffer.from(packed);
badSum.writeUInt32LE((badSum.readUInt32LE(badSum.length - 8) ^ 1) >>> 0, badSum.length - 8);
const GZ = 'Cache-Control: max-age=100\r\nContent-Encoding: gzip\r\n';
const ok = (rest: string): Action => ({ send: `HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\n${rest}` });
const CLOSE: Action = { close: true };

/** Responses that must not reach any client as complete, and never the cache. */
const BROKEN_ANSWERS: readonly (readonly [string, Reply])[] = [
  ['two digits of status', [{ send: 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['four digits of status', [{ send: 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['a status of letters', [{ send: 'HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['a signed status', [{ send: 'HTTP/1.1 +20 OK\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['no status', [{ send: 'HTTP/1.1\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['another protocol', [{ send: 'ICY 200 OK\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['HTTP/2', [{ send: 'HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['a lower-case version', [{ send: 'http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['two blanks', [{ send: 'HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['a status below 100', [{ send: 'HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n' }, CLOSE]],
  ['lengths that differ', [ok('Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc'), CLOSE]],
  ['a list of lengths', [ok('Content-Length: 2, 3\r\n\r\nabc'), CLOSE]],
  ['a negative length', [ok('Content-Length: -1\r\n\r\nabc'), CLOSE]],
  ['an overflowing length', [ok('Content-Length: 99999999999999999999\r\n\r\nabc'), CLOSE]],
  [
    'length and coding',
    [ok('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'), CLOSE],
  ],
  ['an unknown coding', [ok('Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'), CLOSE]],
  ['chunked twice', [ok('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'), CLOSE]],
  [
    'chunked in HTTP/1.0, broken off',
    [{ send: 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n' }, CLOSE],
  ],
  [
    'an unasked 101',
    [{ send: 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' }],
  ],
  ['an unasked 304', [{ send: 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n' }]],
  ['a flood of 100s', [{ send: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3000) }, CLOSE]],
  ['an endless head', [{ send: `HTTP/1.1 200 OK\r\n${`X: ${'y'.repeat(7000)}\r\n`.repeat(30)}` }, CLOSE]],
  ['too many fields', [ok(`${'X: y\r\n'.repeat(90)}Content-Length: 0\r\n\r\n`), CLOSE]],
  ['NUL in a field', [ok('X: a\0b\r\nContent-Length: 0\r\n\r\n'), CLOSE]],
  ['a folded length', [ok('Content-Length: 0\r\n 4\r\n\r\n'), CLOSE]],
  ['a bare CR', [ok('X: a\rContent-Length: 4\r\nContent-Length: 0\r\n\r\n'), CLOSE]],
  ['a blank before the colon', [ok('Content-Length : 4\r\nContent-Length: 0\r\n\r\n'), CLOSE]],
  ['nothing at all', [CLOSE]],
  ['a reset for an answer', [{ reset: true }]],
  ['half a head', [{ send: 'HTTP/1.1 200 OK\r\nContent-Le' }, CLOSE]],
  ['garbage', [{ send: Buffer.from(packed) }, CLOSE]],
  ['a body short of its length', [ok('Content-Length: 10\r\n\r\nabc'), CLOSE]],
  ['a body reset midway', [ok('Content-Length: 10\r\n\r\nabc'), { wait: 20 }, { reset: true }]],
  ['a reset where the end ends the body', [ok('\r\nabc'), { wait: 20 }, { reset: true }]],
  ['chunks without a last one', [ok('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'), CLOSE]],
  ['a last chunk without its blank line', [ok('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n'), CLOSE]],
  ['a size that is none', [ok('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nxyz\r\n'), CLOSE]],
  ['a size with a leading blank', [ok('Transfer-Encoding: chunked\r\n\r\n 3\r\nabc\r\n0\r\n\r\n'), CLOSE]],
  [
    'an overflowing size',
    [ok('Transfer-Encoding: chunked\r\n\r\n10000000000000003\r\nabc\r\n0\r\n\r\n'), CLOSE],
  ],
  ['data longer than its size', [ok('Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n'), CLOSE]],
  [
    'endless extensions',
    [ok(`Transfer-Encoding: chunked\r\n\r\n3;${'e'.repeat(9000)}\r\nabc\r\n0\r\n\r\n`), CLOSE],
  ],
  [
    'endless trailers',
    [ok(`Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n${`T: ${LONG}\r\n`.repeat(90)}\r\n`), CLOSE],
  ],
  ['gzip that is none', [ok(`${GZ}Content-Length: 9\r\n\r\nnot gzip!`)]],
  [
    'gzip cut short',
    respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, packed.subarray(0, packed.length - 12)),
  ],
  ['gzip with a wrong sum', respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, badSum)],
  [
    'gzip with bytes behind it',
    respond(
      '200 OK',
      { ...FRESH, 'Content-Encoding': 'gzip' },
      Buffer.concat([packed, Buffer.from('surplus')]),
    ),
  ],
  [
    'gzip with late bytes behind it',
    [
      {
        send: Buffer.concat([
          Buffer.from(`HTTP/1.1 200 OK\r\n${GZ}Content-Length: ${packed.length + 7}\r\n\r\n`),
          packed,
        ]),
      },
      { wait: 40 },
      { send: 'surplus' },
    ],
  ],
];

describe('answers that are refused or cut', () => {
  it.each(BROKEN_ANSWERS.map((row) => [...row] as const))('%s', async (_name, reply) => {
    const url = path();
    origin.on(url, reply);
    const [first, beside] = await Promise.all([get(url), get(url)]);
    expect(whole(first)).toBe(false);
    expect(whole(beside)).toBe(false);
    const before = origin.seen(url).length;
    expect(before).toBeGreaterThan(0);
    expect(whole(await get(url))).toBe(false);
    expect(origin.seen(url).length).toBeGreaterThan(before);
  });

  it('an HTTP/1.0 client sees a cut body as a reset, not as an end', async () => {
    const url = path('/pass');
    origin.on(url, [
      { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n' },
      { wait: 50 },
      CLOSE,
    ]);
    const { conn, got } = await talk(`GET ${url} HTTP/1.0\r\nHost: a\r\n\r\n`);
    expect(got?.framing).toBe('eof');
    expect(got?.complete).toBe(false);
    conn.close();
  });

  it.each([
    ['that is none', 'gzip no more'],
    ['cut short', packed.subarray(0, packed.length - 12)],
  ])(
    'gzip %s that came with its head is an error to the client, also where it is streamed',
    async (_, body) => {
      for (const kind of ['/r', '/pass']) {
        const url = path(kind);
        origin.on(url, respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, body));
        const { conn, got } = await talk(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`);
        expect(got?.status).toBe(503);
        expect(got?.complete).toBe(true);
        conn.close();
      }
    },
  );

  it('corrupt gzip is no whole body for a client that does not take gzip', async () => {
    for (const kind of ['/unzip', '/plain']) {
      const url = path(kind);
      origin.on(url, respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, badSum));
      expect(whole(await get(url))).toBe(false);
      expect(whole(await get(url, 'Accept-Encoding: gzip\r\n'))).toBe(false);
    }
  });
});

describe('answers that stand', () => {
  const STANDING: readonly (readonly [string, Reply, string])[] = [
    [
      'interim answers before the final one',
      [
        { send: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n' },
        ok('Content-Length: 4\r\n\r\nbody'),
      ],
      'body',
    ],
    ['no reason', [{ send: 'HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nbody' }], 'body'],
    ['lines that end in LF', [{ send: 'HTTP/1.1 200 OK\nX: a\nContent-Length: 4\n\nbody' }], 'body'],
    ['a folded header', [ok('X: a\r\n b\r\nContent-Length: 4\r\n\r\nbody')], 'body'],
    ['equal lengths', [ok('Content-Length: 4\r\ncontent-length: 4, 4\r\n\r\nbody')], 'body'],
    [
      'blanks and LF in chunks',
      [ok('Transfer-Encoding: chunked\r\n\r\n2 \r\nbo\n2\ndy\r\n0\nT: x\n\n')],
      'body',
    ],
    [
      'chunks of HTTP/1.0',
      [
        {
          send: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n',
        },
      ],
      'body',
    ],
    ['an end that ends the body', [ok('\r\nbody'), CLOSE], 'body'],
    [
      'extensions and trailers',
      [ok('Transfer-Encoding: chunked\r\n\r\n4;x="y"\r\nbody\r\n0\r\nContent-Length: 99\r\n\r\n')],
      'body',
    ],
    [
      'Content-Range of an odd unit',
      [ok('Content-Range: pages 1-2/*\r\nContent-Length: 4\r\n\r\nbody')],
      'body',
    ],
    ['a Vary of commas', [ok('Vary: , ,,\r\nContent-Length: 4\r\n\r\nbody')], 'body'],
    ['a Vary that is no token', [ok('Vary: a b(\r\nContent-Length: 4\r\n\r\nbody')], 'body'],
    [
      'a very long Vary',
      [ok(`Vary: ${Array.from({ length: 900 }, (_, i) => `x${i}`).join()}\r\nContent-Length: 4\r\n\r\nbody`)],
      'body',
    ],
    [
      'dates out of range',
      [
        ok(
          'Date: Foo, 99 Bar 0000 99:99:99 GMT\r\nExpires: 99999999999999999999\r\nAge: -5\r\nLast-Modified: 0\r\nContent-Length: 4\r\n\r\nbody',
        ),
      ],
      'body',
    ],
    [
      'odd Cache-Control',
      [ok('Cache-Control: max-age=99999999999999999999, s-maxage="x", ,=\r\nContent-Length: 4\r\n\r\nbody')],
      'body',
    ],
    [
      'an empty gzip body of unknown length',
      [{ send: `HTTP/1.1 200 OK\r\n${GZ}Content-Length: 0\r\n\r\n` }],
      '',
    ],
  ];
  it.each(STANDING.map((row) => [...row] as const))('%s', async (_name, reply, body) => {
    const url = path();
    origin.on(url, reply);
    const got = await get(url);
    expect(got?.status).toBe(200);
    expect(got?.complete).toBe(true);
    expect(got?.body.toString()).toBe(body);
    expect(got?.head).not.toContain('Content-Length: 99');
  });

  it.each([
    ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n'],
    ['no body', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ])('bytes after %s are the answer to no request', async (_name, answer) => {
    const url = path('/pass');
    origin.on(url, [{ send: `${answer}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison` }]);
    expect((await get(url))?.status).toBeLessThan(300);
    for (let i = 0; i < 3; i++) expect((await get(path('/pass')))?.body.toString()).toBe('fine\n');
  });

  it('a body after the response to HEAD is no response to anyone', async () => {
    const url = path('/pass');
    origin.on(url, [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison' }]);
    const { conn, got } = await talk(`HEAD ${url} HTTP/1.1\r\nHost: a\r\n\r\n`, 'HEAD');
    conn.close();
    expect(got?.status).toBe(200);
    expect((await get(path('/pass')))?.body.toString()).toBe('fine\n');
  });

  it('bytes that come while the connection is idle answer nobody', async () => {
    await origin.endIdle();
    const url = path('/pass');
    const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
    origin.on(url, [...respond('200 OK', {}, 'first'), { wait: 20 }, { send: poison }]);
    expect((await get(url))?.body.toString()).toBe('first');
    await until('the connection is closed', () => origin.openConnections === 0);
    expect((await get(path('/pass')))?.body.toString()).toBe('fine\n');
  });
});

// ---- Rule 8: private responses

describe('what is not shared', () => {
  const PRIVATE: readonly (readonly [string, string, string])[] = [
    ['private on a second line', 'Cache-Control: max-age=100\r\nCache-Control: private\r\n', ''],
    ['no-store in capitals', 'Cache-Control: max-age=100, NO-STORE\r\n', ''],
    ['no-cache', 'Cache-Control: no-cache, max-age=100\r\n', ''],
    ['Set-Cookie', 'Cache-Control: max-age=100\r\nSet-Cookie: a=b\r\n', ''],
    ['an asterisk in a Vary list', 'Cache-Control: max-age=100\r\nVary: Accept, *\r\n', ''],
    ['an asterisk on a second Vary line', 'Cache-Control: max-age=100\r\nVary: Accept\r\nVary: *\r\n', ''],
    ['Expires of 0', 'Expires: 0\r\n', ''],
    ['Expires in the past', 'Expires: Sat, 01 Jan 2000 00:00:00 GMT\r\n', ''],
    ['max-age of 0', 'Cache-Control: max-age=0\r\n', ''],
    ['s-maxage of 0 beside a max-age', 'Cache-Control: max-age=100, s-maxage=0\r\n', ''],
    ['an Age beyond the max-age', 'Cache-Control: max-age=10\r\nAge: 50\r\n', ''],
    ['Authorization', 'Cache-Control: max-age=100\r\n', 'Authorization: Basic eDp5\r\n'],
    ['a cookie in the request', 'Cache-Control: max-age=100\r\n', 'Cookie: a=b\r\n'],
  ];
  it.each(PRIVATE.map((row) => [...row]))('%s', async (_name, answer, ask) => {
    const url = path();
    origin.on(url, [{ send: `HTTP/1.1 200 OK\r\n${answer}Content-Length: 4\r\n\r\nbody` }]);
    for (let i = 1; i <= 3; i++) {
      expect((await get(url, ask))?.body.toString()).toBe('body');
      expect(origin.seen(url)).toHaveLength(i);
    }
  });

  it.each(['500 Oops', '503 Down', '206 Partial', '302 Found', '403 Forbidden'])(
    '%s without freshness',
    async (status) => {
      const url = path();
      origin.on(url, respond(status, {}, 'body'));
      for (let i = 1; i <= 2; i++) {
        expect((await get(url))?.status).toBe(Number(status.slice(0, 3)));
        expect(origin.seen(url)).toHaveLength(i);
      }
    },
  );
});

// ---- Rules 11, 13, 14

describe('many at a time', () => {
  it('waiters for a fetch that fails are all answered', async () => {
    const url = path();
    origin.on(url, [{ wait: 200 }, { reset: true }]);
    const all = await Promise.all(Array.from({ length: 60 }, () => get(url)));
    expect(all.map((got) => got?.status)).toEqual(Array.from({ length: 60 }, () => 503));
  });

  it('waiters for a body that fails never get a whole one', async () => {
    const url = path();
    origin.on(url, [ok('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'), { wait: 100 }, CLOSE]);
    const all = await Promise.all(Array.from({ length: 60 }, () => get(url)));
    expect(all.filter(whole)).toEqual([]);
  });

  it('a kept connection that the origin has closed is replaced; an upload is sent once', async () => {
    const url = path('/pass');
    await get(url);
    await origin.endIdle();
    expect((await get(url))?.status).toBe(200);
    const post = path();
    origin.on(post, [CLOSE]);
    const { conn, got } = await talk(`POST ${post} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi`);
    conn.close();
    expect(got?.status).toBe(503);
    expect(origin.seen(post)).toHaveLength(1);
  });

  it('a retry after a 304 takes the new body, not the stale one', async () => {
    const url = path('/twice');
    origin.on(url, (_request, n) => {
      if (n === 2) return respond('304 Not Modified', { ETag: '"x"' });
      return respond(
        '200 OK',
        { 'Cache-Control': `max-age=${n === 1 ? 1 : 100}`, ETag: '"x"' },
        n === 1 ? 'old' : 'new',
      );
    });
    expect((await get(url))?.body.toString()).toBe('old');
    await until('the new body', async () => (await get(url))?.body.toString() === 'new');
    expect(origin.seen(url)).toHaveLength(3);
  });

  it('a client that asks and does not read costs little memory', async () => {
    const url = path();
    origin.on(url, respond('200 OK', FRESH, Buffer.alloc(60_000, 'x')));
    await get(url);
    const readRss = () => rssOf(proxy.workerPid() as number);
    const before = readRss();
    const slow = await ClientConnection.open(proxy.port);
    slow.pause();
    slow.send(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(3000));
    await until('the first answers are there', () => readRss() > 0);
    for (let i = 0; i < 20; i++) expect((await get(url))?.status).toBe(200);
    expect(readRss() - before).toBeLessThan(60 * 1024 * 1024);
    slow.close();
  });

  it('a gzip bomb stays small', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024), { level: 1 });
    const url = path();
    origin.on(url, respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, bomb));
    const unzip = path('/unzip/pass');
    origin.on(unzip, respond('200 OK', { 'Cache-Control': 'private', 'Content-Encoding': 'gzip' }, bomb));
    const before = rssOf(proxy.workerPid() as number);
    const slow: ClientConnection[] = [];
    for (const each of [url, unzip]) {
      const conn = await ClientConnection.open(proxy.port);
      conn.pause();
      conn.send(`GET ${each} HTTP/1.1\r\nHost: a\r\n\r\n`);
      slow.push(conn);
    }
    await until('both are asked for', () => origin.seen(url).length > 0 && origin.seen(unzip).length > 0);
    for (let i = 0; i < 50; i++) expect((await get(path()))?.status).toBe(200);
    expect(rssOf(proxy.workerPid() as number) - before).toBeLessThan(80 * 1024 * 1024);
    for (const conn of slow) conn.close();
  });

  it('a slow reader gets all of a large body, packed or not', async () => {
    const size = 12_000_000;
    const text = Buffer.alloc(size);
    for (let i = 0; i < size; i++) text[i] = (i * 7919) & 255;
    const zipped = path();
    const flat = path();
    origin.on(zipped, respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, gzipSync(text)));
    origin.on(flat, respond('200 OK', FRESH, text));
    for (const url of [zipped, flat]) {
      expect((await get(url))?.body.equals(text)).toBe(true);
      const conn = await ClientConnection.open(proxy.port);
      conn.send(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`);
      for (let i = 0; i < 12; i++) {
        conn.pause();
        await new Promise((resolve) => setTimeout(resolve, 25));
        conn.resume();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const got = await conn.response();
      expect(got.body.equals(text)).toBe(true);
      conn.close();
    }
  });
});

describe('afterwards', () => {
  it('the worker is the one that was started and nothing of it was smuggled', async () => {
    expect(proxy.workerPid()).toBe(worker);
    expect((await proxy.adm('panic.show')).code).not.toBe(0);
    expect(origin.requests.filter((r) => r.url.startsWith('/smuggled'))).toEqual([]);
    expect((await get('/warm'))?.status).toBe(200);
  });

  it('no connection of an origin is left in use, and no program', async () => {
    await until('all given back', async () => {
      const counters = await proxy.counters();
      const name = Object.keys(counters).find((each) => /^VBE\..*\.conn$/.test(each));
      return name !== undefined && counters[name] === 0;
    });
  });
});
