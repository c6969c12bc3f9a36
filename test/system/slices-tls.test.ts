// Objects in slices from an origin with TLS, to clients of HTTP/1 and HTTP/2 over TLS: ranges at random, an origin that cuts a slice
// with and without its close_notify, and a client that reads slowly.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issue } from '../harness/certificates.ts';
import { Http2Client } from '../harness/http2-client.ts';
import { Origin, type OriginRequest, type Reply, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import type { RunningProxy } from '../harness/proxy.ts';
import { tlsRequest } from '../harness/tls-client.ts';
import { startTlsProxy } from '../harness/tls-proxy.ts';

const box = new Sandbox('proxyd-slices-tls');
const SIZE = 1_000_000;
const SLICE = 64 * 1024;
const LAST = Math.floor(SIZE / SLICE);
const CUT_AT = 3;
const WHOLE = Buffer.from(Array.from({ length: SIZE }, (_, i) => (i * 31 + (i >> 8) * 7 + (i >> 16)) & 255));

let origin: Origin;
let proxy: RunningProxy;
let port = 0;
const asked = new Map<string, string[]>();
const cuts = new Map<string, number>();

function answer({ url, head }: OriginRequest): Reply {
  const [, low = '0', high = String(SIZE - 1)] = /^range: bytes=(\d+)-(\d+)/im.exec(head) ?? [];
  const [from, to] = [Number(low), Math.min(SIZE, Number(high) + 1)];
  asked.set(url, [...(asked.get(url) ?? []), `${from}`]);
  const fields = {
    ETag: '"a"',
    'Cache-Control': 'max-age=1000',
    'Content-Range': `bytes ${from}-${to - 1}/${SIZE}`,
  };
  const reply = respond('206 Partial Content', fields, WHOLE.subarray(from, to));
  const left = cuts.get(url) ?? 0;
  if (Math.floor(from / SLICE) !== CUT_AT || left === 0) return reply;
  cuts.set(url, left - 1);
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return [
    { send: `HTTP/1.1 206 Partial Content\r\n${lines.join('')}Content-Length: ${to - from}\r\n\r\n` },
    { send: WHOLE.subarray(from, from + 1000) },
    url.includes('cut') ? { cut: true } : { close: true },
  ];
}

beforeAll(async () => {
  const { cert, key } = issue({ names: ['a.example'] });
  origin = await Origin.start(0, { cert, key });
  origin.on('*', answer);
  ({ proxy, port } = await startTlsProxy(box, {
    program: `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; .ssl = 1; .ssl_noverify = 1; }
sub vcl_recv { set req.slice = 64KB; }`,
    params: { feature: '+http2' },
    storage: ['malloc,64m'],
  }));
});
afterAll(async () => {
  await proxy?.stop();
  await origin?.close();
  await box.dispose();
});

const range = (from: number, to: number): string => `bytes=${from}-${to - 1}`;

it('gives every client the bytes that it asked for, and fetches each slice once', async () => {
  const client = await Http2Client.connect(port, { tls: {} });
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const wanted = Array.from({ length: 60 }, () => {
    const from = random(SIZE - 1);
    return [from, from + 1 + random(Math.min(SIZE - from, 300_000))] as const;
  });
  const all = wanted.map(async ([from, to], i) => {
    const fields = range(from, to);
    const { status, body } =
      i % 2 === 0
        ? await client.get('/random', [['range', fields]])
        : await tlsRequest(port, { path: '/random', lines: [`Range: ${fields}`] });
    expect([status, body.equals(WHOLE.subarray(from, to))], fields).toEqual([206, true]);
  });
  await Promise.all(all);
  const whole = await client.get('/random');
  expect([whole.status, whole.complete, whole.body.equals(WHOLE)]).toEqual([200, true, true]);
  const slices = asked.get('/random') as string[];
  expect(slices).toHaveLength(new Set(slices).size);
  expect(slices).toHaveLength(LAST + 1);
  client.close();
});

it.each(['/close', '/cut'])(
  'fetches the rest of a slice that ends with %s, and cuts when that ends, too',
  async (url) => {
    const client = await Http2Client.connect(port, { tls: {} });
    cuts.set(url, 1);
    const once = await client.get(url);
    expect([once.complete, once.reset, once.body.equals(WHOLE)]).toEqual([true, null, true]);
    const again = `${url}-again`;
    await client.get(again, [['range', range(0, SLICE)]]);
    // The rest is cut as well.
    cuts.set(again, 100);
    const { complete, reset, body } = await client.get(again);
    expect([complete, reset !== null]).toEqual([false, true]);
    expect(body.length).toBeLessThan((CUT_AT + 1) * SLICE);
    expect(body.equals(WHOLE.subarray(0, body.length))).toBe(true);
    cuts.delete(again);
    // The connection has other streams.
    const whole = await client.get(again);
    expect([whole.complete, whole.body.equals(WHOLE)]).toEqual([true, true]);
    client.close();
  },
);

it('keeps to the window of a client that reads slowly', async () => {
  const client = await Http2Client.connect(port, { tls: {}, isPassive: true });
  const stream = client.begin('/slow');
  await client.until(() => client.soFar(stream).body.length === 65_535, 'a full window');
  expect((asked.get('/slow') as string[]).length).toBeLessThan(5);
  // Others are not held up by it.
  const other = await tlsRequest(port, { path: '/slow' });
  expect(other.body.equals(WHOLE)).toBe(true);
  client.close();
  expect(asked.get('/slow')).toHaveLength(LAST + 1);
});
