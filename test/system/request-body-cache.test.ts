// Request bodies that a program has cached, and the 100 Continue that asks for bodies, through the compiled daemon.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const PROGRAM = `
import std;
sub vcl_recv {
  if (req.url ~ "late") { std.late_100_continue(true); }
  if (req.url ~ "cache" && req.restarts == 0) {
    set req.http.cached = std.cache_req_body(2MB);
  }
  if (req.url ~ "synth") { return (synth(200)); }
  if (req.url ~ "hit") { return (hash); }
  return (pass);
}
sub vcl_backend_response { if (bereq.url ~ "retry" && bereq.retries < 2) { return (retry); } }
sub vcl_deliver { if (req.url ~ "restart" && req.restarts == 0) { return (restart); } }
`;

const BIG = Buffer.alloc(1_500_000, 'abcdefghijklmnopqrstuvw').toString('latin1');

describe('request bodies', () => {
  const box = new Sandbox();
  let origin: Origin;
  let proxy: RunningProxy;
  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=60' }, 'ok'));
    proxy = await startProxy(box, { program: backendProgram(origin.port, PROGRAM) });
  });
  afterAll(async () => {
    await box.dispose();
    await origin.close();
  });

  const open = (): Promise<ClientConnection> => ClientConnection.open(proxy.port);
  const head = (url: string, rest: string): string => `POST ${url} HTTP/1.1\r\nHost: a\r\n${rest}\r\n\r\n`;

  it.each([
    ['/cache', 1],
    ['/cache-restart', 2],
    ['/cache-retry', 3],
  ])('%s sends a large body %d times', async (url, times) => {
    const conn = await open();
    conn.send(head(url, `Content-Length: ${BIG.length}`) + BIG);
    expect((await conn.response()).status).toBe(200);
    const bodies = origin.seen(url).map((r) => r.body.toString('latin1'));
    expect(bodies.map((b) => b.length)).toEqual(new Array(times).fill(BIG.length));
    expect(bodies.every((b) => b === BIG)).toBe(true);
    conn.close();
  });

  it('passes a cached body on with a GET, and again after a kept connection was stale', async () => {
    const times = new Map<string, number>();
    origin.on('/cache-stale', (request) => {
      const n = (times.get(request.method) ?? 0) + 1;
      times.set(request.method, n);
      return n === 2 ? [{ close: true }] : respond('200 OK', {}, 'ok');
    });
    for (const [method, statuses] of [
      ['GET', [200, 200]],
      ['PUT', [200, 200]],
      ['POST', [200, 503]],
    ] as const) {
      const conn = await open();
      for (const status of statuses) {
        conn.send(`${method} /cache-stale HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello`);
        expect((await conn.response()).status, method).toBe(status);
      }
      conn.close();
    }
    const seen = origin.seen('/cache-stale').map((r) => `${r.method} ${r.body.toString()}`);
    expect(seen).toEqual([
      ...new Array(3).fill('GET hello'),
      ...new Array(3).fill('PUT hello'),
      ...new Array(2).fill('POST hello'),
    ]);
  });

  it('knows the length of a cached body in chunks', async () => {
    const conn = await open();
    conn.send(`${head('/cache-chunked', 'Transfer-Encoding: chunked')}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`);
    expect((await conn.response()).status).toBe(200);
    const [seen] = origin.seen('/cache-chunked');
    expect(seen?.head).toMatch(/^content-length: 5\r$/im);
    expect(seen?.head).not.toMatch(/^transfer-encoding/im);
    expect(seen?.body.toString()).toBe('abcde');
    conn.close();
  });

  it('keeps what follows a cached body apart', async () => {
    const conn = await open();
    const next = 'GET /next-synth HTTP/1.1\r\nHost: a\r\n\r\n';
    conn.send(`${head('/cache-synth', 'Content-Length: 5')}hello${next}${next}`);
    for (let i = 0; i < 3; i++) expect((await conn.response()).status).toBe(200);
    conn.send(head('/cache-synth', 'Content-Length: 5'));
    await delay(20);
    conn.send(`hello${next}`);
    for (let i = 0; i < 2; i++) expect((await conn.response()).status).toBe(200);
    conn.close();
  });

  it('answers 400 and closes when a body is too big to cache', async () => {
    for (const rest of [`Content-Length: ${3 * 1024 * 1024}`, 'Transfer-Encoding: chunked']) {
      const conn = await open();
      conn.send(head('/cache-big', rest));
      if (rest.startsWith('T'))
        for (let i = 0; i < 3; i++) conn.send(`100000\r\n${'x'.repeat(0x100000)}\r\n`);
      expect((await conn.response()).status).toBe(400);
      conn.close();
    }
    expect(origin.seen('/cache-big')).toEqual([]);
  });

  it('ends the request of a client that leaves in the middle of a body', async () => {
    for (let i = 0; i < 5; i++) {
      const conn = await open();
      conn.send(`${head('/cache-left', 'Content-Length: 50')}half`);
      await delay(10);
      if (i % 2 === 0) conn.close();
      else conn.finish();
    }
    const conn = await open();
    conn.send(`${head('/cache-after', 'Content-Length: 5')}hello`);
    expect((await conn.response()).status).toBe(200);
    conn.close();
    expect(origin.seen('/cache-left')).toEqual([]);
    await until('all sessions over', async () => {
      const c = await proxy.counters();
      return c['MAIN.sess_conn'] === c['MAIN.sess_closed'] || (c['MAIN.sess_closed'] ?? 0) >= 6;
    });
  });

  describe('100 Continue', () => {
    const expecting = 'Expect: 100-continue\r\nContent-Length: 5';

    it('is sent when vcl_recv is over, also where nobody will read the body', async () => {
      const conn = await open();
      conn.send(head('/synth', expecting));
      await until('100 Continue', () => conn.pending > 0);
      conn.send('hello');
      const got = await conn.response();
      expect(got.interim).toHaveLength(1);
      expect(got.status).toBe(200);
      conn.close();
    });

    it('is accounted with the head of the response, also after a restart', async () => {
      const sent = (await proxy.counters())['MAIN.s_resp_hdrbytes'] ?? 0;
      let size = 0;
      for (const url of ['/synth-acct', '/cache-restart-acct']) {
        const conn = await open();
        conn.send(head(url, expecting));
        await until('100 Continue', () => conn.pending > 0);
        conn.send('hello');
        const got = await conn.response();
        size += 'HTTP/1.1 100 Continue\r\n\r\n'.length + got.head.length;
        // A request without such a wait, on the same connection: nothing of the former one is left.
        conn.send('GET /synth-acct HTTP/1.1\r\nHost: a\r\n\r\n');
        size += (await conn.response()).head.length;
        conn.close();
      }
      await until(
        'the counter',
        async () => (await proxy.counters())['MAIN.s_resp_hdrbytes'] === sent + size,
      );
    });

    it('is left out for a late answer that does not need the body', async () => {
      const conn = await open();
      conn.send(head('/late-synth', expecting));
      const got = await conn.response();
      expect(got.interim).toEqual([]);
      expect(field(got, 'Connection')).toBe('close');
      conn.close();
    });

    it.each(['/late-pass', '/late-cache'])('%s asks when the body is needed', async (url) => {
      const conn = await open();
      conn.send(head(url, expecting));
      await until('100 Continue', () => conn.pending > 0);
      conn.send('hello');
      const got = await conn.response();
      expect(got.interim).toHaveLength(1);
      expect(got.status).toBe(200);
      expect(origin.seen(url)[0]?.body.toString()).toBe('hello');
      conn.close();
    });
  });
});
