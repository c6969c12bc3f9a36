// edge-fake as a command, and its cache in front of origins that misbehave.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeEdge } from '../../daemon/edge/fake/fake-edge.ts';
import { EDGE_CREDENTIALS } from '../harness/edge-settings.ts';
import { fetchOnce, field, type Response } from '../harness/http-client.ts';
import { Origin, respond, respondChunked } from '../harness/origin.ts';
import { run, Sandbox, until } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';

const EDGE_FAKE = join(ROOT, 'dist/daemon/edge/fake/edge-fake.js');
const box = new Sandbox('edge-fake');
let origin: Origin;
beforeAll(async () => {
  origin = await Origin.start();
});
afterAll(async () => {
  await origin.close();
  await box.dispose();
});

describe('the command', () => {
  it('makes its settings, plays an edge, obeys what it reads, and ends with its input', async () => {
    origin.on('/a', respond('200 OK', { 'Edge-Control': 'max-age=70' }, 'hello'));
    const conf = `${box.dir}/edge.conf`;
    const fake = box.start('edge-fake', process.execPath, [EDGE_FAKE, '-d', '--conf', conf]);
    await until('it listens', () => /^cache /m.test(fake.stdout));
    const port = Number(/^cache 127\.0\.0\.1:(\d+)$/m.exec(fake.stdout)?.[1]);
    expect(statSync(conf).mode & 0o777).toBe(0o600);
    expect(readFileSync(conf, 'utf8')).toContain(`purge_host = ${/^api (.*)$/m.exec(fake.stdout)?.[1]}\n`);
    expect(fake.stdout).not.toContain('secret');
    const early = await fetchOnce(port, '/a');
    expect([early.status, early.body.toString()]).toEqual([502, 'the edge knows of no proxy yet\n']);
    const says = async (command: string): Promise<string> => {
      const before = fake.stdout.length;
      fake.child.stdin?.write(`${command}\n`);
      await until(`an answer to ${command}`, () => fake.stdout.length > before && fake.stdout.endsWith('\n'));
      return fake.stdout.slice(before).trimEnd();
    };
    expect(await says(`proxy 127.0.0.1:${origin.port}`)).toBe('ok');
    const outcome = async (): Promise<string | undefined> =>
      field(await fetchOnce(port, '/a'), 'x-edge-cache');
    expect([await outcome(), await outcome()]).toEqual(['miss', 'hit']);
    expect(await says('clock 71')).toBe('ok');
    expect(await outcome()).toBe('miss');
    expect(await says('clock -1')).toMatch(/^error: clock takes seconds/);
    expect(await says('proxy nowhere')).toMatch(/^error: proxy takes HOST:PORT/);
    expect(await says('fault 429 3 delete url')).toBe('ok');
    expect(await says('fault strange')).toMatch(/^error: 'strange' is no status and none of hang, /);
    expect(await says('fault 500 0')).toMatch(/^error: how many/);
    expect(await says('nonsense')).toMatch(/^error: 'nonsense' is not one of/);
    expect(JSON.parse(await says('status'))).toMatchObject({
      hit: 1,
      miss: 2,
      failed: 1,
      copies: 1,
      calls: 0,
    });
    fake.child.stdin?.end();
    expect((await fake.ended).code).toBe(0);
    const again = box.start('again', process.execPath, [EDGE_FAKE, '-d', '--conf', conf]);
    await until('the same address', () => /^cache /m.test(again.stdout));
    expect(/^api (.*)$/m.exec(again.stdout)?.[1]).toBe(/^api (.*)$/m.exec(fake.stdout)?.[1]);
    again.child.stdin?.end();
  });

  it('reports what is wrong with its arguments and its settings', async () => {
    const edge = (...words: string[]) => run(process.execPath, [EDGE_FAKE, ...words]);
    for (const [words, text] of [
      [['--port', 'x'], "--port takes a number up to 65535, not 'x'"],
      [['--proxy', 'a:b'], "--proxy takes host:port, not 'a:b'"],
      [['--network', 'moon'], "--network is staging or production, not 'moon'"],
      [['word'], "'word' is no option"],
    ] as const) {
      const end = await edge(...words);
      expect([end.code, end.stderr]).toEqual([1, expect.stringContaining(text)]);
    }
    const conf = `${box.dir}/wrong.conf`;
    writeFileSync(conf, 'provider = fastly\n');
    expect((await edge('--conf', conf)).stderr).toContain('needs provider = fake');
    expect((await edge('--conf', `${box.dir}/none/edge.conf`)).stderr).toContain('No such file or directory');
    expect(existsSync(`${box.dir}/none`)).toBe(false);
    expect((await edge('--port', String(origin.port))).stderr).toContain(
      `port ${origin.port} of 127.0.0.1 is taken`,
    );
    expect((await edge('-h')).stdout).toContain('--rule-delay');
  });
});

