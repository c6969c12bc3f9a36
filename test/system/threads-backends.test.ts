// Backends of a worker with two threads: one limit of connections, one prober, and one health that requests of both
// threads see. Black box; an extension says which thread has served a request.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { freePort, Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-threads-backends');
const folder = box.path('modules');
mkdirSync(folder, { recursive: true });
const file = join(folder, 'serving.mjs');
writeFileSync(
  file,
  `import { threadId } from 'node:worker_threads';
export const extension = { abi: 1,
  functions: {
    thread: { signature: 'STRING thread()', call: () => String(threadId) },
    at: {
      signature: 'BACKEND at(STRING port, PROBE p)',
      call: (ctx, port, probe) => ctx.backendAt({ host: '127.0.0.1', port, probe }),
    },
    limited: {
      signature: 'BACKEND limited(STRING port, INT most)',
      call: (ctx, port, maxConnections) => ctx.backendAt({ host: '127.0.0.1', port, maxConnections }),
    },
  },
};`,
);

const open: ClientConnection[] = [];
let proxy: RunningProxy | null = null;
let origin: Origin;
afterEach(async () => {
  for (const client of open.splice(0)) client.close();
  await proxy?.stop();
  await origin.close();
});
afterAll(() => box.dispose());

async function start(program: string, threads = 2): Promise<RunningProxy> {
  proxy = await startProxy(box, { program, params: { worker_threads: String(threads) } });
  return proxy;
}

/** Connections that both threads have, as many each. */
async function clients(count: number): Promise<ClientConnection[]> {
  const { port } = proxy as RunningProxy;
  const made = await Promise.all(Array.from({ length: count }, () => ClientConnection.open(port)));
  open.push(...made);
  return made;
}

interface Answer {
  readonly status: number;
  readonly thread: string;
}

async function ask(client: ClientConnection, path = '/'): Promise<Answer> {
  client.send(requestText(path));
  const { status, fields: got } = await client.response();
  return { status, thread: got.find(([name]) => name.toLowerCase() === 'thread')?.[1] ?? '' };
}

/** The status that each thread gives; several when requests of one thread differ. */
async function statuses(all: readonly ClientConnection[], path = '/'): Promise<string> {
  const seen = new Set<string>();
  for (const { status, thread } of await Promise.all(all.map((client) => ask(client, path))))
    seen.add(`${thread}:${status}`);
  return [...seen].sort().join(' ');
}

const DELIVER = `sub vcl_deliver { set resp.http.thread = serving.thread(); }
sub vcl_synth { set resp.http.thread = serving.thread(); }`;
const PASS = 'sub vcl_recv { return (pass); }';
const head = (): string => `vcl 4.1; import serving from "${file}";`;

/** An origin whose answers wait until they are let go; how many are held. */
function holding(): { held: () => number; most: () => number; release: () => void } {
  let waiting: (() => void)[] = [];
  let most = 0;
  origin.on('*', () => {
    const hold = new Promise<void>((go) => waiting.push(go));
    most = Math.max(most, waiting.length);
    return [{ hold }, ...respond('200 OK', { 'Cache-Control': 'no-store' }, 'page')];
  });
  const release = (): void => {
    for (const go of waiting) go();
    waiting = [];
  };
  return { held: () => waiting.length, most: () => most, release };
}

const limited = (name: string, max: number): string => `${head()} ${PASS} ${DELIVER}
backend ${name} { .host = "127.0.0.1"; .port = "${origin.port}"; .max_connections = ${max}; }`;

it('max_connections is a limit of all threads together', async () => {
  origin = await Origin.start();
  const { held, most, release } = holding();
  const running = await start(limited('one', 4));
  for (let round = 0; round < 3; round++) {
    const all = await clients(20);
    const asked = Promise.all(all.map((client) => ask(client)));
    await until('four at the origin', () => held() === 4);
    await running.counterReaches('MAIN.backend_busy', 16 * (round + 1));
    expect((await running.counters())['VBE.boot.one.conn']).toBe(4);
    release();
    const answers = await asked;
    const refused = answers.filter(({ status }) => status === 503);
    expect([answers.filter(({ status }) => status === 200).length, refused.length, most()]).toEqual([
      4, 16, 4,
    ]);
    expect(new Set(refused.map(({ thread }) => thread)).size).toBe(2);
    for (const client of open.splice(0)) client.close();
    // New ones go to the thread that has fewer.
    await until('all are gone', async () => {
      const { 'THR.0.connections_open': first, 'THR.1.connections_open': second } = await running.counters();
      return (first === 0 && second === 0) || null;
    });
  }
  expect((await running.counters())['VBE.boot.one.conn']).toBe(0);
});

