// Objects in slices (req.slice): what the origin is asked for, what clients get, and what takes all slices out of the cache.
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ClientConnection, field, type Response } from '../harness/http-client.ts';
import { Origin, type OriginRequest, type Reply, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-slices');
const SIZE = 100_000;
const SLICE = 16 * 1024;
const ALL = Math.ceil(SIZE / SLICE);

function bytesOf(seed: number, length = SIZE): Buffer {
  const bytes = Buffer.alloc(length);
  let x = seed * 2654435761;
  for (let i = 0; i < length; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}

interface File {
  body: Buffer;
  etag: string | null;
  fields: Record<string, string>;
  /** Answers instead. */
  reply: ((request: OriginRequest, range: [number, number] | null) => Reply | null) | null;
}

const files = new Map<string, File>();
let origin: Origin;
let proxy: RunningProxy;
let url = '';
let count = 0;
let file: File;

function headerIn(head: string, name: string): string | null {
  return new RegExp(`^${name}: *(.*?)\\r?$`, 'im').exec(head)?.[1] ?? null;
}

function rangeIn(head: string, length: number): [number, number] | null {
  const match = /^range: bytes=(\d+)-(\d+)/im.exec(head);
  return match === null ? null : [Number(match[1]), Math.min(length, Number(match[2]) + 1)];
}

function answer(request: OriginRequest): Reply {
  const it = files.get(request.url) as File;
  const { body, etag } = it;
  const range = rangeIn(request.head, body.length);
  const own = it.reply?.(request, range) ?? null;
  if (own !== null) return own;
  const fields: Record<string, string> = { 'Cache-Control': 'max-age=100', ...it.fields };
  if (etag !== null && etag !== fields['Last-Modified']) fields.ETag = etag;
  if (etag !== null && headerIn(request.head, 'If-None-Match') === etag)
    return respond('304 Not Modified', fields);
  const condition = headerIn(request.head, 'If-Range');
  if (range === null || (condition !== null && condition !== etag)) return respond('200 OK', fields, body);
  if (range[0] >= body.length)
    return respond('416 Range Not Satisfiable', { 'Content-Range': `bytes */${body.length}` });
  fields['Content-Range'] = `bytes ${range[0]}-${range[1] - 1}/${body.length}`;
  return respond('206 Partial Content', fields, body.subarray(range[0], range[1]));
}

const PROGRAM = `
import std;
sub vcl_recv {
  set req.slice = 16KB;
  if (req.http.X-Host) { set req.http.Host = req.http.X-Host; }
  if (req.http.X-Parts) { set req.slice = 0B; set req.parts = true; }
  if (req.http.X-Slice) { set req.slice = std.bytes(req.http.X-Slice, 0B); }
  if (req.method == "PURGE") { return (purge); }
  if (req.method == "BAN") { ban("obj.http.X-Url == " + req.url); return (synth(200)); }
  if (req.url ~ "^/pass") { return (pass); }
}
sub vcl_backend_response {
  set beresp.http.X-Url = bereq.url;
  if (bereq.http.X-Ttl) { set beresp.ttl = std.duration(bereq.http.X-Ttl, 1s); }
  set beresp.grace = 0s;
  set beresp.keep = 100s;
  set beresp.storage = storage.s0;
  if (bereq.http.X-Small) { set beresp.storage = storage.small; }
  if (bereq.url ~ "^/private") { set beresp.uncacheable = true; }
  if (bereq.url ~ "^/gzip") { set beresp.do_gzip = true; }
  if (bereq.url ~ "^/page") { set beresp.do_esi = true; }
}
sub vcl_backend_fetch {
  if (bereq.http.X-Fail == bereq.http.Range) { return (fail); }
}
sub vcl_backend_error { set beresp.ttl = 100s; set beresp.uncacheable = false; }
sub vcl_deliver { set resp.http.X-Hits = obj.hits; }
`;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', answer);
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, PROGRAM),
    params: { feature: '+http2', http_multi_range: 'on' },
    storage: ['malloc,32m', 'small=malloc,1m'],
  });
});
afterAll(async () => {
  await proxy.stop();
  await origin.close();
  box.dispose();
});

/** Each test has an object of its own. */
beforeEach(() => {
  make(`/${count++}`);
});

function make(name: string): void {
  url = name;
  file = { body: bytesOf(count), etag: '"a"', fields: {}, reply: null };
  files.set(url, file);
}

const get = (range: string | null = null, fields: Record<string, string> = {}): Promise<Response> =>
  proxy.get(url, { fields: range === null ? fields : { Range: range, ...fields } });
const asked = (): (string | null)[] =>
  origin.requests.filter((request) => request.url === url).map(({ head }) => headerIn(head, 'Range'));
const slice = (n: number): string => `bytes=${n * SLICE}-${n === ALL - 1 ? SIZE - 1 : (n + 1) * SLICE - 1}`;
const first = (n: number): string => `bytes=${n * SLICE}-${(n + 1) * SLICE - 1}`;
const hash = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('hex');

