// Request bodies that std.cache_req_body keeps lie in a storage: in which, how many there is room for, until when, and in what
// order that shows in the log, beside Varnish where it is installed. Black box: only dist/ and its commands.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { findProgram, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';

const PROGRAM = `
import std;
sub vcl_recv {
  if (req.url ~ "/s0") { set req.storage = storage.s0; }
  if (req.url ~ "/late") { std.late_100_continue(true); }
  if (req.url ~ "/little") { set req.http.cached = std.cache_req_body(100KB); }
  elsif (req.url ~ "/keep" && req.restarts == 0) { set req.http.cached = std.cache_req_body(50MB); }
  if (req.url ~ "/synth") { return (synth(200)); }
  if (req.url ~ "/hash") { return (hash); }
  return (pass);
}
sub vcl_backend_response {
  if (bereq.url ~ "/retry" && bereq.retries < 2) { return (retry); }
  set beresp.ttl = 0.001s;
  set beresp.grace = 1h;
}
sub vcl_deliver { if (req.url ~ "/restart" && req.restarts == 0) { return (restart); } }
`;
const ROOM = 1 << 20;
const BODY = Buffer.from(Array.from({ length: 200_000 }, (_, i) => 97 + (i % 23)));
const FULL = Buffer.alloc(3_000_000, 'x');

const box = new Sandbox('proxyd-kept-bodies');
let origin: Origin;
const running = new Map<string, RunningProxy>();

async function start(product: Product, threads = 1): Promise<RunningProxy> {
  return startProxy(box, {
    product,
    program: backendProgram(origin.port, PROGRAM),
    storage: ['s0=malloc,2m', `Transient=malloc,${ROOM}b`],
    params: { vsl_mask: '+VfpAcct', ...(product === 'proxyd' ? { worker_threads: String(threads) } : {}) },
    dir: box.path(`${product}${threads}`),
  });
}
beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'ok'));
  for (const threads of [1, 2]) running.set(`proxyd${threads}`, await start('proxyd', threads));
  if (findProgram('varnishd') !== null) running.set('varnish1', await start('varnish'));
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const head = (url: string, rest: string, method = 'POST'): string =>
  `${method} ${url} HTTP/1.1\r\nHost: a\r\n${rest}\r\n\r\n`;
const plain = (url: string, body: Buffer | string, method = 'POST'): string =>
  head(url, `Content-Length: ${body.length}`, method) + body.toString('latin1');
const chunked = (url: string, body: Buffer | string): string =>
  `${head(url, 'Transfer-Encoding: chunked')}${body.length.toString(16)}\r\n${body.toString('latin1')}\r\n0\r\n\r\n`;

async function send(proxy: RunningProxy, text: string): Promise<ClientConnection> {
  const client = await ClientConnection.open(proxy.port);
  client.send(text);
  return client;
}
/** The status, or null where the connection ends without one. */
async function status(client: ClientConnection): Promise<number | null> {
  const answer: Response | null = await client.response().catch(() => null);
  client.close();
  return answer?.status ?? null;
}
const figure = async (proxy: RunningProxy, storage: string, name: string): Promise<number> =>
  (await proxy.counters())[`SMA.${storage}.${name}`] ?? 0;
const empty = (proxy: RunningProxy, storage = 'Transient'): Promise<unknown> =>
  until('an empty storage', async () => (await figure(proxy, storage, 'g_bytes')) === 0);

