// Peers that leave: clients in every phase of a request and in every way, and an origin that comes and goes under
// sixty-four clients that come and go themselves. What was delivered as whole is right, byte by byte; afterwards
// no descriptor and no connection is held. PROXYD_FLAP_SECONDS makes the load last at least so long.
import { readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, FlappingOrigin, KINDS } from '../harness/flapping-origin.ts';
import { ClientConnection, field, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-leaving');
const SECONDS = Number(process.env.PROXYD_FLAP_SECONDS ?? 0);
/** Of each outcome, and of each kind of turn that the origin takes. */
const ENOUGH = { outcomes: 20, whole: 600, flips: 4 };
let origin: Origin;
let flapping: FlappingOrigin;
let proxy: RunningProxy;
let worker: number;
let files: number;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=1000' }, 'fine\n'));
  flapping = await FlappingOrigin.start();
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `backend flapping { .host = "127.0.0.1"; .port = "${flapping.port}"; }
sub vcl_recv {
  if (req.url ~ "^/[cp]/") { set req.backend_hint = flapping; }
  if (req.url ~ "^/p") { return (pass); }
  if (req.url ~ "^/tube") { return (pipe); }
}
sub vcl_backend_response {
  if (bereq.url ~ "/unpack") { set beresp.do_gunzip = true; }
  if (bereq.url ~ "/pack") { set beresp.do_gzip = true; }
  if (bereq.url ~ "/whole") { set beresp.do_stream = false; }
  set beresp.grace = 2s;
  set beresp.keep = 10s;
}`,
    ),
    storage: ['malloc,8m'],
    params: {
      timeout_idle: '2',
      first_byte_timeout: '2',
      between_bytes_timeout: '2',
      backend_idle_timeout: '1',
      backend_local_error_holddown: '0',
      backend_remote_error_holddown: '0',
    },
  });
  worker = proxy.workerPid() as number;
  expect((await proxy.get('/warm', { host: 'a' })).status).toBe(200);
  await until('the kept connection is closed', () => origin.openConnections === 0);
  files = openFiles();
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
  await flapping.close();
});

function openFiles(): number {
  return readdirSync(`/proc/${worker}/fd`).length;
}

async function nothingIsHeld(): Promise<void> {
  expect(proxy.workerPid()).toBe(worker);
  expect((await proxy.get('/warm', { host: 'a' })).body.toString()).toBe('fine\n');
  await until('no descriptor is left', () => openFiles() <= files);
  await until('no connection is in use', async () => {
    const counters = Object.entries(await proxy.counters());
    return counters.filter(([name]) => /^VBE\..*\.conn$/.test(name)).every(([, value]) => value === 0);
  });
}

const GET = (url: string, version = '1.1') => `GET ${url} HTTP/${version}\r\nHost: a\r\n\r\n`;
const POST = (url: string, rest: string) => `POST ${url} HTTP/1.1\r\nHost: a\r\n${rest}`;

/** Data sent by a client before it disconnects; `@` is replaced by a unique number. */
const PHASES: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['half a line', 'GE'],
  ['half a head', 'GET /x HTTP/1.1\r\nHo'],
  ['a request that waits', GET('/slow@')],
  ['half a body', POST('/post@', 'Content-Length: 100\r\n\r\nabc')],
  ['half a chunk', POST('/post@', 'Transfer-Encoding: chunked\r\n\r\n5\r\nab')],
  ['an expectation', POST('/post@', 'Expect: 100-continue\r\nContent-Length: 5\r\n\r\n')],
  ['a request for a long body', GET('/long@')],
  ['the same past the cache', GET('/pass-long@')],
  ['the same in HTTP/1.0', GET('/pass-long@', '1.0')],
  ['a hit', GET('/warm')],
  ['a hit with half a body', 'GET /warm HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\nabc'],
  ['a long pipeline', GET('/warm').repeat(50) + GET('/slow@') + GET('/warm').slice(0, 9)],
  ['nonsense', 'GET  / HTTP/1.1\r\n\r\n'],
  ['a request for a pipe', GET('/tube@')],
  ['half a body for a pipe', POST('/tube@', 'Content-Length: 50\r\n\r\nabc')],
];

describe('a client that leaves', () => {
  it.each(['resets', 'closes', 'ends its side', 'ends its side and resets'])('and %s', async (how) => {
    const start = ['resets', 'closes', 'ends its side', 'ends its side and resets'].indexOf(how) * 1000;
    const stuck: string[] = [];
    const leave = async ([name, text]: readonly [string, string], pause: number, id: number) => {
      origin.on(`/slow${id}`, [{ wait: 100 }, ...respond('200 OK', {}, 'x')]);
      for (const url of [`/long${id}`, `/pass-long${id}`]) {
        origin.on(url, [
          { send: 'HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n' },
          { send: Buffer.alloc(500_000) },
          { wait: 60 },
          { send: Buffer.alloc(1_500_000) },
        ]);
      }
      const conn = await ClientConnection.open(proxy.port);
      conn.send(text.replaceAll('@', String(id)));
      await delay(pause);
      if (how === 'resets') conn.reset();
      else if (how === 'closes') conn.close();
      else {
        conn.finish();
        if (how === 'ends its side') await conn.rest().catch(() => stuck.push(name));
        else conn.reset();
        conn.close();
      }
    };
    const all = [0, 15, 40, 90].flatMap((pause, i) =>
      PHASES.map((phase, k) => leave(phase, pause, start + i * 100 + k)),
    );
    await Promise.all(all);
    expect(stuck).toEqual([]);
    await nothingIsHeld();
  });
});