describe('a miss', () => {
  it('fetches the whole in slices, each once, and sends it as one response', async () => {
    const r = await get();
    expect([r.status, field(r, 'Content-Length'), field(r, 'Content-Range')]).toEqual([
      200,
      String(SIZE),
      undefined,
    ]);
    expect(hash(r.body)).toBe(hash(file.body));
    expect(asked()).toEqual([first(0), ...Array.from({ length: ALL - 1 }, (_, i) => slice(i + 1))]);
    const again = await get();
    expect([hash(again.body), field(again, 'X-Hits')]).toEqual([hash(file.body), '1']);
    expect(asked()).toHaveLength(ALL);
  });

  it('asks for later slices on condition of the ETag, and for no packed bytes', async () => {
    await get(null, { 'Accept-Encoding': 'gzip' });
    const heads = origin.requests.filter((request) => request.url === url).map(({ head }) => head);
    expect(heads.map((head) => headerIn(head, 'If-Range'))).toEqual([null, ...Array(ALL - 1).fill('"a"')]);
    expect(new Set(heads.map((head) => headerIn(head, 'Accept-Encoding')))).toEqual(new Set(['identity']));
  });

  it('begins with the slice that the client wants, and fetches no other', async () => {
    const r = await get('bytes=50000-50009');
    expect([r.status, field(r, 'Content-Range')]).toEqual([206, `bytes 50000-50009/${SIZE}`]);
    expect(r.body).toEqual(file.body.subarray(50_000, 50_010));
    expect(asked()).toEqual([first(3)]);
    const other = await get('bytes=70000-');
    expect(other.body).toEqual(file.body.subarray(70_000));
    expect(asked()).toEqual([first(3), slice(4), slice(5), slice(6)]);
  });

  it('has one fetch for all who want a slice', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => get('bytes=40000-79999')));
    for (const r of all) expect(hash(r.body)).toBe(hash(file.body.subarray(40_000, 80_000)));
    expect(asked().sort()).toEqual([first(2), slice(3), slice(4)]);
  });

  it.each([
    ['bytes=-500', 206, [SIZE - 500, SIZE]],
    ['bytes=99999-', 206, [SIZE - 1, SIZE]],
    ['bytes=200000-', 416, [0, 0]],
    ['bytes=5-2', 416, [0, 0]],
    ['lines=1-2', 200, [0, SIZE]],
  ] as const)('answers %s with %i', async (range, status, [from, to]) => {
    const r = await get(range);
    expect(r.status).toBe(status);
    if (status === 416) expect(field(r, 'Content-Range')).toBe(`bytes */${SIZE}`);
    else expect(hash(r.body)).toBe(hash(file.body.subarray(from, to)));
  });

  it('answers several ranges out of several slices', async () => {
    const r = await get('bytes=90000-90003,0-3');
    expect(r.status).toBe(206);
    expect(field(r, 'Content-Type')).toMatch(/^multipart\/byteranges/);
    const text = r.body.toString('latin1');
    expect(text.indexOf(file.body.toString('latin1', 90_000, 90_004))).toBeGreaterThan(0);
    expect(text).toContain(`bytes 0-3/${SIZE}`);
  });

  it('follows If-Range and other conditions', async () => {
    await get('bytes=0-0');
    expect((await get('bytes=0-9', { 'If-Range': '"a"' })).status).toBe(206);
    expect((await get('bytes=0-9', { 'If-Range': '"b"' })).status).toBe(200);
    expect((await get(null, { 'If-None-Match': '"a"' })).status).toBe(304);
  });

  it('answers HEAD with the length of the whole', async () => {
    const r = await proxy.get(url, { method: 'HEAD' });
    expect([r.status, field(r, 'Content-Length')]).toEqual([200, String(SIZE)]);
    expect(asked()).toEqual([first(0)]);
  });
});