describe('its cache', () => {
  let edge: FakeEdge;
  const get = (path: string, fields: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    fetchOnce(edge.cachePort, path, { host: 'www.example.com', fields, method });
  beforeAll(async () => {
    edge = await FakeEdge.start({
      credentials: EDGE_CREDENTIALS,
      proxy: { host: '127.0.0.1', port: origin.port },
    });
  });
  afterAll(() => edge.close());
  const LONG = { 'Edge-Control': 'max-age=70' };

  it('identifies itself to the proxy, and hides internal headers from clients', async () => {
    origin.on('/via', respond('200 OK', { ...LONG, 'Edge-Cache-Tag': 'x', Via: '1.1 inner' }, 'a'));
    const answer = await get('/via', {
      Via: '1.0 before',
      'X-Forwarded-For': '192.0.2.1',
      'If-None-Match': '"x"',
    });
    const head = origin.seen('/via')[0]?.head ?? '';
    expect(head).toMatch(/^via: 1\.0 before, 1\.1 edge-fake \(edge-fake\)\r$/im);
    expect(head).toMatch(/^x-forwarded-for: 192\.0\.2\.1, 127\.0\.0\.1\r$/im);
    expect(head).not.toMatch(/^if-none-match/im);
    expect(field(answer, 'edge-control')).toBeUndefined();
    expect(field(answer, 'edge-cache-tag')).toBeUndefined();
    expect(field(answer, 'via')).toBe('1.1 inner, 1.1 edge-fake (edge-fake)');
  });

  it('keeps nothing of an answer that ends early, and lets its client see that', async () => {
    origin.on('/cut', [
      { send: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\nEdge-Control: max-age=70\r\n\r\nhalf' },
      { close: true },
    ]);
    const before = edge.copies;
    expect((await get('/cut')).complete).toBe(false);
    expect(edge.copies).toBe(before);
  });

  it('answers 502 when the proxy is gone', async () => {
    origin.on('/reset', [{ reset: true }]);
    expect((await get('/reset')).status).toBe(502);
  });

  it('passes on large, chunked and uncacheable answers', async () => {
    const large = Buffer.alloc(9 << 20, 'x');
    origin.on('/large', respond('200 OK', LONG, large));
    origin.on('/chunked', respondChunked('200 OK', LONG, ['one ', 'two']));
    origin.on('/private', respond('200 OK', { 'Cache-Control': 'private' }, 'mine'));
    for (const outcome of ['miss', 'miss']) {
      const answer = await get('/large');
      expect([answer.body.equals(large), field(answer, 'x-edge-cache')]).toEqual([true, outcome]);
    }
    for (const outcome of ['miss', 'hit']) {
      const answer = await get('/chunked');
      expect([answer.body.toString(), field(answer, 'x-edge-cache')]).toEqual(['one two', outcome]);
    }
    for (const outcome of ['pass', 'pass'])
      expect(field(await get('/private'), 'x-edge-cache')).toBe(outcome);
  });

  it('answers HEAD and conditions from its copy', async () => {
    origin.on('/etag', respond('200 OK', { ...LONG, ETag: '"1"' }, 'body'));
    await get('/etag');
    const head = await get('/etag', {}, 'HEAD');
    expect([head.status, field(head, 'content-length'), head.body.length]).toEqual([200, '4', 0]);
    expect((await get('/etag', { 'If-None-Match': '"1"' })).status).toBe(304);
    expect((await get('/etag', { 'If-None-Match': '"2"' })).status).toBe(200);
    expect(origin.seen('/etag').length).toBe(1);
  });

  it('lets nobody purge through it', async () => {
    for (const method of ['PURGE', 'BAN', 'SOFTPURGE', 'REFRESH'])
      expect((await get('/x', {}, method)).status).toBeGreaterThanOrEqual(400);
    expect(origin.seen('/x').length).toBe(0);
  });

  it('passes bodies of requests on', async () => {
    origin.on('/post', ({ body }) => respond('200 OK', {}, `got ${body.length}`));
    const answer = await fetchOnce(edge.cachePort, '/post', { method: 'POST', body: 'x'.repeat(1000) });
    expect([answer.body.toString(), field(answer, 'x-edge-cache')]).toEqual(['got 1000', 'pass']);
  });
});
