// Many clients and one cold URL: one fetch for all of them, whatever its outcome; no request waits for an unshareable
// response, and an undelivered response is not stored.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Origin, type Reply, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const CLIENTS = 500;
/** Where fewer show the same. */
const FEWER = 60;
const FRESH = { 'Cache-Control': 'max-age=100' };
const box = new Sandbox('proxyd-waiting');
let origin: Origin;
let proxy: RunningProxy;
let urls = 0;
/** A URL of its own for each try. */
const fresh = (): string => `/cold/${urls++}`;

beforeAll(async () => {
  origin = await Origin.start();
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `sub vcl_backend_response { if (bereq.url ~ "^/stale") { set beresp.ttl = 0.001s; set beresp.grace = 1h; } }`,
    ),
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** Distinct responses with their counts, after `clients` requested a URL whose first fetch is held until all wait. */
async function crowd(
  url: string,
  reply: (n: number, head: string) => Reply,
  fields: (i: number) => Record<string, string> = () => ({}),
  clients = CLIENTS,
): Promise<Record<string, number>> {
  const { promise: hold, resolve: release } = gate();
  origin.on(url, (req, n) => (n === 1 ? [{ hold }, ...reply(n, req.head)] : reply(n, req.head)));
  // A kept connection that ends is replaced, and the request repeated.
  await origin.endIdle();
  const slept = (await proxy.counters())['MAIN.busy_sleep'] ?? 0;
  const all = await Promise.all(Array.from({ length: clients }, () => ClientConnection.open(proxy.port)));
  all[0]?.send(requestText(url, { fields: fields(0) }));
  await until('the fetch', () => origin.seen(url).length === 1);
  for (const [i, c] of all.entries()) if (i > 0) c.send(requestText(url, { fields: fields(i) }));
  await proxy.counterReaches('MAIN.busy_sleep', slept + clients - 1);
  release();
  const answers: Record<string, number> = {};
  await Promise.all(
    all.map(async (c) => {
      const got = await c.response();
      const text = got.status === 200 ? got.body.toString() : got.reason;
      const key = `${got.status} ${text}${got.complete ? '' : ' CUT'}`;
      answers[key] = (answers[key] ?? 0) + 1;
      c.close();
    }),
  );
  return answers;
}

/** A promise and what settles it. */
function gate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((r) => {
    resolve = r;
  });
  return { promise, resolve };
}

async function increase(names: readonly string[], run: () => Promise<void>): Promise<Record<string, number>> {
  const before = await proxy.counters();
  await run();
  // Counters may lag: the events in question precede the last response.
  let after = await proxy.counters();
  await until('counters at rest', async () => {
    const now = await proxy.counters();
    const same = names.every((name) => now[`MAIN.${name}`] === after[`MAIN.${name}`]);
    after = now;
    return same;
  });
  return Object.fromEntries(
    names.map((n) => [n, (after[`MAIN.${n}`] as number) - (before[`MAIN.${n}`] as number)]),
  );
}

describe('many clients for one cold URL', () => {
  it('share one fetch, 500 of them', async () => {
    const url = fresh();
    const rise = await increase(['busy_wakeup', 'cache_hit', 'cache_miss', 'busy_killed'], async () => {
      expect(await crowd(url, (n) => respond('200 OK', FRESH, `body ${n}`))).toEqual({
        '200 body 1': CLIENTS,
      });
      await proxy.counterReaches('MAIN.busy_wakeup', CLIENTS - 1);
    });
    expect(origin.seen(url)).toHaveLength(1);
    expect(rise).toMatchObject({ cache_hit: CLIENTS - 1, cache_miss: 1, busy_killed: 0 });
  });

  it.each<[string, Reply]>([
    ['closes', [{ close: true }]],
    ['resets', [{ reset: true }]],
    ['answers with rubbish', [{ send: 'rubbish\r\n\r\n' }, { close: true }]],
  ])('share one error when the origin %s, which nobody gets who comes later', async (_name, end) => {
    const url = fresh();
    const answers = await crowd(
      url,
      (n) => (n === 1 ? end : respond('200 OK', FRESH, 'back again')),
      undefined,
      FEWER,
    );
    expect(answers).toEqual({ '503 Backend fetch failed': FEWER });
    expect(origin.seen(url)).toHaveLength(1);
    const next = await proxy.get(url);
    expect([next.status, next.body.toString()]).toEqual([200, 'back again']);
  });

  it('get each their own of what is not to be shared, at the same time', async () => {
    const { promise: hold, resolve: release } = gate();
    const url = fresh();
    const answers = crowd(
      url,
      (n) =>
        n === 1
          ? respond('200 OK', { 'Cache-Control': 'private' }, 'own')
          : [{ hold }, ...respond('200 OK', { 'Cache-Control': 'private' }, 'own')],
      undefined,
      FEWER,
    );
    // None of them is answered before all are asked: a queue would stop here.
    await until('all fetches', () => origin.seen(url).length === FEWER);
    release();
    expect(await answers).toEqual({ '200 own': FEWER });
  });

  it('get their own variant', async () => {
    const url = fresh();
    const kind = (head: string): string => /X-Kind: (\w)/.exec(head)?.[1] ?? 'none';
    const answers = await crowd(
      url,
      (_n, head) => respond('200 OK', { ...FRESH, Vary: 'X-Kind' }, kind(head)),
      (i) => ({ 'X-Kind': 'abc'[i % 3] as string }),
      FEWER,
    );
    expect(answers).toEqual({ '200 a': 20, '200 b': 20, '200 c': 20 });
    expect(origin.seen(url)).toHaveLength(3);
  });
});

describe('objects that are stale', () => {
  it('are served in any number while their origin hangs, but not all of them refetched', async () => {
    const OBJECTS = 1010;
    const { promise: hold, resolve: release } = gate();
    const url = (i: number): string => `/stale/${urls}/${i}`;
    urls++;
    for (let i = 0; i < OBJECTS; i++)
      origin.on(url(i), (_req, n) =>
        n === 1 ? respond('200 OK', {}, 'old') : [{ hold }, ...respond('200 OK', {}, 'new')],
      );
    const askAll = async (): Promise<void> => {
      let next = 0;
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          const connection = await ClientConnection.open(proxy.port);
          while (next < OBJECTS) {
            connection.send(requestText(url(next++)));
            expect((await connection.response()).body.toString()).toBe('old');
          }
          connection.close();
        }),
      );
    };
    try {
      const rise = await increase(['s_bgfetch', 'fetch_no_thread', 'cache_hit_grace'], async () => {
        await askAll();
        await askAll();
      });
      expect(rise).toEqual({ s_bgfetch: 1000, fetch_no_thread: OBJECTS - 1000, cache_hit_grace: OBJECTS });
    } finally {
      release();
    }
    await until(
      'room for the rest',
      async () => (await proxy.get(url(OBJECTS - 1))).body.toString() === 'new',
    );
  });
});
