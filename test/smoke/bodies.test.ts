// Bodies on their way to a client: edge-side includes, gzip both ways, and ranges.
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-smoke-bodies');
const FRESH = { 'Cache-Control': 'max-age=100' };
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `sub vcl_backend_response {
  set beresp.do_esi = bereq.url ~ "^/page";
  set beresp.do_gzip = bereq.url ~ "pack";
  set beresp.do_gunzip = bereq.url ~ "plain";
}`,
    ),
    params: { max_esi_depth: '3' },
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const GZIP = { 'Accept-Encoding': 'gzip' };
const page = (url: string, body: string, fields: Record<string, string> = {}) =>
  origin.on(url, respond('200 OK', { ...FRESH, ...fields }, body));

describe('edge-side includes', () => {
  it('become one page, each part stored on its own', async () => {
    page(
      '/page/one',
      '<a><esi:include src="/part/1"/>|<esi:include src="part/2"/><esi:remove>gone</esi:remove><!--esi kept--><esi:comment text="no"/></a>',
    );
    page('/part/1', 'first');
    page('/page/part/2', '<i><esi:include src="/part/1"/></i>');
    for (let i = 0; i < 2; i++) {
      expect((await proxy.get('/page/one')).body.toString()).toBe('<a>first|<i>first</i> kept</a>');
    }
    expect(origin.requests.map((request) => request.url)).toEqual(['/page/one', '/part/1', '/page/part/2']);
  });

  it('end at the depth that is allowed', async () => {
    page('/page/loop', '<x><esi:include src="/page/loop"/>');
    expect((await proxy.get('/page/loop')).body.toString()).toBe('<x><x><x><x>');
  });

  it('are packed for a client that takes gzip, of packed and plain parts', async () => {
    page('/page/pack', `<b>${LETTERS}<esi:include src="/part/pack"/><esi:include src="/part/1"/></b>`);
    page('/part/pack', LETTERS);
    const packed = await proxy.get('/page/pack', { fields: GZIP });
    expect([packed.framing, field(packed, 'Content-Encoding')]).toEqual(['chunked', 'gzip']);
    expect(gunzipSync(packed.body).toString()).toBe(`<b>${LETTERS}${LETTERS}first</b>`);
    expect((await proxy.get('/page/pack')).body.toString()).toBe(`<b>${LETTERS}${LETTERS}first</b>`);
  });
});

describe('gzip', () => {
  const text = 'packed text '.repeat(500);

  it('is stored as it came, and unpacked for who does not take it', async () => {
    origin.on(
      '/zipped',
      respond('200 OK', { ...FRESH, ETag: '"z"', 'Content-Encoding': 'gzip' }, gzipSync(text)),
    );
    const plain = await proxy.get('/zipped');
    expect([plain.body.toString(), field(plain, 'Content-Encoding')]).toEqual([text, undefined]);
    expect(field(plain, 'ETag')).toBe('W/"z"');
    const packed = await proxy.get('/zipped', { fields: GZIP });
    expect([gunzipSync(packed.body).toString(), field(packed, 'Content-Encoding')]).toEqual([text, 'gzip']);
    expect([field(packed, 'ETag'), field(packed, 'Vary')]).toEqual(['"z"', 'Accept-Encoding']);
    expect(origin.seen('/zipped')).toHaveLength(1);
  });

  it('is applied and removed where the program sets it', async () => {
    page('/pack', text);
    const packed = await proxy.get('/pack', { fields: GZIP });
    expect(field(packed, 'Content-Encoding')).toBe('gzip');
    expect(packed.body.length).toBeLessThan(text.length / 10);
    expect(gunzipSync(packed.body).toString()).toBe(text);
    origin.on('/plain', respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, gzipSync(text)));
    const plain = await proxy.get('/plain', { fields: GZIP });
    expect([plain.body.toString(), field(plain, 'Content-Encoding')]).toEqual([text, undefined]);
  });

  it('that is broken does not reach a client as a whole body', async () => {
    const broken = gzipSync(text);
    broken.fill(0, 20, 40);
    origin.on('/plain/broken', respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, broken));
    const answer = await proxy.get('/plain/broken');
    expect(answer.status === 503 || !answer.complete).toBe(true);
    expect(answer.body.toString()).not.toBe(text);
  });
});

describe('ranges', () => {
  it.each([
    ['bytes=0-0', 206, 'bytes 0-0/26', 'a'],
    ['bytes=2-4', 206, 'bytes 2-4/26', 'cde'],
    ['bytes=23-', 206, 'bytes 23-25/26', 'xyz'],
    ['bytes=20-99', 206, 'bytes 20-25/26', 'uvwxyz'],
    ['bytes=-3', 206, 'bytes 23-25/26', 'xyz'],
    ['bytes=-99', 206, 'bytes 0-25/26', LETTERS],
    ['bytes=26-', 416, 'bytes */26', null],
    ['bytes=5-3', 416, 'bytes */26', null],
    ['lines=1-2', 200, undefined, LETTERS],
  ])('%s is answered with %i, %s', async (range, status, content, body) => {
    page('/letters', LETTERS);
    const answer = await proxy.get('/letters', { fields: { Range: range } });
    expect([answer.status, field(answer, 'Content-Range')]).toEqual([status, content]);
    if (body !== null) expect(answer.body.toString()).toBe(body);
    expect(field(await proxy.get('/letters'), 'Accept-Ranges')).toBe('bytes');
    expect(origin.seen('/letters').length).toBeLessThanOrEqual(1);
  });
});
