// Connections that break, on either side, while a body is on its way: what is logged of them must be what Varnish logs,
// with the number and the text of the system's error.
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const answers = recording('broken-connections');

const FRAMES: Readonly<Record<string, [field: string, bytes: string]>> = {
  length: ['Content-Length: 10', 'hello'],
  'length-alone': ['Content-Length: 10', ''],
  chunks: ['Transfer-Encoding: chunked', '5\r\nhello\r\n'],
  'inside-a-chunk': ['Transfer-Encoding: chunked', '9\r\nhello'],
};
/** Behaviour of a client that has sent part of its body. */
const ENDS: Readonly<Record<string, (socket: Socket) => void>> = {
  ends: (socket) => socket.end(),
  resets: (socket) => socket.resetAndDestroy(),
  'falls-silent': () => {},
};
const UPLOADS = ['pass', 'cached', 'synth'].flatMap((way) =>
  Object.keys(FRAMES).flatMap((frame) => Object.keys(ENDS).map((end) => `/${way}/${frame}/${end}`)),
);
/** Many times the kernel's buffers of a connection. */
const BIG = 'x'.repeat(30_000_000);
const LARGE = ['/large/length', '/large/chunks'];
/** Seconds a daemon waits for more of a body: longer than a busy machine takes to send 30 MB, or to see a connection end. */
const IDLE = '3';
const PROGRAM = `vcl 4.1;
import std;
backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
backend breaks { .host = "127.0.0.1"; .port = "@BREAKS@"; }
sub vcl_recv {
  if (req.url ~ "^/synth") { return (synth(200)); }
  if (req.url ~ "^/cached" && !std.cache_req_body(1MB)) { std.log("not cached"); }
  if (req.url ~ "^/large") { set req.backend_hint = breaks; }
  return (pass);
}
`;

/** Resets each connection when it has begun to receive a body. */
async function breaking(): Promise<Server> {
  const server = createServer((socket) => {
    let head = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      head = (head + bytes.toString('latin1')).slice(0, 4096);
      if (/\r\n\r\n[\s\S]*xxxx/.test(head)) socket.resetAndDestroy();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return server;
}

/** Sends the head, then, once the product has it, what there is of the body, and ends. */
async function upload(proxy: RunningProxy, url: string): Promise<void> {
  const [, , frame = '', end = ''] = url.split('/');
  const [field, bytes] = FRAMES[frame] as [string, string];
  await new Promise<void>((done) => {
    const socket = dial(proxy.port, '127.0.0.1', () => {
      socket.write(`POST ${url} HTTP/1.1\r\nHost: a\r\n${field}\r\n\r\n${bytes}`, () =>
        setTimeout(() => (ENDS[end] as (socket: Socket) => void)(socket), 50),
      );
    });
    socket.on('data', () => {});
    socket.on('end', () => socket.end());
    socket.on('error', () => {});
    socket.on('close', () => done());
  });
}

async function large(proxy: RunningProxy, url: string): Promise<void> {
  const chunked = url.endsWith('chunks');
  const field = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${BIG.length}`;
  await new Promise<void>((done) => {
    const socket = dial(proxy.port, '127.0.0.1', () => {
      socket.write(`POST ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${field}\r\n\r\n`);
      socket.write(chunked ? `${BIG.length.toString(16)}\r\n${BIG}\r\n0\r\n\r\n` : BIG);
    });
    socket.on('data', () => {});
    socket.on('error', () => {});
    socket.on('close', () => done());
  });
}

/** The errors of each URL, in the order of the log, the request's before its fetch's. */
function errorsOf(log: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const group of log.split(/\n\n/)) {
    const url = /ReqURL +(\S+)/.exec(group)?.[1] ?? '';
    const lines = [...group.matchAll(/^-+ +(?:FetchError|VCL_Log|BackendClose) +(.*)$/gm)];
    found.set(
      url,
      lines.map((m) => (m[1] ?? '').replace(/^\d+ /, '')),
    );
  }
  return found;
}

describe('what is logged when', () => {
  const box = new Sandbox('proxyd-broken');
  let reference: Reference<string[]>;
  let ours: Answers<string[]>;

  async function play(product: Product, origin: Origin, breaks: number): Promise<Answers<string[]>> {
    const program = PROGRAM.replace('@ORIGIN@', String(origin.port)).replace('@BREAKS@', String(breaks));
    const proxy = await startProxy(box, { product, program, params: { timeout_idle: IDLE } });
    for (const url of UPLOADS) await upload(proxy, url);
    for (const url of LARGE) await large(proxy, url);
    const seen = await until('the whole log', async () => {
      const errors = errorsOf(await proxy.log('-g', 'request'));
      return errors.size >= UPLOADS.length + LARGE.length ? errors : null;
    });
    await proxy.stop();
    return seen;
  }

  beforeAll(async () => {
    const origin = await Origin.start();
    origin.on('*', respond('200 OK', {}, 'ok'));
    const breaks = await breaking();
    const at = (breaks.address() as { port: number }).port;
    const inputs = inputsOf(PROGRAM, [...UPLOADS, ...LARGE]);
    [reference, ours] = await answers.both(inputs, (product) => play(product, origin, at));
    await origin.close();
    breaks.close();
  });
  afterAll(() => box.dispose());

  it.each(UPLOADS)('a client breaks off: %s', (url) => {
    const theirs = reference.get(url);
    expect(theirs.length).toBeGreaterThan(0);
    expect(ours.get(url)).toEqual(theirs);
  });

  it.each(LARGE)('an origin breaks off: %s', (url) => {
    const theirs = reference.get(url);
    expect(theirs[0]).toBe('req.body read error: 104 (Connection reset by peer)');
    expect(ours.get(url)).toEqual(theirs);
  });
});
