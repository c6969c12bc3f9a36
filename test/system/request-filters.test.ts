// Bodies of requests through filters, from their clients (req.filters) and to origins (bereq.filters): the bytes that
// origins get, their framing, and bodies that break in a filter. Black box.
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const TEXT = 'hello '.repeat(5000);
const PACKED = gzipSync(TEXT);
const box = new Sandbox('proxyd-request-filters');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'ok'));
  const program = backendProgram(
    origin.port,
    `import std;
     sub vcl_recv {
       if (req.http.client) { set req.filters = req.http.client; }
       if (req.http.kept) { std.cache_req_body(100KB); }
       return (pass);
     }
     sub vcl_backend_fetch {
       if (bereq.http.origin) { set bereq.filters = bereq.http.origin; }
       if (bereq.http.again && bereq.retries == 0) { return (error(503)); }
     }
     sub vcl_backend_error { if (bereq.http.again && bereq.retries == 0) { return (retry); } }`,
  );
  proxy = await startProxy(box, { program, params: { worker_threads: '1' } });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

type Fields = Record<string, string>;

/** Sends a body in two writes; its answer's status, and what the origin got, if anything. */
async function sent(body: Buffer | string, fields: Fields, chunked = false) {
  const bytes = Buffer.from(body as string, 'latin1');
  const connection = await ClientConnection.open(proxy.port);
  const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes.length}`;
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.send(`POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n${lines.join('')}\r\n`);
  const half = bytes.length >> 1;
  for (const part of [bytes.subarray(0, half), bytes.subarray(half)]) {
    connection.send(
      chunked
        ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
        : part,
    );
  }
  if (chunked) connection.send('0\r\n\r\n');
  const before = origin.requests.length;
  const response = await connection.response('POST').catch(() => null);
  connection.close();
  const request = origin.requests[before];
  const head = (name: string): string | undefined =>
    new RegExp(`^${name}: (.*)\\r$`, 'im').exec(request?.head ?? '')?.[1];
  return {
    status: response?.status ?? null,
    isWhole: request?.complete === true,
    body: request?.body,
    length: head('content-length'),
    coding: head('content-encoding'),
    framing: head('transfer-encoding'),
  };
}

const AS_IT_IS = { status: 200, length: String(PACKED.length), coding: 'gzip', framing: undefined };
const GZIP = { 'Content-Encoding': 'gzip' };

describe.each([false, true])('a body in chunks: %s', (chunked) => {
  it('is packed on its way to the origin, with Content-Encoding', async () => {
    const { body, isWhole: _whole, ...facts } = await sent(TEXT, { client: 'gzip' }, chunked);
    expect(facts).toEqual({ status: 200, length: undefined, coding: 'gzip', framing: 'chunked' });
    expect(gunzipSync(body as Buffer).toString()).toBe(TEXT);
  });

  it('is packed into storage, and has a length then', async () => {
    const {
      body,
      isWhole: _whole,
      ...facts
    } = await sent(TEXT, { client: 'gzip', kept: '1', again: '1' }, chunked);
    expect(facts).toEqual({ status: 200, length: String(body?.length), coding: 'gzip', framing: undefined });
    expect(gunzipSync(body as Buffer).toString()).toBe(TEXT);
  });

  it.each(['client', 'origin'])('is unpacked by a filter on the side of the %s', async (side) => {
    const { body, isWhole: _whole, ...facts } = await sent(PACKED, { ...GZIP, [side]: 'gunzip' }, chunked);
    expect(facts).toEqual({ status: 200, length: undefined, coding: undefined, framing: 'chunked' });
    expect(body?.toString()).toBe(TEXT);
  });

  it('is unpacked again for each try', async () => {
    const { status, body } = await sent(
      PACKED,
      { ...GZIP, origin: 'gunzip', kept: '1', again: '1' },
      chunked,
    );
    expect([status, body?.toString()]).toEqual([200, TEXT]);
  });

  it('passes filters of both sides', async () => {
    const { status, body } = await sent(TEXT, { client: 'gzip', origin: 'gunzip' }, chunked);
    expect([status, body?.toString()]).toEqual([200, TEXT]);
  });
});

describe('a body that is whole', () => {
  it('passes its test as it is', async () => {
    const { body, isWhole: _whole, ...facts } = await sent(PACKED, { ...GZIP, client: 'testgunzip' });
    expect(facts).toEqual(AS_IT_IS);
    expect(body?.equals(PACKED)).toBe(true);
  });

  it('passes an unpacker as it is unless it says that it is packed', async () => {
    expect((await sent(PACKED, { client: 'gunzip' })).body?.equals(PACKED)).toBe(true);
  });
});

describe('a body that a filter cannot take', () => {
  const CUT = PACKED.subarray(0, -8);

  it.each([
    ['a broken one', CUT, { ...GZIP, client: 'testgunzip' }, 503],
    ['a broken one to be unpacked', CUT, { ...GZIP, client: 'gunzip' }, 503],
    ['a broken one on the side of the origin', CUT, { ...GZIP, origin: 'gunzip' }, 503],
    ['one for an unknown filter', Buffer.from('a'), { client: 'nothing' }, 503],
    ['one for an unknown filter on the side of the origin', Buffer.from('a'), { origin: 'esi' }, 503],
    ['a broken one for storage', CUT, { ...GZIP, client: 'gunzip', kept: '1' }, null],
    ['one for storage and an unknown filter', Buffer.from('a'), { client: 'nothing', kept: '1' }, null],
  ])('never reaches the origin as a whole one: %s', async (_what, body, fields, status) => {
    expect(await sent(body, fields)).toMatchObject({ status, isWhole: false });
  });

  it('ends the log of its request with the reason', async () => {
    await sent(CUT, { ...GZIP, client: 'gunzip', why: 'cut' });
    const log = await proxy.logged(/FetchError/, '-g', 'request', '-q', 'ReqHeader:why eq "cut"');
    expect(log).toMatch(/- +Filters +gunzip\n/);
    expect(log).toContain('Gunzip error at the very end');
    expect(log).toContain('req.body read error');
  });
});
