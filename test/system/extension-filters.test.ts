// Body filters of an extension from a file, in a running proxy. Black box: only dist/ and its commands.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-filters');
const folder = box.path('modules');
mkdirSync(folder, { recursive: true });
const TEXT = 'the quick brown fox\n';

/** Answers the text in pieces of a byte each, or all of a long one at once. */
const origin = createServer((request, response) => {
  response.setHeader('ETag', '"a"');
  if (request.url === '/long') {
    response.end(TEXT.repeat(50_000));
    return;
  }
  const letters = [...TEXT];
  const next = (): void => {
    const letter = letters.shift();
    if (letter === undefined) response.end();
    else response.write(letter, () => setImmediate(next));
  };
  next();
});
await new Promise<void>((resolve) => {
  origin.listen(0, '127.0.0.1', resolve);
});
const { port } = origin.address() as AddressInfo;

const module = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const text = module(
  'text.mjs',
  `export const extension = { abi: 1, filters: {
    upper: { side: 'delivery', changes: 'bytes', open: () => ({
      transform: (bytes) => Buffer.from(bytes.toString('latin1').toUpperCase(), 'latin1') }) },
    count: { side: 'fetch', changes: 'nothing', open(body) {
      let n = 0;
      return { transform(bytes, last) { n += bytes.length; if (last) body.log('counted ' + n); } };
    } },
    twice: { side: 'delivery', open: () => ({ *transform(bytes) { yield bytes; yield bytes; } }) },
    bad: { side: 'delivery', open: () => ({ transform() { throw new Error('on purpose'); } }) },
    bad_fetch: { side: 'fetch', open: () => ({ transform() { throw new Error('on purpose'); } }) },
  } };`,
);

const program = (head: string, body: string): string =>
  `vcl 4.1;\n${head}\nbackend d { .host = "127.0.0.1"; .port = "${port}"; }\n${body}`;

const PROGRAM = program(
  `import text from "${text}";`,
  `sub vcl_backend_response {
    set beresp.filters = beresp.filters + " count";
    if (bereq.url ~ "bad_fetch") { set beresp.filters = "bad_fetch"; set beresp.do_stream = false; }
  }
  sub vcl_recv { if (req.url == "/made") { return (synth(200)); } }
  sub vcl_deliver {
    if (req.http.filters) { set resp.filters = req.http.filters + resp.filters; }
  }
  sub vcl_synth {
    set resp.body = "${TEXT.trim()}";
    if (req.http.filters) { set resp.filters = req.http.filters; }
    return (deliver);
  }`,
);

let proxy: RunningProxy;
beforeAll(async () => {
  proxy = await startProxy(box, { program: PROGRAM });
});
afterAll(async () => {
  origin.close();
  await box.dispose();
});

const naming = (filters: string) => ({ fields: { filters } });

describe('filters of a file', () => {
  it('pass a body that comes a byte at a time, and one from the cache', async () => {
    for (const _ of ['miss', 'hit']) {
      const answer = await proxy.get('/slow', naming('upper'));
      expect(answer.body.toString()).toBe(TEXT.toUpperCase());
      expect(field(answer, 'etag')).toBe('W/"a"');
    }
    expect((await proxy.get('/slow')).body.toString()).toBe(TEXT);
    await proxy.logged(new RegExp(` VCL_Log +b counted ${TEXT.length}\\n`), '-g', 'raw');
  });

  it('pass a long body, which becomes longer', async () => {
    const answer = await proxy.get('/long', naming('twice'));
    expect(answer.body.length).toBe(2 * TEXT.length * 50_000);
    expect(field(answer, 'content-length')).toBe(undefined);
  });

  it('answer a range of what they make', async () => {
    const answer = await proxy.get('/slow', { fields: { filters: 'upper', range: 'bytes=4-8' } });
    expect([answer.status, answer.body.toString()]).toEqual([206, 'QUICK']);
  });

  it('pass a page that vcl_synth has made', async () => {
    const made = TEXT.trim();
    const whole = await proxy.get('/made', naming('upper'));
    expect([whole.body.toString(), field(whole, 'content-length')]).toEqual([
      made.toUpperCase(),
      String(made.length),
    ]);
    const longer = await proxy.get('/made', naming('twice'));
    expect([longer.body.toString(), field(longer, 'transfer-encoding')]).toEqual([made + made, 'chunked']);
    const part = await proxy.get('/made', { fields: { filters: 'upper range', range: 'bytes=4-8' } });
    expect([part.status, part.body.toString()]).toEqual([206, 'QUICK']);
    const early = await proxy.get('/made', { fields: { filters: 'range upper', range: 'bytes=4-8' } });
    expect([early.status, early.body.toString()]).toEqual([206, 'QUICK']);
    expect((await proxy.get('/made', { method: 'HEAD', ...naming('upper') })).body.length).toBe(0);
    expect((await proxy.get('/made', naming('bad'))).complete).toBe(false);
    await expect(proxy.get('/made', naming('no_such'))).rejects.toThrow('no response head');
    expect((await proxy.get('/made')).body.toString()).toBe(made);
  });

  it('cut a delivery and fail a fetch when they throw', async () => {
    expect((await proxy.get('/slow', naming('bad'))).complete).toBe(false);
    expect((await proxy.get('/bad_fetch')).status).toBe(503);
    await proxy.logged(/ Error +c Filter bad: on purpose/, '-g', 'raw');
    await proxy.logged(/ FetchError +b Filter bad_fetch: on purpose/, '-g', 'raw');
  });

  it('are known to the programs that import them, under a name of their own', async () => {
    const load = async (name: string, source: string): Promise<string> => {
      const done = await proxy.adm('vcl.load', name, module(`${name}.vcl`, source));
      return `${done.code} ${done.stdout}${done.stderr}`;
    };
    const gzip = module(
      'gz.mjs',
      `export default { abi: 1, filters: { gzip: { side: 'delivery', open() {} } } };`,
    );
    expect(await load('clash', program(`import gz from "${gzip}";`, ''))).toMatch(
      /^1 .*\nMessage:\n\tFilter gzip of gz has the name of one of the proxy itself/,
    );
    const odd = module('odd.mjs', `export default { abi: 1, filters: { x: { side: 'both', open() {} } } };`);
    expect(await load('odd', program(`import odd from "${odd}";`, ''))).toMatch(
      /\(filter x: its 'side' is not one of fetch, delivery\)/,
    );
    expect(await load('none', program('', 'sub vcl_deliver { set resp.filters = "upper"; }'))).toMatch(/^0 /);
    await proxy.adm('vcl.use', 'none');
    await expect(proxy.get('/slow')).rejects.toThrow();
    await proxy.logged(/ Error +c Filter '\.\.\.upper' not found/, '-g', 'raw');
  });
});
