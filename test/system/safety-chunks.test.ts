// Chunked bodies with one byte put in, replaced or taken out at every place, sent both ways. A second reading of the
// grammar (RFC 9112 section 7.1), written as patterns, says of each whether it is a body and which; proxyd must say
// the same: whole with these bytes, or cut, and never anything in between. An origin may end lines with LF alone and
// put blanks after a size; a form with a second reading stays an error.
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-chunks');
const SAMPLE = '5;a="b c"\r\nhello\r\n3\r\nabc\r\n0\r\nT: x\r\n\r\n';
const BYTES = [...'\0\t\n\r "#;:015afgFx\\\x7f\x80\xff-+,=\x0b', '\r\n'];
const TOGETHER = 32;
/** Raw bytes of every upload by its URL, as the origin received them. */
const uploads = new Map<string, string>();
/** Takes uploads, keeps their bytes, and answers when a last chunk has come. */
const sink = createServer((socket) => {
  let raw = '';
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    raw += bytes.toString('latin1');
    const url = /^\S+ (\S+) /.exec(raw)?.[1];
    if (url === undefined) return;
    uploads.set(url, raw);
    if (reading(raw.slice(raw.indexOf('\r\n\r\n') + 4)) === null && !raw.startsWith('GET')) return;
    raw = '';
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  });
});
let origin: Origin;
let proxy: RunningProxy;
let worker: number | null;
let paths = 0;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'fine\n'));
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
  const address = sink.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `backend sink { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv {
  if (req.url ~ "^/up") { set req.backend_hint = sink; }
  return (pass);
}`,
    ),
    params: { first_byte_timeout: '2', between_bytes_timeout: '2' },
  });
  worker = proxy.workerPid();
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
  sink.close();
});

function mutations(): string[] {
  const all = new Set<string>([SAMPLE]);
  for (let i = 0; i <= SAMPLE.length; i++) {
    const before = SAMPLE.slice(0, i);
    for (const byte of BYTES) {
      all.add(before + byte + SAMPLE.slice(i));
      all.add(before + byte + SAMPLE.slice(i + 1));
    }
    all.add(before + SAMPLE.slice(i + 1));
    all.add(before);
  }
  return [...all];
}

const EXTENSION =
  /(?:;(?:[\t\x20\x21\x23-\x7e\x80-\xff]|"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*")*)?/
    .source;
const TRAILER_LINE = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*/.source;

/** The parts of a chunked body, as patterns. */
interface Grammar {
  readonly size: RegExp;
  readonly dataEnd: RegExp;
  readonly trailer: RegExp;
  readonly end: RegExp;
}

const STRICT: Grammar = {
  size: new RegExp(`^([0-9a-fA-F]{1,13})${EXTENSION}\\r\\n`),
  dataEnd: /^\r\n/,
  trailer: new RegExp(`^${TRAILER_LINE}\\r\\n`),
  end: /^\r\n/,
};
const OF_ORIGIN: Grammar = {
  size: new RegExp(`^(0{0,19}[0-9a-fA-F]{1,13})[\\t ]*${EXTENSION}\\r?\\n`),
  dataEnd: /^\r?\n/,
  trailer: new RegExp(`^${TRAILER_LINE}(?:\\r?\\n[\\t ][\\t\\x20-\\x7e\\x80-\\xff]*)*\\r?\\n`),
  end: /^\r?\n/,
};

/** The data of a whole chunked body at the beginning of `text`, or null. */
function reading(text: string, grammar = STRICT): string | null {
  let rest = text;
  let data = '';
  for (;;) {
    const size = grammar.size.exec(rest);
    if (size === null) return null;
    rest = rest.slice(size[0].length);
    const n = Number.parseInt(size[1] as string, 16);
    if (n === 0) break;
    const chunk = rest.slice(0, n);
    data += chunk;
    rest = rest.slice(n);
    const end = grammar.dataEnd.exec(rest);
    // A size that counts the CR of the line end has two readings.
    if (end === null || (end[0] === '\n' && chunk.endsWith('\r'))) return null;
    rest = rest.slice(end[0].length);
  }
  for (;;) {
    if (grammar.end.test(rest)) return data;
    const trailer = grammar.trailer.exec(rest);
    if (trailer === null) return null;
    rest = rest.slice(trailer[0].length);
  }
}

async function upload(chunks: string, cut: number): Promise<string | null> {
  const url = `/up${++paths}`;
  const head = `POST ${url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const conn = await ClientConnection.open(proxy.port);
  conn.send(head + chunks.slice(0, cut));
  if (cut < chunks.length) {
    await new Promise((resolve) => setImmediate(resolve));
    conn.send(chunks.slice(cut));
  }
  conn.finish();
  const answer = (await conn.rest()).toString('latin1');
  conn.close();
  const expected = reading(chunks);
  const got = uploads.get(url) ?? '';
  const body = got.slice(got.indexOf('\r\n\r\n') + 4);
  const whole = reading(body);
  const accepted = answer.startsWith('HTTP/1.1 200');
  if (whole === expected && accepted === (expected !== null)) return null;
  return `${JSON.stringify(chunks)}: expected ${expected}, the origin got ${JSON.stringify(body)}, the client ${answer.slice(0, 12)}`;
}

async function download(chunks: string, cut: number): Promise<string | null> {
  const url = `/down${++paths}`;
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  origin.on(url, [{ send: head + chunks.slice(0, cut) }, { send: chunks.slice(cut) }, { close: true }]);
  const conn = await ClientConnection.open(proxy.port);
  conn.send(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const got = await conn.response().catch(() => null);
  conn.close();
  const whole = got?.status === 200 && got.complete ? got.body.toString('latin1') : null;
  const expected = reading(chunks, OF_ORIGIN);
  return whole === expected ? null : `${JSON.stringify(chunks)}: expected ${expected}, got ${whole}`;
}

async function wrongOnes(send: (chunks: string, cut: number) => Promise<string | null>): Promise<string[]> {
  const all = mutations();
  const wrong: string[] = [];
  for (let i = 0; i < all.length; i += TOGETHER) {
    const some = all
      .slice(i, i + TOGETHER)
      .map((chunks, k) => send(chunks, ((i + k) * 5) % (chunks.length + 1)));
    for (const found of await Promise.all(some)) if (found !== null) wrong.push(found);
  }
  return wrong;
}

describe('a byte too many, too few or another', () => {
  it('the reader of this test distinguishes bodies', () => {
    const whole = mutations().filter((chunks) => reading(chunks) !== null).length;
    expect(reading(SAMPLE)).toBe('helloabc');
    expect(whole).toBeGreaterThan(300);
    expect(whole).toBeLessThan(mutations().length - 300);
  });

  it('in an upload', async () => {
    expect(await wrongOnes(upload)).toEqual([]);
  });

  it('in a response', async () => {
    expect(await wrongOnes(download)).toEqual([]);
  });

  it('leaves the worker alone, and no connection in use', async () => {
    expect(proxy.workerPid()).toBe(worker);
    await until('all given back', async () => {
      const counters = Object.entries(await proxy.counters());
      return counters.filter(([name]) => /^VBE\..*\.conn$/.test(name)).every(([, value]) => value === 0);
    });
  });
});
