// The traffic of four threads as one: it goes before background work, is spread over the members of directors as with one
// thread, and has no two random numbers alike. Black box; an extension says which thread has served a request.
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const THREADS = 4;
const box = new Sandbox('proxyd-threads-traffic');
const which = `${box.path('which')}.mjs`;
writeFileSync(
  which,
  `import { threadId } from 'node:worker_threads';
export const extension = { abi: 1,
  functions: { thread: { signature: 'INT thread()', call: () => threadId } },
};`,
);

const PROGRAM = (ports: readonly number[]): string => `vcl 4.1;
import std;
import directors;
import which from "${which}";
${ports.map((port, i) => `backend b${i} { .host = "127.0.0.1"; .port = "${port}"; }`).join('\n')}
sub vcl_init {
  new turns = directors.round_robin();
  new chance = directors.random();
  new least = directors.least_conn();
  new byhash = directors.hash();
  new byring = directors.shard();
  new backup = directors.fallback();
${ports
  .map(
    (_, i) =>
      `turns.add_backend(b${i}); chance.add_backend(b${i}, 1); least.add_backend(b${i}); byhash.add_backend(b${i}, 1); byring.add_backend(b${i}); backup.add_backend(b${i});`,
  )
  .join('\n')}
  byring.reconfigure();
}
sub vcl_recv {
  if (req.url ~ "^/turns/") { set req.backend_hint = turns.backend(); return (pass); }
  if (req.url ~ "^/chance/") { set req.backend_hint = chance.backend(); return (pass); }
  if (req.url ~ "^/least/") { set req.backend_hint = least.backend(); return (pass); }
  if (req.url ~ "^/hash/") { set req.backend_hint = byhash.backend(req.url); return (pass); }
  if (req.url ~ "^/ring/") { set req.backend_hint = byring.backend(by=URL); return (pass); }
  if (req.url ~ "^/backup/") { set req.backend_hint = backup.backend(); return (pass); }
  if (req.url == "/random") { return (synth(200)); }
  if (req.url == "/which") { return (synth(200)); }
  if (req.url ~ "^/ban/") {
    std.ban("obj.http.x == " + req.url);
    return (synth(200));
  }
}
sub vcl_backend_response { set beresp.ttl = 1h; }
sub vcl_synth {
  set resp.http.thread = which.thread();
  set resp.http.random = std.random(0, 1);
}
`;

let origins: Origin[];
let proxy: RunningProxy;
beforeAll(async () => {
  origins = await Promise.all([0, 1, 2].map(() => Origin.start()));
  for (const [i, origin] of origins.entries())
    origin.on('*', () => respond('200 OK', { 'Cache-Control': 'max-age=60' }, String(i)));
  proxy = await startProxy(box, {
    program: PROGRAM(origins.map(({ port }) => port)),
    params: { worker_threads: String(THREADS), ban_lurker_age: '0', ban_lurker_batch: '1000' },
  });
});
const open: ClientConnection[] = [];
afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  await proxy.connectionsOpen(0);
});
afterAll(async () => {
  await box.dispose();
  for (const origin of origins) await origin.close();
});

/** Connections, all open at once, and the thread of each. */
async function connections(count: number): Promise<{ connection: ClientConnection; thread: number }[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const connection = await ClientConnection.open(proxy.port);
      open.push(connection);
      connection.send(requestText('/which'));
      return { connection, thread: Number(field(await connection.response(), 'thread')) };
    }),
  );
}

async function get(connection: ClientConnection, path: string) {
  connection.send(requestText(path));
  return connection.response();
}

it('the ban lurker makes way for requests of whichever thread', async () => {
  const others = (await connections(16)).filter(({ thread }) => thread !== 0);
  for (let i = 0; i < 200; i++) await get(others[0]?.connection as ClientConnection, `/${i}`);
  let isOver = false;
  let bans = 0;
  const busy = others.map(async ({ connection }) => {
    while (!isOver) await get(connection, `/ban/${bans++}`);
  });
  const madeWay = async () => Number((await proxy.counters())['MAIN.bans_lurker_contention']) > 0;
  try {
    await until('it has made way', madeWay);
  } finally {
    isOver = true;
    await Promise.all(busy);
  }
});

/** The backend of each of this many requests, over 64 connections of all threads. */
async function served(count: number, path: (i: number) => string): Promise<string[]> {
  const all = await connections(64);
  expect(new Set(all.map(({ thread }) => thread)).size).toBe(THREADS);
  const got: string[] = [];
  let next = 0;
  await Promise.all(
    all.map(async ({ connection }) => {
      while (next < count) {
        const i = next++;
        got[i] = (await get(connection, path(i))).body.toString();
      }
    }),
  );
  return got;
}

const countsOf = (got: readonly string[]): number[] =>
  ['0', '1', '2'].map((name) => got.filter((each) => each === name).length);

it.each([
  ['turns', 0.01],
  ['least', 0.1],
  // Four standard deviations of the 1,000 that 3,000 throws give each are 103.
  ['chance', 0.11],
])('the director %s gives each backend its share', async (name, deviation) => {
  const counts = countsOf(await served(3000, (i) => `/${name}/${i}`));
  for (const count of counts) expect(Math.abs(count / 1000 - 1)).toBeLessThanOrEqual(deviation);
});

it.each(['hash', 'ring'])(
  'the director by %s gives a key one backend, whichever thread asks',
  async (name) => {
    const got = await served(1600, (i) => `/${name}/${i % 50}`);
    const ofKeys = Array.from({ length: 50 }, (_, key) => new Set(got.filter((_, i) => i % 50 === key)).size);
    expect(ofKeys).toEqual(new Array(50).fill(1));
    for (const count of countsOf(got)) expect(count).toBeGreaterThan(0);
  },
);

it('the director backup has all threads on its first backend', async () => {
  expect(countsOf(await served(300, (i) => `/backup/${i}`))).toEqual([300, 0, 0]);
});

it('one request on each of three threads comes to three backends', async () => {
  const all = await connections(16);
  const some = [...new Map(all.map(({ thread, connection }) => [thread, connection])).values()].slice(0, 3);
  const got: string[] = [];
  for (const connection of some) got.push((await get(connection, '/turns/x')).body.toString());
  expect([...got].sort()).toEqual(['0', '1', '2']);
});

it('no two threads have the same random numbers', async () => {
  const all = await connections(32);
  const numbers = await Promise.all(
    all.map(async ({ connection }) => {
      const own: string[] = [];
      for (let i = 0; i < 30; i++) {
        connection.send(requestText('/random'));
        own.push(field(await connection.response(), 'random') ?? '');
      }
      return own;
    }),
  );
  expect(new Set(all.map(({ thread }) => thread)).size).toBe(THREADS);
  // They have three decimal places: of 960, chance leaves about 617 different ones, four equal streams 214.
  expect(new Set(numbers.flat()).size).toBeGreaterThan(500);
});
