// Packed bodies and clients of every kind: bombs of a gigabyte that become a thousand times what came, for clients that
// are slow, that leave and that read on; text that arrives while its origin is still sending. Memory is read from the
// worker's own counter.

import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { constants, crc32, createGzip, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection } from '../harness/http-client.ts';
import { type Action, Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy, workerThreads } from '../harness/proxy.ts';

const MB = 1024 * 1024;
/** Unpacked bytes of a bomb. */
const SIZE = 1024 * MB;
const STORE = 32;
/** Extra MB besides the store: each thread has its own heap, whose garbage is collected late. */
const ROOM = 60 + 40 * workerThreads();
const FRESH = { 'Cache-Control': 'max-age=1000' };
const PACKED = { ...FRESH, 'Content-Encoding': 'gzip' };
const PROGRAM = `
sub vcl_recv { if (req.url ~ "^/pass") { return (pass); } }
sub vcl_backend_response {
  if (bereq.url ~ "unpack") { set beresp.do_gunzip = true; }
  if (bereq.url ~ "[^n]pack") { set beresp.do_gzip = true; }
  if (bereq.url ~ "/esi/") { set beresp.do_esi = true; }
}`;

const box = new Sandbox('proxyd-gzip-clients');
let origin: Origin;
let proxy: RunningProxy;
let worker: number;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', FRESH, 'fine\n'));
  const params = { first_byte_timeout: '60', between_bytes_timeout: '60', timeout_idle: '2' };
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, PROGRAM),
    storage: [`malloc,${STORE}m`],
    params,
  });
  worker = proxy.workerPid() as number;
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** A gzip stream of this many zeros, built from megabytes that are compressed once. */
function bomb(size: number): Buffer {
  const zeros = Buffer.alloc(MB);
  const part = deflateRawSync(zeros, { finishFlush: constants.Z_FULL_FLUSH });
  const parts = [gzipSync('').subarray(0, 10)];
  let crc = 0;
  for (let at = 0; at < size; at += MB) {
    parts.push(part);
    crc = crc32(zeros, crc);
  }
  const end = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  end.writeUInt32LE(crc, 2);
  end.writeUInt32LE(size % 2 ** 32, 6);
  return Buffer.concat([...parts, end]);
}

const rss = async (): Promise<number> => (await proxy.counters())['WRK.rss_bytes'] as number;

/** A client that reads this many bytes, slowly if requested, and disconnects; resolves with the data. */
function read(url: string, most: number, pause: number, fields = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    let got = 0;
    const socket = connect(proxy.port, '127.0.0.1');
    socket.setTimeout(60_000, () => reject(new Error(`no news after ${got} bytes`)));
    // A body that breaks off ends in a reset, since this client knows no other end of a whole one.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(got));
    socket.on('data', (bytes: Buffer) => {
      got += bytes.length;
      if (got >= most) socket.destroy();
      else if (pause > 0) {
        socket.pause();
        setTimeout(() => socket.resume(), pause);
      }
    });
    socket.write(`GET ${url} HTTP/1.0\r\nHost: a\r\n${fields}\r\n`);
  });
}

async function isAtRest(): Promise<void> {
  expect(proxy.workerPid()).toBe(worker);
  expect((await proxy.get('/warm', { host: 'a' })).body.toString()).toBe('fine\n');
  await until('no connection of the origin is in use', async () => {
    const counters = Object.entries(await proxy.counters());
    return counters.filter(([name]) => /^VBE\..*\.conn$/.test(name)).every(([, value]) => value === 0);
  });
}

describe('a bomb', () => {
  const packed = bomb(SIZE);
  let before = 0;
  beforeAll(async () => {
    await proxy.get('/warm', { host: 'a' });
    before = await rss();
  });

  it.each([
    ['is passed and unpacked for its client', '/pass/bomb'],
    ['is passed and unpacked on its way in', '/pass/unpack/bomb'],
    ['is stored packed', '/bomb'],
    ['is unpacked into a store that is too small', '/unpack/bomb'],
  ])('that %s costs little memory', async (_name, url) => {
    expect(SIZE / packed.length).toBeGreaterThan(900);
    origin.on(url, respond('200 OK', PACKED, packed));
    let most = before;
    let over = false;
    const watch = (async () => {
      for (; !over; most = Math.max(most, await rss()));
    })();
    const slow = Array.from({ length: 6 }, () => read(url, 8 * MB, 20));
    const quick = read(url, 200 * MB, 0);
    const got = await Promise.all([...slow, quick]);
    over = true;
    await watch;
    // A body that finds no room in the store breaks off.
    if (url !== '/unpack/bomb') for (const bytes of got) expect(bytes).toBeGreaterThanOrEqual(8 * MB);
    expect(most - before, `from ${before} to ${most}`).toBeLessThan((STORE + ROOM) * MB);
    await isAtRest();
  });

  it('is delivered to its last byte', async () => {
    const url = '/whole/bomb';
    // A smaller one: what it costs has been seen.
    const whole = bomb(SIZE / 4);
    origin.on(url, respond('200 OK', PACKED, whole));
    expect(await read(url, Number.POSITIVE_INFINITY, 0)).toBeGreaterThan(SIZE / 4);
    expect(await read(url, Number.POSITIVE_INFINITY, 0, 'Accept-Encoding: gzip\r\n')).toBeLessThan(
      2 * whole.length,
    );
    await isAtRest();
  });
});