describe.each([1, 2])('with %d threads', (threads) => {
  const proxy = (): RunningProxy => running.get(`proxyd${threads}`) as RunningProxy;

  it.each([
    ['with a length', plain],
    ['in chunks', chunked],
  ])('takes as many bodies as there is room for, %s', async (how, request) => {
    const url = `/keep/hold/${how.at(-1)}${threads}`;
    let release: () => void = () => undefined;
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    origin.on(url, () => [{ hold }, ...respond('200 OK', {}, 'ok')]);
    const fails = await figure(proxy(), 'Transient', 'c_fail');
    const clients: ClientConnection[] = [];
    for (let i = 0; i < 12; i++) {
      clients.push(await send(proxy(), request(url, BODY)));
      // One after the other, so that each finds what the others have left.
      if (i < 5) await until('the body at the origin', () => origin.seen(url).length === i + 1);
    }
    const refused = await Promise.all(clients.slice(5).map(status));
    expect(refused).toEqual(new Array(7).fill(503));
    await until(
      'the figures',
      async () => (await figure(proxy(), 'Transient', 'g_bytes')) >= 5 * BODY.length,
    );
    expect(await figure(proxy(), 'Transient', 'g_bytes')).toBeLessThanOrEqual(ROOM);
    await until('the failures', async () => (await figure(proxy(), 'Transient', 'c_fail')) >= fails + 7);
    release();
    expect(await Promise.all(clients.slice(0, 5).map(status))).toEqual(new Array(5).fill(200));
    expect(origin.seen(url).every(({ body }) => body.equals(BODY))).toBe(true);
    await empty(proxy());
  });

  it('req.storage chooses where they lie', async () => {
    const before = await figure(proxy(), 's0', 'c_bytes');
    expect(await status(await send(proxy(), plain('/s0/keep', BODY)))).toBe(200);
    await until('the figures', async () => (await figure(proxy(), 's0', 'c_bytes')) >= before + BODY.length);
    await empty(proxy(), 's0');
    // One that the other storage could not hold.
    expect(await status(await send(proxy(), plain('/s0/keep/large', FULL.subarray(0, 1_500_000))))).toBe(200);
    expect(origin.seen('/s0/keep/large').at(-1)?.body).toHaveLength(1_500_000);
  });

  it.each([
    ['a retry', '/keep/retry', 3],
    ['a restart', '/keep/restart', 2],
  ])('they are there for %s, and go after it', async (_what, path, times) => {
    const url = `${path}/${threads}`;
    for (const request of [plain(url, BODY), chunked(url, BODY)])
      expect(await status(await send(proxy(), request))).toBe(200);
    const seen = origin.seen(url);
    expect(seen).toHaveLength(2 * times);
    expect(seen.every(({ body }) => body.equals(BODY))).toBe(true);
    await empty(proxy());
  });

  it('a fetch in the background keeps its body until it is over', async () => {
    const url = `/keep/hash/${threads}`;
    expect(await status(await send(proxy(), plain(url, BODY, 'GET')))).toBe(200);
    await empty(proxy());
    let release: () => void = () => undefined;
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    // So slow that the client has its answer, and has left, before the origin has read the body.
    origin.on(url, () => [{ hold }, ...respond('200 OK', {}, 'ok')]);
    expect(await status(await send(proxy(), plain(url, BODY, 'GET')))).toBe(200);
    await until('the figures', async () => (await figure(proxy(), 'Transient', 'g_bytes')) >= BODY.length);
    release();
    await empty(proxy());
  });

  it('nothing is left of clients that leave, and of bodies that are given up', async () => {
    const whole = plain('/keep/left', BODY);
    for (const how of ['close', 'finish', 'reset'] as const) {
      const client = await send(proxy(), whole.slice(0, 100_000));
      await until('a part of it', async () => (await figure(proxy(), 'Transient', 'g_bytes')) > 0);
      client[how]();
      await empty(proxy());
      client.close();
    }
    for (const request of [plain('/keep/full', FULL), chunked('/keep/full', FULL)]) {
      expect(await status(await send(proxy(), request))).toBe(503);
      await empty(proxy());
    }
    expect([...origin.seen('/keep/left'), ...origin.seen('/keep/full')]).toEqual([]);
    expect((await proxy().counters())['MAIN.sess_dropped'] ?? 0).toBe(0);
  });

  it.each([
    ['announced', plain('/little', BODY), 0],
    ['in chunks', chunked('/little', BODY), 0],
    ['that waits to be asked for', head('/little', 'Content-Length: 200000\r\nExpect: 100-continue'), 0],
  ])(
    'a body over the limit is answered 400, and the connection ends: %s',
    async (_what, request, interim) => {
      const client = await send(proxy(), request);
      const answer = await client.response();
      expect([answer.status, answer.reason, answer.interim.length]).toEqual([400, 'Bad Request', interim]);
      expect(answer.head).toMatch(/^Connection: close\r$/m);
      expect(await client.closedByPeer()).toBe(true);
      expect(origin.seen('/little')).toEqual([]);
      await empty(proxy());
    },
  );
});

describe('the log', () => {
  const expecting = 'Content-Length: 5\r\nExpect: 100-continue';
  const cases: [string, string, string][] = [
    ['kept', plain('/keep/a', BODY), ''],
    ['kept in another storage', plain('/s0/keep/b', 'hello'), ''],
    ['kept, in chunks', chunked('/keep/c', 'hello'), ''],
    ['kept, in chunks, empty', `${head('/keep/d', 'Transfer-Encoding: chunked')}0\r\n\r\n`, ''],
    ['kept, empty', head('/keep/e', 'Content-Length: 0'), ''],
    ['kept, asked for', head('/keep/f', expecting), 'hello'],
    ['passed', plain('/s0/g', 'hello'), ''],
    ['passed, asked for', head('/h', expecting), 'hello'],
    ['passed, asked for late', head('/late/i', expecting), 'hello'],
    ['not wanted', plain('/synth/j', 'hello'), ''],
    ['over the limit', plain('/little/k', BODY), ''],
    ['over the limit, in chunks', chunked('/little/l', BODY), ''],
    ['no room', plain('/keep/synth/m', FULL), ''],
    ['no room, in chunks', chunked('/keep/synth/n', FULL), ''],
  ];
  /** Records of a request about its body, without figures that depend on timing. */
  async function records(proxy: RunningProxy, request: string, then: string): Promise<string[]> {
    const url = request.split(' ')[1] as string;
    const client = await send(proxy, request);
    if (then !== '') {
      await until('100 Continue', () => client.pending > 0);
      client.send(then);
    }
    await client.response().catch(() => undefined);
    client.close();
    const text = await until('its end', async () => {
      const log = await proxy.log('-g', 'request', '-q', `ReqURL eq "${url}"`);
      return /^- +ReqAcct/m.test(log) ? log : null;
    });
    const own = text.slice(0, text.search(/^\*\* /m) < 0 ? undefined : text.search(/^\*\* /m));
    return own
      .split('\n')
      .map((line) => line.replace(/^- +(\S+) +/, '$1 '))
      .filter((line) =>
        /^(Storage|RespStatus 100|FetchError|VfpAcct|Timestamp ReqBody|VCL_return)/.test(line),
      )
      .map((line) => line.replace(/^(Timestamp ReqBody).*/, '$1').replace(/^(VfpAcct \S+).*/, '$1'));
  }

  it.skipIf(findProgram('varnishd') === null).each(cases)(
    'is as Varnish’s: %s',
    async (_what, request, then) => {
      const [ours, theirs] = await Promise.all(
        ['proxyd1', 'varnish1'].map((name) => records(running.get(name) as RunningProxy, request, then)),
      );
      expect(ours).toEqual(theirs);
      expect(ours?.length).toBeGreaterThan(0);
    },
  );

  it('names the place of a body before it asks for it', async () => {
    const proxy = running.get('proxyd1') as RunningProxy;
    const seen = await records(proxy, head('/keep/asked', expecting), 'hello');
    expect(seen.slice(0, 2)).toEqual(['Storage malloc Transient', 'RespStatus 100']);
  });
});