describe('while the head of an object is on its way', () => {
  const at = (range: readonly [number, number] | null): number => (range === null ? -1 : range[0] / SLICE);
  const part = (n: number): string => `bytes=${n * SLICE}-${n * SLICE + 99}`;
  const gate = (): { promise: Promise<void>; resolve: () => void } => {
    let resolve = (): void => undefined;
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    return { promise, resolve };
  };
  const bytes = (n: number, of = file.body): string => hash(of.subarray(n * SLICE, n * SLICE + 100));

  /** Answers the first request once `others` more have come; `instead` may answer those. */
  function holdHead(
    others: number,
    instead: (request: OriginRequest, n: number) => Reply | null = () => null,
    head: () => Reply | null = () => null,
  ): void {
    const { promise, resolve } = gate();
    let first = true;
    let left = others;
    file.reply = (request, range) => {
      if (first) {
        first = false;
        const { reply } = file;
        file.reply = null;
        const answered = head() ?? answer(request);
        file.reply = reply;
        return [{ hold: promise }, ...answered];
      }
      left--;
      if (left === 0) resolve();
      return instead(request, at(range));
    };
  }

  /** The client whose fetch brings the head, and the others once the origin has its request. */
  async function ask(
    [own, ...others]: string[],
    fields: (i: number) => Record<string, string> = () => ({}),
  ): Promise<Response[]> {
    const head = get(own, fields(0));
    await until('the fetch of the head', () => asked().length > 0);
    return Promise.all([head, ...others.map((range, i) => get(range, fields(i + 1)))]);
  }

  it('asks for the slices of those who wait for it, each once', async () => {
    holdHead(2);
    const all = await ask([part(1), part(3), part(3), part(5), part(1)]);
    expect(all.map((r) => [r.status, hash(r.body)])).toEqual([1, 3, 3, 5, 1].map((n) => [206, bytes(n)]));
    expect(asked().sort()).toEqual([first(1), first(3), first(5)]);
    expect((await get()).body.equals(file.body)).toBe(true);
    expect(asked()).toHaveLength(ALL);
  });

  it('uses none that is of another version', async () => {
    const other = { ...file, body: bytesOf(777), etag: '"b"' };
    let isFirst = true;
    holdHead(1, ({ head }) => {
      if (!isFirst) return null;
      isFirst = false;
      const [from, to] = rangeIn(head, SIZE) as [number, number];
      const fields = {
        ETag: '"b"',
        'Cache-Control': 'max-age=100',
        'Content-Range': `bytes ${from}-${to - 1}/${SIZE}`,
      };
      return respond('206 Partial Content', fields, other.body.subarray(from, to));
    });
    const all = await ask([part(1), part(3)]);
    expect(all.map((r) => hash(r.body))).toEqual([bytes(1), bytes(3)]);
    expect(asked()).toEqual([first(1), first(3), slice(3)]);
  });

  it('uses none without an ETag: a variant may have been changed in the same second', async () => {
    const changed = 'Sun, 06 Nov 1994 08:49:37 GMT';
    file.etag = changed;
    file.fields = { 'Last-Modified': changed, Date: new Date().toUTCString() };
    holdHead(1);
    const all = await ask([part(1), part(3)]);
    expect(all.map((r) => hash(r.body))).toEqual([bytes(1), bytes(3)]);
    expect(asked()).toHaveLength(3);
  });

  it('gives each client its variant', async () => {
    const bodies = [bytesOf(901), bytesOf(902)];
    const answerOf = ({ head }: OriginRequest): Reply => {
      const which = Number(headerIn(head, 'X-Lang'));
      const [from, to] = rangeIn(head, SIZE) as [number, number];
      const fields = {
        ETag: `"${which}"`,
        Vary: 'X-Lang',
        'Cache-Control': 'max-age=100',
        'Content-Range': `bytes ${from}-${to - 1}/${SIZE}`,
      };
      return respond('206 Partial Content', fields, bodies[which]?.subarray(from, to));
    };
    holdHead(1, answerOf, () => answerOf(origin.requests.findLast((r) => r.url === url) as OriginRequest));
    const all = await ask([part(1), part(3), part(3)], (i) => ({ 'X-Lang': String(i % 2) }));
    expect(all.map((r) => hash(r.body))).toEqual([
      bytes(1, bodies[0]),
      bytes(3, bodies[1]),
      bytes(3, bodies[0]),
    ]);
  });

  it('asks an origin that answers no ranges for no more than those, and never again', async () => {
    const whole = (): Reply => respond('200 OK', { ETag: '"a"', 'Cache-Control': 'max-age=100' }, file.body);
    const fields = { 'X-Host': 'no-ranges.test' };
    holdHead(1, whole, whole);
    const all = await ask([part(1), part(3), part(5)], () => fields);
    expect(all.map((r) => [r.status, hash(r.body)])).toEqual([1, 3, 5].map((n) => [206, bytes(n)]));
    // The last one may come when it is known already.
    expect([2, 3]).toContain(asked().length);
    make(`${url}-again`);
    const { promise, resolve } = gate();
    file.reply = () => [{ hold: promise }, ...whole()];
    const before = (await proxy.counters())['MAIN.busy_sleep'] as number;
    const waits = ask([part(1), part(3), part(5)], () => fields);
    await proxy.counterReaches('MAIN.busy_sleep', before + 2);
    resolve();
    expect((await waits).map((r) => hash(r.body))).toEqual([1, 3, 5].map((n) => bytes(n)));
    // Each thread learns it by itself.
    if (process.env.PROXYD_TEST_THREADS === '1') expect(asked()).toHaveLength(1);
  });

  it('answers all where there comes no head, and keeps none of their slices then', async () => {
    const objects = async (): Promise<number> => (await proxy.counters())['MAIN.n_object'] ?? 0;
    const before = await objects();
    holdHead(
      2,
      () => null,
      () => respond('500 Internal Server Error'),
    );
    const all = await ask([part(1), part(3), part(5)]);
    const right = [1, 3, 5].map((n) => bytes(n));
    expect(all.every((r, i) => r.status === 500 || hash(r.body) === right[i])).toBe(true);
    expect((await get()).body.equals(file.body)).toBe(true);
    await proxy.get(url, { method: 'PURGE' });
    await until('none of its objects left', async () => (await objects()) <= before);
  });
});

