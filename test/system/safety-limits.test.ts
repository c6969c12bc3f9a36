// Limits in time: clients and origins that stall, each at another moment, against a daemon with short timeouts.
// A test waits for the event itself (a close, an answer), never for a time; that it comes before the harness
// loses patience is the assertion.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-limits');
const FRESH = { 'Cache-Control': 'max-age=100' };
const FOREVER = { hold: new Promise<void>(() => {}) };
let origin: Origin;
let proxy: RunningProxy;
/** Accepts and never reads. */
let deaf: Server;
const deafSockets: Socket[] = [];
/** Sends a body without end as fast as it is taken; `sent` counts. */
let endless: Server;
let sent = 0;
let endlessOpen = 0;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const listen = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', FRESH, 'fine\n'));
  deaf = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {});
    deafSockets.push(socket);
  });
  endless = createServer((socket) => {
    const piece = Buffer.alloc(65_536, 'x');
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]);
    const pour = (): void => {
      while (!socket.destroyed) {
        sent += piece.length;
        if (!socket.write(chunk)) break;
      }
    };
    endlessOpen++;
    socket.on('close', () => endlessOpen--);
    socket.on('error', () => {});
    socket.on('drain', pour);
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: private\r\n\r\n');
      pour();
    });
  });
  await Promise.all([listen(deaf), listen(endless)]);
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `
backend deaf { .host = "127.0.0.1"; .port = "${portOf(deaf)}"; }
backend endless { .host = "127.0.0.1"; .port = "${portOf(endless)}"; }
sub vcl_recv {
  if (req.url ~ "^/deaf") { set req.backend_hint = deaf; return (pass); }
  if (req.url ~ "^/endless") { set req.backend_hint = endless; return (pass); }
}`,
    ),
    params: {
      timeout_idle: '1',
      // A good origin here shares its process with all clients: longer than a busy machine holds that up.
      first_byte_timeout: '4',
      between_bytes_timeout: '4',
      pipe_timeout: '1',
      idle_send_timeout: '1',
      send_timeout: '3',
    },
  });
});
afterAll(async () => {
  for (const socket of deafSockets) socket.destroy();
  await box.dispose();
  await origin.close();
  deaf.close();
  endless.close();
});

const open = (): Promise<ClientConnection> => ClientConnection.open(proxy.port);