it.each([0, 30])('an origin that resets a pipe after %i ms is seen to do so', async (pause) => {
  const url = `/tube-reset${pause}`;
  origin.on(url, [{ send: 'HTTP/1.1 200 OK\r\n\r\nabc' }, { wait: pause }, { reset: true }]);
  const conn = await ClientConnection.open(proxy.port);
  conn.send(GET(url));
  const got = await conn.response().catch(() => null);
  expect(got?.complete ?? false).toBe(false);
  conn.close();
});

it('an origin whose reset of a pipe is read together with its last bytes is seen to do so', async () => {
  let go: () => void = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    go = resolve;
  });
  origin.on('/tube-stopped', [{ hold: mayAnswer }, { send: 'HTTP/1.1 200 OK\r\n\r\nabc' }, { reset: true }]);
  const conn = await ClientConnection.open(proxy.port);
  conn.send(GET('/tube-stopped'));
  await until('the origin is asked', () => origin.seen('/tube-stopped').length === 1);
  process.kill(worker, 'SIGSTOP');
  try {
    go();
    await until('the connection is reset', () => origin.openConnections === 0);
  } finally {
    process.kill(worker, 'SIGCONT');
  }
  const got = await conn.response().catch(() => null);
  expect(got?.complete ?? false).toBe(false);
  conn.close();
});

describe('an origin that comes and goes', () => {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
  const counts = { whole: 0, cut: 0, refused: 0, left: 0 };
  const wrong: string[] = [];

  function judge(url: string, got: Response, from: number, to: number): void {
    if (!got.complete) counts.cut++;
    else if (got.status === 503) counts.refused++;
    else if (got.status === 200) {
      counts.whole++;
      const body = field(got, 'Content-Encoding') === 'gzip' ? gunzipSync(got.body) : got.body;
      if (!body.equals(bodyOf(url))) wrong.push(`${url}: ${body.length} bytes\n${got.head}`);
    } else if (got.status === 206) {
      counts.whole++;
      const packed = field(got, 'Content-Encoding') !== undefined;
      if (!packed && !got.body.equals(bodyOf(url).subarray(from, to + 1)))
        wrong.push(`${url} ${from}-${to}\n${got.head}`);
    } else if (got.status !== 416) wrong.push(`${url}: status ${got.status}`);
  }

  /** One request; the connection to continue on, or null. */
  async function ask(conn: ClientConnection): Promise<ClientConnection | null> {
    const tail = pick(['plain', 'unpack', 'pack', 'whole']) + Math.floor(Math.random() * 15);
    const url = `/${pick(['c', 'c', 'c', 'p'])}/${pick(KINDS)}/${tail}`;
    const old = Math.random() < 0.1;
    const from = Math.floor(Math.random() * 500);
    const to = from + Math.floor(Math.random() * 3000);
    const range = Math.random() < 0.1 ? `Range: bytes=${from}-${to}\r\n` : '';
    const coding = Math.random() < 0.5 ? 'Accept-Encoding: gzip\r\n' : '';
    conn.send(`GET ${url} HTTP/1.${old ? 0 : 1}\r\nHost: a\r\n${coding}${range}\r\n`);
    if (Math.random() < 0.05) {
      await delay(Math.random() * 20);
      counts.left++;
      if (Math.random() < 0.5) conn.reset();
      else conn.close();
      return null;
    }
    const got = await conn.response().catch((error: Error) => {
      if (/within \d+ ms/.test(error.message)) wrong.push(`${url}: ${error.message}`);
      return null;
    });
    if (got !== null) judge(url, got, from, to);
    if (got?.complete === true && !old && field(got, 'Connection') !== 'close') return conn;
    conn.close();
    return null;
  }

  it(
    'whole bodies are right, and the others are seen to be cut',
    async () => {
      const begun = performance.now();
      const goesOn = (): boolean =>
        performance.now() - begun < SECONDS * 1000 ||
        flapping.flips < ENOUGH.flips ||
        counts.whole < ENOUGH.whole ||
        Object.values(counts).some((n) => n < ENOUGH.outcomes);
      const client = async (): Promise<void> => {
        let conn: ClientConnection | null = null;
        while (goesOn() && wrong.length === 0) {
          conn ??= await ClientConnection.open(proxy.port);
          conn = await ask(conn);
        }
        conn?.close();
      };
      await Promise.all(Array.from({ length: 64 }, client));
      await flapping.settle();
      expect(wrong).toEqual([]);
      expect(flapping.flips).toBeGreaterThan(2);
      for (const n of Object.values(counts)) expect(n).toBeGreaterThan(5);
      await nothingIsHeld();
    },
    SECONDS * 1000 + 120_000,
  );
});
