// Several ranges in one request: of what is stored, still coming, compressed, a page, made here or passed.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { talk } from '../harness/two-protocols.ts';

const box = new Sandbox('proxyd-multi-range');
const BODY = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7) % 253));
const TEXT = '<p>page</p>'.repeat(200);
let release: () => void = () => undefined;
const held = new Promise<void>((resolve) => {
  release = resolve;
});
let origin: Origin;
let proxy: RunningProxy;

const PROGRAM = `
sub vcl_recv {
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/synth") { return (synth(200)); }
}
sub vcl_synth {
  set resp.http.Content-Type = "text/plain";
  set resp.body = "0123456789" + "abcdefghij" + "0123456789" + "abcdefghij" + "0123456789" + "abcdefghij" + "0123456789"
    + "abcdefghij" + "0123456789" + "ABCDEFGHIJ" + "KLMNOPQRST";
  return (deliver);
}
sub vcl_backend_response { set beresp.do_esi = bereq.url ~ "esi"; }
`;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('/slow', () => [
    { send: `HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: ${BODY.length}\r\n\r\n` },
    { send: BODY.subarray(0, 100_000) },
    { hold: held },
    { send: BODY.subarray(100_000) },
  ]);
  origin.on('/esi', () =>
    respond('200 OK', { 'Cache-Control': 'max-age=100' }, `<esi:remove>x</esi:remove>${TEXT}`),
  );
  origin.on('*', ({ url }) => {
    const coding = url.startsWith('/zip') ? { 'Content-Encoding': 'gzip' } : {};
    const fields = { 'Cache-Control': 'max-age=100', 'Content-Type': 'video/mp4', ETag: '"a"', ...coding };
    return respond('200 OK', fields, url.startsWith('/zip') ? gzipSync(BODY) : BODY);
  });
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, PROGRAM),
    params: { http_multi_range: 'on', feature: '+http2' },
  });
});
afterAll(async () => {
  await proxy.stop();
  await origin.close();
  box.dispose();
});

const ask = (
  url: string,
  range: string,
  fields: Record<string, string> = {},
  method = 'GET',
): Promise<Response> => proxy.get(url, { method, fields: { Range: range, ...fields } });

/** The parts of an answer: their Content-Range and their bytes. */
function partsOf(body: Buffer, type = ''): [string, Buffer][] {
  const boundary = /boundary=(.*)/.exec(type)?.[1];
  if (boundary === undefined) throw new Error('no parts');
  const text = body.toString('latin1');
  const parts = text.split(`--${boundary}`);
  expect(parts.at(-1)).toBe('--\r\n');
  return parts.slice(1, -1).map((part) => {
    const at = part.indexOf('\r\n\r\n');
    const range = /Content-Range: (.*)/.exec(part.slice(0, at))?.[1] ?? '';
    return [range, Buffer.from(part.slice(at + 4, -2), 'latin1')];
  });
}

const cut = (from: number, to: number, of = BODY): [string, Buffer] => [
  `bytes ${from}-${to}/${of.length}`,
  of.subarray(from, to + 1),
];

describe('several ranges', () => {
  it('of a stored object, in the order asked for', async () => {
    for (let i = 0; i < 2; i++) {
      const response = await ask('/a', 'bytes=200000-299999, 0-9, -5');
      expect(response.status).toBe(206);
      expect(field(response, 'Content-Range')).toBeUndefined();
      expect(field(response, 'ETag')).toBe('"a"');
      // The last five are part of the first.
      expect(partsOf(response.body, field(response, 'Content-Type'))).toEqual([
        cut(200000, 299999),
        cut(0, 9),
      ]);
    }
    expect(origin.requests.filter(({ url }) => url === '/a')).toHaveLength(1);
  });

  it('of an object that is still coming: parts that are there are sent at once', async () => {
    const there = await ask('/slow', 'bytes=50000-50009,10-19');
    expect(partsOf(there.body, field(there, 'Content-Type'))).toEqual([cut(50000, 50009), cut(10, 19)]);
    const later = ask('/slow', 'bytes=250000-250009,10-19');
    release();
    const now = await later;
    expect(partsOf(now.body, field(now, 'Content-Type'))).toEqual([cut(250000, 250009), cut(10, 19)]);
  });

  it('of a compressed object: of what is stored only', async () => {
    const packed = gzipSync(BODY);
    const response = await ask('/zip', 'bytes=0-9,1000-1009', { 'Accept-Encoding': 'gzip' });
    expect(field(response, 'Content-Encoding')).toBe('gzip');
    expect(partsOf(response.body, field(response, 'Content-Type')).map(([, bytes]) => bytes)).toEqual([
      packed.subarray(0, 10),
      packed.subarray(1000, 1010),
    ]);
    const unpacked = await ask('/zip', 'bytes=0-9,1000-1009');
    expect([unpacked.status, unpacked.body.equals(BODY)]).toEqual([200, true]);
  });

  it('of a page, of a response that is passed, and for HEAD: all', async () => {
    const page = await ask('/esi', 'bytes=0-9,1000-1009');
    expect([page.status, page.body.toString()]).toEqual([200, TEXT]);
    const passed = await ask('/pass', 'bytes=0-9,1000-1009');
    expect([passed.status, passed.body.equals(BODY)]).toEqual([200, true]);
    const head = await ask('/a', 'bytes=0-9,1000-1009', {}, 'HEAD');
    expect([head.status, field(head, 'Content-Length')]).toEqual([200, String(BODY.length)]);
  });

  it('of a synthetic response', async () => {
    const response = await ask('/synth', 'bytes=0-1,-2');
    expect(
      partsOf(response.body, field(response, 'Content-Type')).map(([range, bytes]) => [
        range,
        bytes.toString(),
      ]),
    ).toEqual([
      ['bytes 0-1/110', '01'],
      ['bytes 108-109/110', 'ST'],
    ]);
  });

  it('with If-Range: only of the version that it names', async () => {
    expect((await ask('/a', 'bytes=0-9,1000-1009', { 'If-Range': '"b"' })).status).toBe(200);
    expect((await ask('/a', 'bytes=0-9,1000-1009', { 'If-Range': '"a"' })).status).toBe(206);
  });

  it('that overlap or are too many cost no more than the object', async () => {
    const all = await ask('/a', `bytes=${Array.from({ length: 60 }, (_, i) => `${i}-`).join()}`);
    expect([all.status, field(all, 'Content-Range'), all.body.length]).toEqual([
      206,
      'bytes 0-299999/300000',
      300_000,
    ]);
    const many = await ask(
      '/a',
      `bytes=${Array.from({ length: 65 }, (_, i) => `${i * 1000}-${i * 1000}`).join()}`,
    );
    expect([many.status, field(many, 'Content-Range')]).toEqual([416, 'bytes */300000']);
    expect((await ask('/a', 'bytes=300000-,400000-')).status).toBe(416);
  });

  it('over HTTP/2', async () => {
    const talker = talk('HTTP/2', proxy.port);
    const { status, fields, body } = await talker.ask('/a', { fields: { Range: 'bytes=200000-299999,0-9' } });
    talker.close();
    const parts = partsOf(body, fields['content-type']);
    expect([status, fields['content-length'], parts]).toEqual([
      206,
      String(body.length),
      [cut(200000, 299999), cut(0, 9)],
    ]);
  });

  it('are refused with the classic profile by default', async () => {
    await proxy.adm('param.set', 'http_multi_range', 'profile');
    expect((await ask('/a', 'bytes=0-9,1000-1009')).status).toBe(416);
    await proxy.adm('param.set', 'http_multi_range', 'on');
  });
});
