// Programs and parameters of several worker threads: they are in all threads or in none, commands that come at the same
// time end the same everywhere, and the log has each of them once, with the answer that the operator got.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const THREADS = 3;
const box = new Sandbox('proxyd-threads-programs');
const folder = box.path('modules');
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, 'picky.mjs'),
  `import { threadId, isMainThread } from 'node:worker_threads';
export const extension = {
  abi: 1,
  functions: {
    thread: { signature: 'INT thread()', call: () => (isMainThread ? 0 : threadId) },
    refuse: {
      signature: 'VOID refuse()',
      call: () => {
        if (!isMainThread) throw new Error('not on this thread');
      },
    },
  },
};
`,
);
/** Takes its time on all threads but the first. */
writeFileSync(
  join(folder, 'late.mjs'),
  `import { isMainThread } from 'node:worker_threads';
if (!isMainThread) await new Promise((done) => setTimeout(done, 1000));
export const extension = { abi: 1, functions: { nothing: { signature: 'VOID nothing()', call: () => undefined } } };
`,
);

let origin: Origin;
let proxy: RunningProxy;
const open: ClientConnection[] = [];

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'no-store' }, 'x'));
  proxy = await startProxy(box, {
    program: backendProgram(origin.port),
    params: { worker_threads: String(THREADS), vmod_path: folder },
  });
});
afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  await done('vcl.use', 'boot');
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

async function done(...words: string[]): Promise<void> {
  const { code, stdout, stderr } = await proxy.adm(...words);
  expect(code, stdout + stderr).toBe(0);
}

function load(name: string, body: string): Promise<Awaited<ReturnType<RunningProxy['adm']>>> {
  return proxy.adm(`vcl.inline ${name} << EOT\n${backendProgram(origin.port, body)}\nEOT`);
}

/** Connections that all threads have. */
function connections(): Promise<ClientConnection[]> {
  return Promise.all(
    Array.from({ length: 4 * THREADS }, async () => {
      const connection = await ClientConnection.open(proxy.port);
      open.push(connection);
      return connection;
    }),
  );
}

/** Responses on connections of all threads. */
async function answers(all?: readonly ClientConnection[]) {
  return Promise.all(
    (all ?? (await connections())).map((connection) => {
      connection.send(requestText('/'));
      return connection.response();
    }),
  );
}

/** CLI records from the first about a program on, in their order, once one of them has `last`. */
async function logged(name: string, last: string): Promise<string[]> {
  return until(`${last} in the log`, async () => {
    const records = await recordsFrom(name);
    return records.some((record) => record.includes(last)) ? records : null;
  });
}

async function recordsFrom(name: string): Promise<string[]> {
  const text = await proxy.log('-g', 'raw', '-i', 'CLI');
  const records = text.split('\n').map((line) => line.replace(/^ *0 CLI +- /, ''));
  const at = records.findIndex((record) => record.startsWith('Rd ') && record.includes(name));
  return records.slice(at).filter((record) => /^(Rd|Wr) /.test(record) && !/Rd ping|PONG/.test(record));
}

it('a parameter holds on every thread once it is answered', async () => {
  await done('param.set', 'id_header', 'X-Other-Id');
  for (const answer of await answers()) expect(field(answer, 'X-Other-Id')).toBeDefined();
  await done('param.reset', 'id_header');
  for (const answer of await answers()) expect(field(answer, 'X-Other-Id')).toBeUndefined();
});

it('a program is in all threads once it is loaded', async () => {
  const body = 'import picky; sub vcl_deliver { set resp.http.program = "second " + picky.thread(); }';
  expect((await load('second', body)).code).toBe(0);
  await done('vcl.use', 'second');
  const output = (await answers()).map((answer) => field(answer, 'program'));
  expect([...new Set(output)].sort()).toEqual(['second 0', 'second 1', 'second 2']);
  await done('vcl.use', 'boot');
  for (const answer of await answers()) expect(field(answer, 'program')).toBeUndefined();
  await done('vcl.discard', 'second');
  await until('it is gone', async () => !(await proxy.adm('vcl.list')).stdout.includes('second'));
});