async function ask(url: string, method = 'GET'): Promise<Response | null> {
  const conn = await open();
  conn.send(`${method} ${url} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const got = await conn.response(method).catch(() => null);
  conn.close();
  return got;
}

describe('clients that stall', () => {
  it('one that says nothing is closed', async () => {
    expect(await (await open()).closedByPeer()).toBe(true);
  });

  it('one that says nothing more is closed', async () => {
    const conn = await open();
    conn.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await conn.response()).status).toBe(200);
    expect(await conn.closedByPeer()).toBe(true);
  });

  it('a head that comes a byte at a time does not renew its time', async () => {
    const conn = await open();
    const head = `GET /slow HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(2000)}\r\n\r\n`;
    let at = 0;
    const timer = setInterval(() => conn.send(head.charAt(at++)), 100);
    await conn.rest();
    clearInterval(timer);
    expect(at).toBeLessThan(100);
    expect(origin.seen('/slow')).toEqual([]);
  });

  it.each([
    ['a length', 'Content-Length: 10\r\n\r\nabc'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nab'],
  ])('a body that stalls, with %s', async (_name, rest) => {
    const url = `/stall-${rest.length}`;
    const conn = await open();
    conn.send(`POST ${url} HTTP/1.1\r\nHost: a\r\n${rest}`);
    const got = await conn.response().catch(() => null);
    if (got !== null) expect(got.status).toBe(503);
    await conn.rest();
    expect(origin.seen(url).filter((r) => r.complete)).toEqual([]);
  });

  it('a body that stalls although nobody wants it', async () => {
    await ask('/hit');
    const conn = await open();
    conn.send('GET /hit HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    expect((await conn.response()).status).toBe(200);
    expect((await conn.rest()).length).toBe(0);
  });

  it('one that does not read: the endless body stops, and both connections go', async () => {
    const conn = await open();
    conn.pause();
    conn.send('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('the body has begun', () => endlessOpen > 0);
    await until('the origin is let go', () => endlessOpen === 0);
    // The kernel's buffers and ours: no more than they hold.
    expect(sent).toBeLessThan(40_000_000);
    conn.resume();
    await conn.rest();
  });

  it('one that does not read a cached body', async () => {
    origin.on('/large', respond('200 OK', FRESH, Buffer.alloc(30_000_000, 'z')));
    // Fetched by a request that reads no body: one that did might be too slow for these limits itself.
    const stored = (await proxy.counters())['SMA.s0.g_bytes'] ?? 0;
    expect((await ask('/large', 'HEAD'))?.status).toBe(200);
    await proxy.counterReaches('SMA.s0.g_bytes', stored + 30_000_000);
    const before = (await proxy.counters())['MAIN.sc_tx_error'] ?? 0;
    const conn = await open();
    conn.pause();
    conn.send('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    await proxy.counterReaches('MAIN.sc_tx_error', before + 1);
    conn.resume();
    expect((await conn.rest()).length).toBeLessThan(30_000_000);
  });

  it('a pipe in which nothing moves', async () => {
    origin.on('/pipe', [{ send: 'HTTP/1.1 200 OK\r\n\r\nsome' }, FOREVER]);
    const conn = await open();
    conn.send('BREW /pipe HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await conn.rest()).toString()).toContain('some');
  });
});

// They wait at the same time, each for an end of its own.
describe.concurrent('origins that stall', () => {
  it('no answer', async () => {
    origin.on('/mute', [FOREVER]);
    expect((await ask('/mute'))?.status).toBe(503);
  });

  it('half a head', async () => {
    origin.on('/half', [{ send: 'HTTP/1.1 200 OK\r\nX: ' }, FOREVER]);
    expect((await ask('/half'))?.status).toBe(503);
  });

  it('interim answers for ever', async () => {
    const early = Array.from({ length: 60 }, () => [
      { send: 'HTTP/1.1 100 Continue\r\n\r\n' },
      { wait: 100 },
    ]);
    origin.on('/hundreds', [...early.flat(), ...respond('200 OK')]);
    expect((await ask('/hundreds'))?.status).toBe(503);
  });

  it.each([
    ['a length', 'Content-Length: 10\r\n\r\nabc'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['an end', '\r\nabc'],
  ])('a body that should be ended by %s', async (_name, rest) => {
    const url = `/part-${rest.length}`;
    origin.on(url, [{ send: `HTTP/1.1 200 OK\r\n${rest}` }, FOREVER]);
    expect((await ask(url))?.complete ?? false).toBe(false);
  });

  it('one that does not read an upload', async () => {
    const conn = await open();
    conn.send('POST /deaf HTTP/1.1\r\nHost: a\r\nContent-Length: 40000000\r\n\r\n');
    conn.send(Buffer.alloc(40_000_000, 'x'));
    const got = await conn.response();
    expect(got.status).toBe(503);
    expect(field(got, 'Connection')).toBe('close');
    conn.close();
  });

  it('hits are served while hundreds of fetches hang', async () => {
    await ask('/hit');
    const hanging = Array.from({ length: 300 }, (_, i) => ask(`/deaf-${i}`));
    await until('they hang', () => deafSockets.length > 250);
    for (let i = 0; i < 20; i++) expect((await ask('/hit'))?.status).toBe(200);
    expect((await Promise.all(hanging)).map((got) => got?.status)).toEqual(hanging.map(() => 503));
  });
});

describe('an origin that comes and goes', () => {
  it('is stood in for by what is stale, and asked at once when it is back', async () => {
    const port = origin.port;
    origin.on('/grace', (_request, n) =>
      respond('200 OK', { 'Cache-Control': 'max-age=1, stale-while-revalidate=100' }, `v${n}`),
    );
    expect((await ask('/grace'))?.body.toString()).toBe('v1');
    await origin.close();
    await until('it is stale', async () => Number(field((await ask('/grace')) as Response, 'Age')) >= 2);
    for (let i = 0; i < 3; i++) {
      const got = await ask('/grace');
      expect(got?.status).toBe(200);
      expect(got?.body.toString()).toBe('v1');
    }
    expect((await ask('/never'))?.status).toBe(503);
    origin = await Origin.start(port);
    origin.on('/grace', respond('200 OK', FRESH, 'back'));
    origin.on('*', respond('200 OK', FRESH, 'fine\n'));
    await until('the new one', async () => (await ask('/grace'))?.body.toString() === 'back');
    expect((await ask('/never'))?.status).toBe(200);
  });
});

describe('afterwards', () => {
  it('nothing is in use any more', async () => {
    await until('all given back', async () => {
      const counters = await proxy.counters();
      const names = Object.keys(counters).filter((each) => /^VBE\..*\.conn$/.test(each));
      return names.length > 0 && names.every((name) => counters[name] === 0);
    });
    expect((await proxy.adm('panic.show')).code).not.toBe(0);
  });
});