it('.wait_limit is a limit of all threads together', async () => {
  origin = await Origin.start();
  const { held, most, release } = holding();
  const wait = '.wait_limit = 3; .wait_timeout = 60s; .max_connections';
  const running = await start(limited('one', 1).replace('.max_connections', wait));
  const all = await clients(20);
  const asked = Promise.all(all.map((client) => ask(client)));
  await running.counterReaches('MAIN.backend_busy', 16);
  expect([(await running.counters())['MAIN.backend_wait'], held()]).toEqual([3, 1]);
  let answers: Answer[] | null = null;
  void asked.then((got) => {
    answers = got;
  });
  // One after the other.
  const got = await until('all are answered', () => {
    release();
    return answers;
  });
  expect([got.filter(({ status }) => status === 200).length, most()]).toEqual([4, 1]);
  expect((await running.counters())['MAIN.backend_wait_fail']).toBe(0);
});

it('an address that refused one thread is left alone by all for a while', async () => {
  const port = await freePort();
  const running = await start(
    `${head()} ${PASS} ${DELIVER} backend b { .host = "127.0.0.1"; .port = "${port}"; }`,
  );
  expect(await running.adm('param.set', 'backend_remote_error_holddown', '10')).toMatchObject({ code: 0 });
  const all = await clients(12);
  expect(await statuses(all.slice(0, 1))).toMatch(/^\d:503$/);
  expect(await statuses(all)).toBe('0:503 1:503');
  await running.counterReaches('VBE.boot.b.helddown', 12);
  expect((await running.counters())['VBE.boot.b.fail_econnrefused']).toBe(1);
});

it('a program that is still in use and a new one of its name have limits of their own', async () => {
  origin = await Origin.start();
  const { held, release } = holding();
  const running = await start(limited('spare', 0));
  const path = box.path('twice');
  writeFileSync(path, limited('one', 1));
  const asked: Promise<Answer>[] = [];
  for (let n = 1; n <= 3; n++) {
    for (const words of [
      ['vcl.load', 'twice', path],
      ['vcl.use', 'twice'],
    ])
      expect((await running.adm(...words)).code).toBe(0);
    const all = await clients(8);
    asked.push(...all.map((client) => ask(client)));
    await until('one more at the origin', () => held() === n);
    await running.counterReaches('MAIN.backend_busy', 7 * n);
    for (const words of [
      ['vcl.use', 'boot'],
      ['vcl.discard', 'twice'],
    ])
      expect((await running.adm(...words)).code).toBe(0);
  }
  release();
  const answers = await Promise.all(asked);
  expect(answers.filter(({ status }) => status === 200).length).toBe(3);
  await until(
    'nothing is left of them',
    async () => !(await running.adm('vcl.list')).stdout.includes('twice'),
  );
});

const PROBE =
  '.url = "/health"; .interval = 0.1s; .timeout = 30s; .window = 4; .threshold = 2; .initial = 2;';

it('one thread polls, and all see its health and what the operator says', async () => {
  origin = await Origin.start();
  let health = '200 OK';
  origin.on('*', () => respond('200 OK', { 'Cache-Control': 'no-store' }, 'page'));
  let hold: Promise<void> | null = null;
  let held = 0;
  origin.on('/health', () => {
    if (hold !== null) held++;
    return [
      { hold: hold ?? Promise.resolve() },
      ...respond(health, { Connection: 'close' }),
      { close: true },
    ];
  });
  const running = await start(`${head()} import directors; ${DELIVER}
backend one { .host = "127.0.0.1"; .port = "${origin.port}"; .probe = { ${PROBE} } }
sub vcl_init { new d = directors.round_robin(); d.add_backend(one); }
sub vcl_recv { if (req.url == "/d") { set req.backend_hint = d.backend(); } return (pass); }`);
  const all = await clients(8);
  expect(await statuses(all)).toBe('0:200 1:200');
  health = '500 Broken';
  await until('sick', async () => / sick /.test((await running.adm('backend.list', 'one')).stdout));
  // The first requests after the answer, with no time to hear of it.
  expect([await statuses(all), await statuses(all, '/d')]).toEqual(['0:503 1:503', '0:503 1:503']);
  expect((await running.adm('backend.set_health', 'one', 'healthy')).code).toBe(0);
  expect(await statuses(all)).toBe('0:200 1:200');
  expect((await running.adm('backend.set_health', 'd', 'sick')).code).toBe(0);
  expect((await running.adm('backend.set_health', 'one', 'auto')).code).toBe(0);
  health = '200 OK';
  await until('healthy', async () => / healthy /.test((await running.adm('backend.list', 'one')).stdout));
  expect([await statuses(all), await statuses(all, '/d')]).toEqual(['0:200 1:200', '0:200 1:200']);
  // Polls that get no answer do not end: as many are under way as there are threads that poll.
  hold = new Promise(() => undefined);
  await until('a poll is held', () => held > 0);
  await delay(500);
  expect(held).toBe(1);
  // Each poll that has ended is a record, and so are the windows at load and when the program became warm.
  const expected = origin.seen('/health').length - 1 + 2;
  const records = async (): Promise<number> =>
    (await running.log('-g', 'raw', '-i', 'Backend_health')).split('\n').filter((l) => l !== '').length;
  await until('the records of all polls', async () => (await records()) >= expected);
  expect(await records()).toBe(expected);
});