describe('an object that cannot be kept in slices is fetched whole', () => {
  const whole = async (requests: (string | null)[]): Promise<void> => {
    const r = await get('bytes=50000-50009');
    expect([r.status, hash(r.body)]).toEqual([206, hash(file.body.subarray(50_000, 50_010))]);
    expect(asked()).toEqual(requests);
  };

  it('when the origin ignores Range', async () => {
    file.reply = () => respond('200 OK', { 'Cache-Control': 'max-age=100', ETag: '"a"' }, file.body);
    await whole([first(3)]);
    await whole([first(3)]);
  });

  it('without a strong validator', async () => {
    file.etag = null;
    await whole([first(3), null]);
  });

  it('with a weak one', async () => {
    file.etag = 'W/"a"';
    await whole([first(3), null]);
  });

  it('of unknown length', async () => {
    file.reply = (_, range) =>
      range === null
        ? null
        : respond(
            '206 Partial Content',
            { 'Content-Range': `bytes ${range[0]}-${range[1] - 1}/*` },
            file.body.subarray(...range),
          );
    await whole([first(3), null]);
  });

  it('when another range comes', async () => {
    file.reply = (_, range) =>
      range === null
        ? null
        : respond(
            '206 Partial Content',
            { ETag: '"a"', 'Content-Range': `bytes 0-9/${SIZE}` },
            file.body.subarray(0, 10),
          );
    await whole([first(3), null]);
  });

  it.each([{ etag: '"b"' }, { 'content-range': 'bytes 0-9/10' }])(
    'when it contradicts itself: %o',
    async (second) => {
      file.reply = (_, range) =>
        range === null
          ? null
          : respond(
              '206 Partial Content',
              { ETag: '"a"', 'Content-Range': `bytes ${range[0]}-${range[1] - 1}/${SIZE}`, ...second },
              file.body.subarray(...range),
            );
      await whole([first(3), null]);
    },
  );

  it('in another coding', async () => {
    file.fields = { 'Content-Encoding': 'br' };
    await whole([first(3), null]);
  });

  it('when the program packs it', async () => {
    make(`/gzip/${count++}`);
    const r = await get();
    expect(hash(r.body)).toBe(hash(file.body));
    expect(asked()).toEqual([first(0), null]);
  });

  it('when it is not for keeping, and then at once', async () => {
    make(`/private/${count++}`);
    expect(hash((await get()).body)).toBe(hash(file.body));
    expect(hash((await get()).body)).toBe(hash(file.body));
    expect(asked()).toEqual([first(0), null, null]);
  });

  it('when the request is passed', async () => {
    make(`/pass/${count++}`);
    expect((await get('bytes=5-9')).body).toEqual(file.body.subarray(5, 10));
    expect(asked()).toEqual(['bytes=5-9']);
  });
});

it('keeps what fits into one slice like any other object, pages too', async () => {
  make(`/page/${count++}`);
  file.body = Buffer.from('<esi:remove>gone</esi:remove><p>here</p>');
  file.etag = null;
  expect((await get()).body.toString()).toBe('<p>here</p>');
  expect((await get()).body.toString()).toBe('<p>here</p>');
  expect(asked()).toEqual([first(0)]);
});

it('fetches an empty object', async () => {
  file.body = Buffer.alloc(0);
  const r = await get();
  expect([r.status, r.body.length]).toEqual([200, 0]);
});