it('one that a thread cannot run is in none, and the log has it once, refused', async () => {
  const before = (await proxy.counters())['MAIN.n_vcl'];
  const refused = await load('picky', 'import picky; sub vcl_init { picky.refuse(); }');
  expect(refused.code).not.toBe(0);
  expect(refused.stdout + refused.stderr).toContain('not on this thread');
  expect((await proxy.adm('vcl.list')).stdout).not.toContain('picky');
  expect((await proxy.adm('vcl.use', 'picky')).code).not.toBe(0);
  expect((await proxy.counters())['MAIN.n_vcl']).toBe(before);
  await done('vcl.label', 'after', 'boot');
  const [rd, wr, ...more] = await logged('vcl.load picky', 'Wr 200 0 ');
  expect(rd).toMatch(/^Rd vcl\.load picky /);
  expect(wr).toMatch(/^Wr 300 \d+ VCL "picky" Failed initialization/);
  expect(more).toEqual(['Rd vcl.label after boot', 'Wr 200 0 ']);
});

it('health that is set while a program is loaded is the same on every thread', async () => {
  const body = `import late; import directors;
sub vcl_init {
  late.nothing();
  new d = directors.round_robin();
  d.add_backend(default);
  new outer = directors.fallback();
  outer.add_backend(d.backend());
}
sub vcl_recv { set req.backend_hint = outer.backend(); return (pass); }`;
  const loading = load('slow', body);
  await until('the first thread has it', async () =>
    (await proxy.adm('backend.list', 'slow.*')).stdout.includes('slow.d '),
  );
  await done('backend.set_health', 'slow.d', 'sick');
  expect((await loading).code).toBe(0);
  await done('vcl.use', 'slow');
  expect(new Set((await answers()).map(({ status }) => status))).toEqual(new Set([503]));
  // In the log, too, one was over when the other began.
  const text = (await logged('vcl.load slow', 'Rd backend.set_health')).join();
  expect(text.indexOf('Loaded "vcl_slow')).toBeLessThan(text.indexOf('Rd backend.set_health'));
});

it('the list of programs has the transactions of all threads', async () => {
  let release = (): void => undefined;
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  origin.on('/held', () => [{ hold }, ...respond('200 OK', {}, 'x')]);
  const body = `import picky; sub vcl_recv { return (pass); }
sub vcl_deliver { set resp.http.thread = picky.thread(); }`;
  expect((await load('used', body)).code).toBe(0);
  await done('vcl.use', 'used');
  const all = await connections();
  const threads = (await answers(all)).map((answer) => field(answer, 'thread'));
  const others = all.filter((_, i) => threads[i] !== '0');
  for (const connection of others) connection.send(requestText('/held'));
  await until('all are held', () => origin.seen('/held').length === others.length);
  const listed = async (): Promise<string[]> =>
    ((await proxy.adm('vcl.list')).stdout.match(/^.* used$/gm) ?? []).map((line) => line.replace(/ +/g, ' '));
  // A request and its fetch.
  const running = 2 * others.length;
  expect(await listed()).toEqual([`active auto warm ${running} used`]);
  await done('vcl.use', 'boot');
  await done('vcl.state', 'used', 'cold');
  expect(await listed()).toEqual([`available cold busy ${running} used`]);
  // The first thread has removed it before another of its name arrives.
  await done('vcl.discard', 'used');
  expect((await load('used', body)).code).toBe(0);
  expect(await listed()).toEqual([`discarded cold busy ${running} used`, 'available auto warm 0 used']);
  release();
  for (const connection of others) await connection.response();
  await until('it is gone', async () => String(await listed()) === 'available auto warm 0 used');
});