describe('a bomb that is read for edge-side includes before anybody sees it', () => {
  it.each(['/pass/esi/bomb', '/pass/esi/unpack/bomb'])('%s is given up with its only client', async (url) => {
    origin.on(url, respond('200 OK', PACKED, bomb(SIZE)));
    await isAtRest();
    const left = async (): Promise<number> =>
      (await proxy.log('-g', 'raw', '-i', 'FetchError', '-d')).split('client went away').length;
    const before = await left();
    const asked = origin.requests.length;
    const socket = connect(proxy.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until('the origin is asked', () => origin.requests.length > asked);
    socket.resetAndDestroy();
    await until('the fetch is given up', async () => (await left()) > before);
    await isAtRest();
  });
});

describe('clients that leave while a body is unpacked or packed', () => {
  it('leave nothing', async () => {
    const text = Buffer.alloc(20 * MB, 'some text that is long enough to be left ');
    const packed = gzipSync(text);
    for (const [url, reply] of [
      ['/left', respond('200 OK', PACKED, packed)],
      ['/unpack/left', respond('200 OK', PACKED, packed)],
      ['/pass/left', respond('200 OK', PACKED, packed)],
      ['/pass/unpack/left', respond('200 OK', PACKED, packed)],
      ['/pass/pack/left', respond('200 OK', FRESH, text)],
    ] as const) {
      origin.on(url, reply);
      await isAtRest();
      const files = readdirSync(`/proc/${worker}/fd`).length;
      for (let n = 0; n < 10; n++) await read(url, 1 + n * 20_000, 0);
      await until('no descriptor is left', () => readdirSync(`/proc/${worker}/fd`).length <= files + 1);
      await isAtRest();
      const whole = await proxy.get(url, { host: 'a' });
      expect(whole.body.equals(text)).toBe(true);
    }
  });
});

describe('text that its origin is still sending', () => {
  // zlib buffers well compressible data until there is more of it.
  const halves = [randomBytes(300_000), randomBytes(300_000)] as const;

  /** The packed halves, each of which can be unpacked when it is there. */
  async function packedHalves(): Promise<Buffer[]> {
    const zip = createGzip();
    const made: Buffer[] = [];
    zip.on('data', (bytes: Buffer) => made.push(bytes));
    await new Promise<void>((resolve) => {
      zip.write(halves[0]);
      zip.flush(constants.Z_SYNC_FLUSH, resolve);
    });
    const first = Buffer.concat(made);
    made.length = 0;
    await new Promise<void>((resolve) => {
      zip.on('end', resolve);
      zip.end(halves[1]);
    });
    return [first, Buffer.concat(made)];
  }

  it.each([
    ['packed for a client that takes gzip', '/stream', true, 'Accept-Encoding: gzip\r\n'],
    ['packed for one that does not', '/stream/plain', true, ''],
    ['unpacked on its way in', '/unpack/stream', true, ''],
    ['unpacked on its way through', '/pass/unpack/stream', true, ''],
    ['packed on its way in', '/pack/stream', false, 'Accept-Encoding: gzip\r\n'],
    ['packed on its way in and unpacked for its client', '/pack/stream/plain', false, ''],
  ])('arrives when it is %s', async (_name, url, isPacked, fields) => {
    const sent = isPacked ? await packedHalves() : halves;
    let goOn = (): void => undefined;
    const hold = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const head = Object.entries(isPacked ? PACKED : FRESH).map(([n, v]) => `${n}: ${v}\r\n`);
    const actions: Action[] = [{ send: `HTTP/1.1 200 OK\r\n${head.join('')}\r\n` }];
    actions.push({ send: sent[0] as Buffer }, { hold }, { send: sent[1] as Buffer }, { close: true });
    origin.on(url, actions);
    const client = await ClientConnection.open(proxy.port);
    client.send(`GET ${url} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`);
    // More than a head: bytes of the body are here before its second half has left the origin.
    await until('the first half is on its way', () => client.pending > 500);
    goOn();
    const { body, complete } = await client.response();
    client.close();
    expect(complete).toBe(true);
    const text = fields === '' ? body : gunzipSync(body);
    expect(text.equals(Buffer.concat(halves))).toBe(true);
  });
});