describe('another version', () => {
  it('breaks the delivery off, and takes the old slices out of the cache', async () => {
    await get('bytes=0-40000');
    const old = file.body;
    file.body = bytesOf(999);
    file.etag = '"b"';
    await expect(get().then(({ complete }) => complete)).resolves.toBe(false);
    expect(hash(old)).not.toBe(hash(file.body));
    const r = await get();
    expect([hash(r.body), field(r, 'ETag')]).toEqual([hash(file.body), '"b"']);
  });

  it('is refused where the origin sends parts of it whatever If-Range says', async () => {
    file.reply = (_, range) =>
      range === null || range[0] !== 3 * SLICE
        ? null
        : respond(
            '206 Partial Content',
            { ETag: '"b"', 'Content-Range': `bytes ${range[0]}-${range[1] - 1}/${SIZE}` },
            bytesOf(998).subarray(...range),
          );
    const r = await get();
    expect([r.complete, r.body.equals(file.body.subarray(0, r.body.length))]).toEqual([false, true]);
  });

  it('is found by revalidation, and the same one keeps its slices', async () => {
    await get(null, { 'X-Ttl': '0.1s' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = asked().length;
    expect(hash((await get(null, { 'X-Ttl': '100s' })).body)).toBe(hash(file.body));
    // The first slice brings the others back to life, one by one, by conditional requests.
    const heads = origin.requests.filter((request) => request.url === url).slice(before);
    expect(heads.map(({ head }) => headerIn(head, 'If-None-Match'))).toEqual(Array(ALL).fill('"a"'));
    await get();
    expect(asked().length).toBe(before + ALL);
    file.body = bytesOf(77);
    file.etag = '"c"';
    expect((await proxy.get(url, { method: 'PURGE' })).status).toBe(200);
    expect(hash((await get()).body)).toBe(hash(file.body));
  });
});

describe('all slices go', () => {
  it('with a purge', async () => {
    await get();
    await proxy.get(url, { method: 'PURGE' });
    await get('bytes=50000-60000');
    expect(asked().slice(ALL)).toEqual([first(3)]);
  });

  it('with a ban', async () => {
    await get();
    await proxy.get(url, { method: 'BAN' });
    await get('bytes=50000-60000');
    expect(asked().slice(ALL)).toEqual([first(3)]);
  });
});

describe('counts in the log the slices', () => {
  const noticed = async (hits: number, fetched: number, range: string): Promise<void> => {
    await get(range, { 'X-Mark': `${url}-${hits}` });
    const text = await proxy.logged(
      / fetched/,
      ...['-q', `ReqHeader:X-Mark eq "${url}-${hits}"`, '-i', 'Notice'],
    );
    expect(text).toContain(` ${hits} hits, ${fetched} fetched`);
  };

  it('that were fetched and those that were there, the one with the head as any other', async () => {
    await noticed(0, 1, 'bytes=0-99');
    await noticed(1, 2, 'bytes=0-40000');
    await noticed(3, 0, 'bytes=0-40000');
    await noticed(2, 0, 'bytes=20000-40000');
    await noticed(0, 2, 'bytes=50000-80000');
  });
});

it('fetches the rest of a slice that breaks off, once', async () => {
  let breaks = 1;
  const breaking: File['reply'] = (_, range) => {
    if (range === null || Math.floor(range[0] / SLICE) !== 2 || breaks === 0) return null;
    breaks--;
    const [from, to] = range;
    const place = { ETag: '"a"', 'Content-Range': `bytes ${from}-${to - 1}/${SIZE}` };
    const [{ send }] = respond('206 Partial Content', place, file.body.subarray(from, to)) as readonly [
      { send: Buffer },
    ];
    return [{ send: send.subarray(0, send.length - 5000) }, { wait: 50 }, { close: true }];
  };
  file.reply = breaking;
  expect((await get()).body.equals(file.body)).toBe(true);
  expect(asked().slice(2)).toContain(`bytes=${3 * SLICE - 5000}-${3 * SLICE - 1}`);
  make(`/${count++}`);
  file.reply = breaking;
  breaks = 2;
  const r = await get();
  expect(r.complete).toBe(false);
  expect(r.body.equals(file.body.subarray(0, r.body.length))).toBe(true);
});

it('cuts nobody off where the store has no room for all who read, and needs little memory then', async () => {
  file.body = bytesOf(count, 8 << 20);
  const fields = { 'X-Small': 'yes', 'X-Slice': '200KB' };
  const slow = await Promise.all(
    Array.from({ length: 4 }, async (_, i) => {
      const client = await ClientConnection.open(proxy.port);
      client.pause();
      const range = `bytes=${i * 300_000}-${(8 << 20) - 1}`;
      client.send(
        `GET ${url} HTTP/1.1\r\nHost: x\r\nX-Small: yes\r\nX-Slice: 200KB\r\nRange: ${range}\r\n\r\n`,
      );
      return { client, from: i * 300_000 };
    }),
  );
  const r = await get(null, fields);
  expect([r.complete, r.body.equals(file.body)]).toEqual([true, true]);
  // The slow ones have two slices each at the most, and not one more is kept for anybody.
  expect((await proxy.counters())['SMA.Transient.g_bytes']).toBeLessThan(2 << 20);
  for (const { client, from } of slow) {
    client.resume();
    const read = await client.response();
    expect([read.status, read.complete, read.body.equals(file.body.subarray(from))]).toEqual([
      206,
      true,
      true,
    ]);
    client.close();
  }
});

it('tries a slice again that was not to be had ahead', async () => {
  let refused = 0;
  file.reply = (_, range) =>
    range?.[0] === 2 * SLICE && refused++ === 0 ? respond('500 Internal Server Error') : null;
  expect((await get()).body.equals(file.body)).toBe(true);
  expect(refused).toBe(2);
});

it('cuts a client off where a slice is not to be had', async () => {
  file.reply = (_, range) =>
    range !== null && range[0] === 3 * SLICE ? respond('500 Internal Server Error', {}, 'sorry') : null;
  const r = await get();
  expect([r.status, r.complete]).toEqual([200, false]);
  expect(r.body.length).toBeLessThanOrEqual(3 * SLICE);
  expect(hash(r.body)).toBe(hash(file.body.subarray(0, r.body.length)));
  file.reply = null;
  expect(hash((await get()).body)).toBe(hash(file.body));
});

const partly = (range: [number, number], more: Record<string, string>): Reply =>
  respond(
    '206 Partial Content',
    { 'Cache-Control': 'max-age=100', ETag: '"a"', ...more },
    bytesOf(3, range[1] - range[0]),
  );

describe('an answer to a later slice', () => {
  const refuse =
    (status: string, fields: Record<string, string> = {}) =>
    (): Reply =>
      respond(status, { 'Cache-Control': 'max-age=100', ...fields }, 'no');

  async function cutAt(reply: (range: [number, number]) => Reply): Promise<void> {
    await get('bytes=0-20000');
    file.reply = (_, range) => (range?.[0] === 3 * SLICE ? reply(range) : null);
    const r = await get();
    expect([r.status, r.complete]).toEqual([200, false]);
    expect(hash(r.body)).toBe(hash(file.body.subarray(0, r.body.length)));
    file.reply = null;
  }

  it.each([
    ['401 Unauthorized', {}],
    ['403 Forbidden', {}],
    ['429 Too Many Requests', {}],
    ['500 Internal Server Error', {}],
    ['503 Service Unavailable', {}],
    ['304 Not Modified', { ETag: '"a"' }],
    ['302 Found', { Location: '/' }],
  ] as const)('%s cuts the delivery that asked for it alone', async (status, fields) => {
    await cutAt(refuse(status, fields));
    const before = asked().length;
    expect(hash((await get()).body)).toBe(hash(file.body));
    // All that was there is used, and what was refused is asked for again.
    const again = asked().slice(before);
    expect(again[0]).toBe(slice(3));
    expect(again).not.toContain(first(0));
    expect(again).not.toContain(slice(1));
  });

  it('that is refused to one client is asked for again by those who wait for it', async () => {
    await get('bytes=0-20000');
    file.reply = ({ head }, range) =>
      range?.[0] === 3 * SLICE && headerIn(head, 'X-Key') !== 'right'
        ? [{ wait: 200 }, ...respond('401 Unauthorized', { 'Cache-Control': 'max-age=100' }, 'no')]
        : null;
    const wrong = get(null, { 'X-Key': 'wrong' });
    await until('the slice is asked for', async () => asked().includes(slice(3)) || null);
    const right = await get(null, { 'X-Key': 'right' });
    expect([right.complete, hash(right.body)]).toEqual([true, hash(file.body)]);
    const { body } = await wrong;
    expect(body.equals(file.body.subarray(0, body.length))).toBe(true);
  });

  it('of a failed backend is no slice, whatever life the program gives it', async () => {
    await get('bytes=0-20000');
    const failing = await get(null, { 'X-Fail': slice(3) });
    expect([failing.status, failing.complete]).toEqual([200, false]);
    expect(hash((await get()).body)).toBe(hash(file.body));
  });

  it.each([
    ['404', refuse('404 Not Found')],
    ['410', refuse('410 Gone')],
    ['412', refuse('412 Precondition Failed')],
    ['416', refuse('416 Range Not Satisfiable', { 'Content-Range': 'bytes */10' })],
    ['200', refuse('200 OK', { ETag: '"b"' })],
    ['206 of another validator', (range) => partly(range, { ETag: '"b"', ...placeOf(range) })],
    ['206 without one', (range) => partly(range, { ETag: '', ...placeOf(range) })],
    ['206 of another range', (range) => partly(range, { 'Content-Range': `bytes 0-${SLICE - 1}/${SIZE}` })],
    [
      '206 of another length',
      (range) => partly(range, { 'Content-Range': `bytes ${range[0]}-${range[1] - 1}/${SIZE + 1}` }),
    ],
    [
      '206 of unknown length',
      (range) => partly(range, { 'Content-Range': `bytes ${range[0]}-${range[1] - 1}/*` }),
    ],
    ['206 in a coding', (range) => partly(range, { 'Content-Encoding': 'gzip', ...placeOf(range) })],
    ['206 without a range', (range) => partly(range, {})],
  ] as [string, (range: [number, number]) => Reply][])(
    '%s begins the object anew with the next request',
    async (_, reply) => {
      await cutAt(reply);
      file.body = bytesOf(count + 1000);
      file.etag = '"b"';
      const r = await get();
      expect([r.complete, hash(r.body), field(r, 'ETag')]).toEqual([true, hash(file.body), '"b"']);
      expect(asked().slice(-ALL)[0]).toBe(first(0));
    },
  );
});

describe('a response that would begin with a slice', () => {
  const third = `bytes=${3 * SLICE}-${4 * SLICE - 1}`;

  it.each([
    ['401 Unauthorized', { 'WWW-Authenticate': 'Basic' }],
    ['403 Forbidden', {}],
    ['429 Too Many Requests', { 'Retry-After': '7' }],
    ['503 Service Unavailable', {}],
  ] as const)('that the origin refuses (%s) is the answer of the origin', async (status, fields) => {
    await get('bytes=0-20000');
    file.reply = ({ head }) => (headerIn(head, 'X-Key') === 'wrong' ? respond(status, fields, 'no') : null);
    const wrong = await get(third, { 'X-Key': 'wrong' });
    const [name = '', value = ''] = Object.entries(fields)[0] ?? [];
    expect([wrong.status, wrong.body.toString(), field(wrong, name) ?? '']).toEqual([
      Number(status.slice(0, 3)),
      'no',
      value,
    ]);
    // Slices that are there are sent to anybody, and the slice to who may have it.
    expect((await get('bytes=0-9', { 'X-Key': 'wrong' })).status).toBe(206);
    const right = await get(third, { 'X-Key': 'right' });
    expect([right.status, hash(right.body)]).toEqual([206, hash(file.body.subarray(3 * SLICE, 4 * SLICE))]);
    expect(asked().filter((range) => range === first(0))).toHaveLength(1);
  });

  it('of another version is of that version', async () => {
    await get('bytes=0-20000');
    file.body = bytesOf(997);
    file.etag = '"b"';
    const r = await get(third, { 'X-Mark': url });
    expect([r.status, field(r, 'ETag'), hash(r.body)]).toEqual([
      206,
      '"b"',
      hash(file.body.subarray(3 * SLICE, 4 * SLICE)),
    ]);
    const text = await proxy.logged(/ fetched/, '-q', `ReqHeader:X-Mark eq "${url}"`, '-i', 'Notice');
    expect(text).toContain('each: 0 hits, 1 fetched');
  });

  it('of an object that is gone is gone', async () => {
    await get('bytes=0-20000');
    file.reply = () => respond('404 Not Found', {}, 'gone');
    const r = await get(third);
    expect([r.status, r.body.toString()]).toEqual([404, 'gone']);
  });

  it('asks for none where no body is sent', async () => {
    await get('bytes=0-20000');
    const before = asked().length;
    const unchanged = await get(third, { 'If-None-Match': '"a"' });
    const head = await proxy.get(url, { method: 'HEAD', fields: { Range: third } });
    const beyond = await get('bytes=200000-');
    expect([unchanged.status, head.status, beyond.status]).toEqual([304, 200, 416]);
    expect(asked()).toHaveLength(before);
  });

  it('waits for it in vain when its client leaves, and keeps it', async () => {
    await get('bytes=0-20000');
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    file.reply = (_, range) =>
      range?.[0] === 3 * SLICE ? [{ hold: released }, ...partly(range, { ...placeOf(range) })] : null;
    const client = await ClientConnection.open(proxy.port);
    client.send(`GET ${url} HTTP/1.1\r\nHost: example.test\r\nRange: ${third}\r\n\r\n`);
    await until('the slice is asked for', async () => asked().includes(slice(3)) || null);
    client.close();
    release();
    await until('it is there', async () => ((await get(third)).complete ? true : null));
    expect(asked().filter((range) => range === slice(3))).toHaveLength(1);
  });
});

function placeOf([from, to]: [number, number]): Record<string, string> {
  return { 'Content-Range': `bytes ${from}-${to - 1}/${SIZE}` };
}

it('cuts a client off where a slice is shorter than it says', async () => {
  file.reply = (_, range) =>
    range === null || range[0] !== 3 * SLICE
      ? null
      : [
          {
            send: `HTTP/1.1 206 Partial Content\r\nETag: "a"\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes ${range[0]}-${range[1] - 1}/${SIZE}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
          },
        ];
  const r = await get();
  expect(r.complete).toBe(false);
  file.reply = null;
  expect(hash((await get()).body)).toBe(hash(file.body));
});

describe('parts that clients ask for (req.parts)', () => {
  const part = async (range: string | null, more: Record<string, string> = {}): Promise<Response> => {
    const r = await get(range, { 'X-Parts': 'yes', ...more });
    const [, low = '0', high = String(SIZE - 1)] =
      /^bytes (\d+)-(\d+)\//.exec(field(r, 'Content-Range') ?? '') ?? [];
    expect(r.body.equals(file.body.subarray(Number(low), Number(high) + 1))).toBe(true);
    expect([r.status, r.complete]).toEqual([range === null ? 200 : 206, true]);
    return r;
  };

  it('keeps a part, and answers from it', async () => {
    await part('bytes=1000-1999');
    await part('bytes=1200-1300');
    await part('bytes=1000-1999');
    expect(asked()).toEqual(['bytes=1000-1999']);
  });

  it('fetches what is missing, on condition of the validator, and is whole in the end', async () => {
    await part('bytes=1000-1999');
    await part('bytes=5000-5999');
    await part('bytes=1500-5499');
    expect(asked()).toEqual(['bytes=1000-1999', 'bytes=5000-5999', 'bytes=2000-4999']);
    await part(null);
    expect(asked().slice(3).sort()).toEqual(['bytes=0-999', `bytes=6000-${SIZE - 1}`]);
    const heads = origin.requests.filter((request) => request.url === url).map(({ head }) => head);
    expect(heads.map((head) => headerIn(head, 'If-Range'))).toEqual([null, '"a"', '"a"', '"a"', '"a"']);
    await part(null);
    await part('bytes=-10');
    expect(asked()).toHaveLength(5);
  });

  it('fetches the rest where a part was replaced by a shorter one', async () => {
    await part('bytes=0-999');
    let release = (): void => undefined;
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    file.reply = (_, range) => {
      if (range?.[0] !== 1000) return null;
      const fields = { ETag: '"a"', 'Content-Range': `bytes 1000-20999/${SIZE}` };
      return [{ hold }, ...respond('206 Partial Content', fields, file.body.subarray(1000, 21_000))];
    };
    // Knows none of the parts that come meanwhile.
    const two = get('bytes=1000-20999,50000-59999', { 'X-Parts': 'yes' });
    await until('its first range is asked for', async () => asked().length > 1);
    await part('bytes=50000-79999');
    await proxy.adm('ban', 'obj.http.Content-Range', '~', '50000-79999');
    release();
    expect((await two).complete).toBe(true);
    expect(asked().at(-1)).toBe('bytes=50000-59999');
    const r = await part('bytes=50000-79999');
    expect(hash(r.body)).toBe(hash(file.body.subarray(50_000, 80_000)));
  });

  it('drops all parts of an older version', async () => {
    await part('bytes=1000-1999');
    file.body = bytesOf(55);
    file.etag = '"b"';
    expect((await get('bytes=1500-2499', { 'X-Parts': 'yes' })).complete).toBe(false);
    await part('bytes=1500-2499');
    await part('bytes=1000-1999');
    expect(asked().slice(2)).toEqual(['bytes=1500-2499', 'bytes=1000-1499']);
  });

  it('fetches the whole without a strong validator, or without an end', async () => {
    file.etag = 'W/"a"';
    await part('bytes=1000-1999');
    expect(asked()).toEqual(['bytes=1000-1999', null]);
    make(`/${count++}`);
    await part('bytes=1000-');
    expect(asked()).toEqual([null]);
  });

  it('has one fetch for those who want the same, and others for others', async () => {
    await part('bytes=0-9');
    await Promise.all([
      ...Array.from({ length: 5 }, () => part('bytes=100-199')),
      ...Array.from({ length: 5 }, () => part('bytes=100-299')),
      ...Array.from({ length: 5 }, () => part('bytes=150-249')),
    ]);
    expect(asked().filter((range) => range?.startsWith('bytes=100-'))).toHaveLength(1);
    await proxy.get(url, { method: 'PURGE' });
    const before = asked().length;
    await part('bytes=100-199');
    expect(asked().slice(before)).toEqual(['bytes=100-199']);
  });
});

describe('clients that take a file in pieces', () => {
  const run = promisify(execFile);

  it.each([
    ['curl', (path: string, from: string) => ['-sS', '-C', '-', '-o', path, from]],
    [
      'curl over HTTP/2',
      (path: string, from: string) => ['-sS', '--http2-prior-knowledge', '-C', '-', '-o', path, from],
    ],
    ['wget', (path: string, from: string) => ['-q', '-c', '-O', path, from]],
  ])('%s resumes where it left off', async (client, args) => {
    const tool = client.split(' ')[0] as string;
    if (spawnSync(tool, ['--version']).error !== undefined) return;
    const path = box.path(`resumed-${client.replaceAll(' ', '-').replace('/', '')}`);
    writeFileSync(path, file.body.subarray(0, 37_777));
    await run(tool, args(path, `http://127.0.0.1:${proxy.port}${url}`));
    expect(hash(readFileSync(path))).toBe(hash(file.body));
    expect(asked()[0]).toBe(first(2));
    expect(asked()).toHaveLength(ALL - 2);
  });

  it("apt's own client resumes where it left off", async () => {
    const method = '/usr/lib/apt/methods/http';
    if (!existsSync(method)) return;
    const changed = new Date(Date.now() - 1e8);
    changed.setMilliseconds(0);
    file.fields = { 'Last-Modified': changed.toUTCString() };
    const path = box.path('resumed-apt');
    writeFileSync(path, file.body.subarray(0, 37_777));
    utimesSync(path, changed, changed);
    const apt = execFile(method);
    const done = new Promise<string>((resolve, reject) => {
      let text = '';
      apt.stdout?.on('data', (bytes: string) => {
        text += bytes;
        if (/^201 URI Done[\s\S]*\n\n/m.test(text)) resolve(text);
      });
      apt.on('exit', () => reject(new Error(text)));
    });
    apt.stdin?.write(`600 URI Acquire\nURI: http://127.0.0.1:${proxy.port}${url}\nFilename: ${path}\n\n`);
    expect(await done).toContain(`Size: ${SIZE}`);
    apt.stdin?.end();
    expect(hash(readFileSync(path))).toBe(hash(file.body));
    expect(asked().toSorted()).toEqual([first(2), ...[3, 4, 5, 6].map(slice)].toSorted());
  });

  it('a player reads the end, then the beginning, then goes from place to place', async () => {
    for (const [from, to] of [
      [0, 999],
      [98_000, 99_999],
      [1000, 40_000],
      [70_000, 71_000],
      [40_001, 69_999],
    ] as const) {
      const r = await get(`bytes=${from}-${to}`);
      expect(hash(r.body)).toBe(hash(file.body.subarray(from, to + 1)));
    }
    // Each slice once.
    expect(asked().sort()).toEqual([first(0), ...[1, 2, 3, 4, 5, 6].map(slice)].sort());
  });
});