it('the first requests after vcl.load see a backend sick that has not been polled', async () => {
  origin = await Origin.start();
  const hold = new Promise<void>(() => undefined);
  origin.on('*', () => respond('200 OK', { 'Cache-Control': 'no-store' }, 'page'));
  origin.on('/health', () => [{ hold }]);
  const program = (initial: number): string => `${head()} ${PASS} ${DELIVER}
backend one { .host = "127.0.0.1"; .port = "${origin.port}";
  .probe = { .url = "/health"; .interval = 60s; .timeout = 60s; .threshold = 2; .initial = ${initial}; } }`;
  const running = await start(program(2));
  const all = await clients(8);
  expect(await statuses(all)).toBe('0:200 1:200');
  const path = box.path('sick');
  writeFileSync(path, program(1));
  expect((await running.adm('vcl.load', 'sick', path)).code).toBe(0);
  expect((await running.adm('vcl.use', 'sick')).code).toBe(0);
  expect(await statuses(all)).toBe('0:503 1:503');
});

it('a backend that another thread than the first has made is polled, listed and set by the first', async () => {
  origin = await Origin.start();
  let health = '200 OK';
  origin.on('*', () => respond('200 OK', { 'Cache-Control': 'no-store' }, 'page'));
  origin.on('/health', () => [...respond(health, { Connection: 'close' }), { close: true }]);
  const running = await start(`${head()} ${DELIVER}
probe p { ${PROBE} }
sub vcl_recv { if (req.url == "/which") { return (synth(200)); } return (pass); }
backend none none;
sub vcl_backend_fetch { set bereq.backend = serving.at("${origin.port}", p); }`);
  const all = await clients(8);
  const threads = await Promise.all(all.map((client) => ask(client, '/which')));
  expect(new Set(threads.map(({ thread }) => thread)).size).toBe(2);
  const second = all.filter((_, i) => threads[i]?.thread === '1');
  const name = `127.0.0.1:${origin.port}`;
  expect(await statuses(second)).toBe('1:200');
  await until('it is listed', async () => (await running.adm('backend.list')).stdout.includes(name));
  health = '500 Broken';
  await until('sick', async () => (await statuses(second)) === '1:503');
  expect((await running.adm('backend.list')).stdout).toMatch(/ probe +[01]\/4 +sick /);
  expect((await running.adm('backend.set_health', `boot.${name}`, 'healthy')).code).toBe(0);
  expect(await statuses(second)).toBe('1:200');
});

it('backends made at run time have one name in all threads, whichever makes which first, and count once', async () => {
  origin = await Origin.start();
  origin.on('*', () => respond('200 OK', { 'Cache-Control': 'no-store' }, 'page'));
  const running = await start(
    `${head()} import std; backend none none;
sub vcl_recv { if (req.url == "/which") { return (synth(200)); } return (pass); }
sub vcl_synth { set resp.http.thread = serving.thread(); }
sub vcl_backend_fetch {
  set bereq.backend = serving.limited("${origin.port}", std.integer(regsub(bereq.url, "^/", "")));
}
sub vcl_backend_response { set beresp.http.thread = beresp.backend.name; }`,
    4,
  );
  const all = await clients(16);
  const places = await Promise.all(all.map((client) => ask(client, '/which')));
  const byThread = [0, 1, 2, 3].map((thread) => all[places.findIndex((it) => it.thread === String(thread))]);
  const name = `127.0.0.1:${origin.port}`;
  const limits = [100, 101, 102, 103];
  const names = new Map(limits.map((limit) => [limit, new Set<string>()]));
  // Each thread begins with another one of the four.
  for (const turn of limits.keys()) {
    for (const thread of [3, 1, 0, 2]) {
      const limit = limits[(turn + thread) % 4] as number;
      const answer = await ask(byThread[thread] as ClientConnection, `/${limit}`);
      names.get(limit)?.add(answer.thread);
    }
  }
  const used = [...names.values()].map((each) => [...each].join());
  expect(used.sort()).toEqual([name, `${name}(2)`, `${name}(3)`, `${name}(4)`]);
  for (const each of used) await running.counterReaches(`VBE.boot.${each}.req`, 4);
  const { 'MAIN.n_backend': count } = await running.counters();
  expect(count).toBe(4);
  expect((await running.adm('backend.set_health', `boot.${used[1]}`, 'sick')).code).toBe(0);
  const sick = limits.find((limit) => names.get(limit)?.has(used[1] as string));
  for (const limit of limits) {
    const asked = await Promise.all(byThread.map((client) => ask(client as ClientConnection, `/${limit}`)));
    expect(asked.map(({ status }) => status)).toEqual(new Array(4).fill(limit === sick ? 503 : 200));
  }
});
