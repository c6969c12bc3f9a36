// Every reason for which a request of HTTP/1 is refused, over sockets: its words in the log, its counter alone, and the answer.
// And what feature lenient_lf and old forms of answers change.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REFUSALS, type RefusalRow } from '../../protocol/tables/refusals.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy, workerThreads } from '../harness/proxy.ts';
import { exchange } from '../harness/raw-exchange.ts';

const box = new Sandbox('proxyd-refusals');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'fine'));
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      'sub vcl_recv { if (req.url == "/any") { return (hash); } if (req.method == "CONNECT") { return (pipe); } }',
    ),
    args: ['-a', `pp=${box.dir}/pp.sock,PROXY`],
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const HOST = 'Host: a\r\n';
const POST = `POST / HTTP/1.1\r\n${HOST}`;
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;

/** By the name of the reason: what is sent, and the place that the log names. */
const REQUESTS: Readonly<Record<string, readonly [bytes: string, place: string]>> = {
  preamble: ['GET / HTTP/1.1\r\n\r\n', ''],
  tls: ['\x16\x03\x01\r\n\r\n', ''],
  start_line: ['\x01\r\n\r\n', ', byte 0x01 in line 1'],
  method: [`G[T / HTTP/1.1\r\n${HOST}\r\n`, ', byte 0x5b in line 1'],
  target: [`GET /a\x01 HTTP/1.1\r\n${HOST}\r\n`, ', byte 0x01 in line 1'],
  version: [`GET / HTTP/1.2\r\n${HOST}\r\n`, ', byte 0x48 in line 1'],
  start_line_end: [`GET / HTTP/1.1\nHost: a\n\n`, ', byte 0x0a in line 1'],
  name_empty: [`GET / HTTP/1.1\r\n${HOST}: x\r\n\r\n`, ', byte 0x3a in line 3'],
  name_blank: [`GET / HTTP/1.1\r\n${HOST}X y: x\r\n\r\n`, ', byte 0x20 in line 3 (header X)'],
  name_token: [`\r\n\r\nGET / HTTP/1.1\r\n${HOST}X(y: x\r\n\r\n`, ', byte 0x28 in line 3 (header X)'],
  colon_missing: [`GET / HTTP/1.1\r\n${HOST}X\r\n\r\n`, ', byte 0x0d in line 3 (header X)'],
  fold: [`GET / HTTP/1.1\r\n${HOST} x\r\n\r\n`, ', byte 0x20 in line 3'],
  bare_lf: [`GET / HTTP/1.1\r\nHost: a\n\r\n`, ', byte 0x0a in line 2 (header Host)'],
  bare_cr: [`GET / HTTP/1.1\r\n${HOST}X: a\rb\r\n\r\n`, ', byte 0x0d in line 3 (header X)'],
  value_control: [`GET / HTTP/1.1\r\n${HOST}X: \0\r\n\r\n`, ', byte 0x00 in line 3 (header X)'],
  line_long: [`GET / HTTP/1.1\r\n${HOST}X: ${'x'.repeat(9000)}\r\n\r\n`, ', line 3 (header X)'],
  fields_many: [`GET / HTTP/1.1\r\n${HOST}${'X: y\r\n'.repeat(70)}\r\n`, ', line 61 (header X)'],
  overflow: [
    `GET / HTTP/1.1\r\n${HOST}${`X: ${'x'.repeat(4000)}\r\n`.repeat(10)}\r\n`,
    ', more than 32768 bytes',
  ],
  fold_first: [`GET / HTTP/1.1\r\n ${HOST}\r\n`, ', byte 0x20 in line 2'],
  length_conflict: [
    `${POST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`,
    ', "Content-Length: 1" and "Content-Length: 2"',
  ],
  length_invalid: [`${POST}Content-Length: 1, 1\r\n\r\nx`, ', "Content-Length: 1, 1"'],
  length_and_coding: [
    `${POST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ', "Content-Length: 1" and "Transfer-Encoding: chunked"',
  ],
  coding_unknown: [`${POST}Transfer-Encoding: gzip\r\n\r\n`, ', "Transfer-Encoding: gzip"'],
  coding_http10: [
    `POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ', "Transfer-Encoding: chunked"',
  ],
  upload_unbounded: ['POST / HTTP/1.0\r\n\r\nx', ', POST'],
  expectation: [`GET / HTTP/1.1\r\n${HOST}Expect: tea\r\n\r\n`, ', "Expect: tea"'],
  host_missing: ['GET /any HTTP/1.1\r\nConnection: close\r\n\r\n', ''],
  host_many: [`GET / HTTP/1.1\r\n${HOST}Host: b\r\n\r\n`, ', "Host: b"'],
  host_invalid: ['GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', ', "Host: a/b"'],
  target_invalid: [`GET x HTTP/1.1\r\n${HOST}\r\n`, ', "x"'],
  connection_names: [
    `GET / HTTP/1.1\r\n${HOST}Connection: close, Host\r\n\r\n`,
    ', "Connection: close, Host"',
  ],
  connect: [`CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, ''],
  http2: ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ''],
  chunk_size: [`${CHUNKED}2 \r\nhi\r\n0\r\n\r\n`, ', byte 0x20 after 0 bytes of data'],
  chunk_size_overflow: [`${CHUNKED}ffffffffffffffff\r\n`, ', byte 0x66 after 0 bytes of data'],
  chunk_extension: [`${CHUNKED}2;\0\r\nhi\r\n0\r\n\r\n`, ', byte 0x00 after 0 bytes of data'],
  chunk_line_end: [`${CHUNKED}2\rhi`, ', byte 0x68 after 0 bytes of data'],
  chunk_data_end: [`${CHUNKED}2\r\nhi\n0\r\n\r\n`, ', byte 0x0a after 2 bytes of data'],
  trailer: [`${CHUNKED}0\r\nX\r\n\r\n`, ', byte 0x0d after 0 bytes of data'],
  chunk_too_long: [`${CHUNKED}2;${'x'.repeat(5000)}\r\nhi\r\n0\r\n\r\n`, ', byte 0x78 after 0 bytes of data'],
};

const OF_REQUESTS: readonly RefusalRow[] = (REFUSALS as readonly RefusalRow[]).filter(
  (row) => row.answersOnly !== true && row.http2Only !== true,
);

/** The counters of refusals that are not at zero. */
async function refused(): Promise<Record<string, number>> {
  const counters = await proxy.counters();
  return Object.fromEntries(
    Object.entries(counters).filter(([name, n]) => name.includes('.refused_') && n > 0),
  );
}

describe('every refusal', () => {
  const expected: Record<string, number> = {};

  it('has a request here', () => {
    expect(Object.keys(REQUESTS)).toEqual(OF_REQUESTS.map((row) => row.name));
  });

  it.each(OF_REQUESTS)('$name has its words, its counter and an end', async ({ name, text }) => {
    const [bytes, place] = REQUESTS[name] ?? ['', ''];
    const at = name === 'preamble' ? { path: `${box.dir}/pp.sock` } : { port: proxy.port };
    const answer = await exchange(at, bytes);
    const quiet = name === 'preamble' || name === 'overflow';
    expect(answer).toMatch(quiet ? /^$/ : /^HTTP\/1\.1 (400|405|417|503) /);
    const words = `${text}${place}`;
    const log = await until('the record', async () => {
      const found = (await proxy.log('-g', 'raw', '-i', 'Error')).split('\n').filter((l) => l.includes(text));
      return found.length > 0 ? found : null;
    });
    expect(log.length).toBe(1);
    expect(log[0]).toMatch(/ (connection|request|request body) refused: /);
    expect(log[0]?.endsWith(` refused: ${words}`), log[0]).toBe(true);
    const counter = `MAIN.refused_${name}`;
    expected[counter] = 1;
    let now: Record<string, number> = {};
    await until('the counter', async () => {
      now = await refused();
      return counter in now;
    });
    expect(now).toEqual(expected);
  });
});

describe('feature lenient_lf', () => {
  const TYPED = 'GET /typed HTTP/1.1\nHost: a\nConnection: close\n\n';

  it('takes LF for a line end while it is on, and sends what it read with CR LF', async () => {
    expect(await exchange({ port: proxy.port }, TYPED)).toMatch(/^HTTP\/1\.1 400 /);
    await proxy.adm('param.set', 'feature', '+lenient_lf');
    expect(await exchange({ port: proxy.port }, TYPED)).toMatch(/^HTTP\/1\.1 200 /);
    expect(origin.seen('/typed')[0]?.head).toMatch(/^GET \/typed HTTP\/1\.1\r\nHost: a\r\n/);
    expect(origin.seen('/typed')[0]?.head.replaceAll('\r\n', '')).not.toContain('\n');
    const words = 'Request read leniently: LF without CR ends line 1 (and 3 more)';
    await proxy.logged(words, '-g', 'raw', '-i', 'Notice');
    expect((await proxy.counters())['MAIN.client_req_lenient']).toBe(1);
  });

  it('takes two requests and a body in one packet, and leaves chunks strict', async () => {
    const post = 'POST /typed HTTP/1.1\nHost: a\nContent-Length: 2\n\n\n\n';
    const got = await exchange({ port: proxy.port }, `${post}${TYPED}`);
    expect(got.match(/HTTP\/1\.1 200 /g)?.length).toBe(2);
    expect(
      origin
        .seen('/typed')
        .find((r) => r.head.startsWith('POST'))
        ?.body.toString(),
    ).toBe('\n\n');
    const chunks = 'POST /typed HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n2\nhi\n0\n\n';
    expect(await exchange({ port: proxy.port }, chunks)).toMatch(/^HTTP\/1\.1 503 /);
    expect(await exchange({ port: proxy.port }, 'GET / HTTP/1.1\nHost: a\nX: y\n z\n\n')).toMatch(/ 400 /);
    await proxy.adm('param.set', 'feature', '-lenient_lf');
    expect(await exchange({ port: proxy.port }, TYPED)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('an answer in an old form', () => {
  it('closes its connection where it is chunked in HTTP/1.0, whatever the origin says', async () => {
    const head = 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nCache-Control: no-store\r\n';
    const chunks = [{ send: `${head}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n` }];
    const length = [{ send: `${head}Content-Length: 2\r\n\r\nhi` }];
    origin.on('/chunks', chunks).on('/length', length);
    const ask = `GET @ HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
    const connections = async (url: string): Promise<Set<number>> => {
      for (let i = 0; i < 3; i++)
        expect(await exchange({ port: proxy.port }, ask.replace('@', url))).toContain(' 200 OK');
      return new Set(origin.seen(url).map((r) => r.connection));
    };
    expect((await connections('/chunks')).size).toBe(3);
    // Each thread keeps connections of its own.
    expect((await connections('/length')).size).toBeLessThanOrEqual(workerThreads());
  });

  it('is counted once, whatever there is of it, and a clean one is not', async () => {
    const lenient = async (): Promise<number> => (await proxy.counters())['MAIN.beresp_lenient'] ?? 0;
    const before = await lenient();
    const get = (url: string): Promise<string> =>
      exchange({ port: proxy.port }, `GET ${url} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
    expect(await get('/clean')).toMatch(/^HTTP\/1\.1 200 /);
    origin.on('/old', [
      { send: 'HTTP/1.1 200 OK\nX: a\r\n\tb\nTransfer-Encoding: chunked\n\n2 \nhi\n' },
      { wait: 20 },
      { send: '0\n\n' },
    ]);
    const answer = await get('/old');
    expect(answer).toContain('\r\nX: a b\r\n');
    expect(answer.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    await until('the counter', async () => (await lenient()) === before + 1);
    const log = await proxy.logged('response read leniently: LF', '-g', 'raw', '-i', 'Notice');
    expect(log.split('\n').filter((l) => l.includes('response read leniently: LF'))).toHaveLength(1);
    expect(log).toContain(
      "LF without CR ends line 1 (and 3 more), continuation line joined to line 2 (header X), blank after the size of a chunk, LF without CR ends a chunk's size (and 2 more), LF without CR ends the trailers",
    );
  });
});
