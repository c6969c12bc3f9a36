// Several worker threads over one store: clients are spread, an object that one fetched is a hit on all, an invalidation
// holds everywhere once it is answered, and a thread that ends takes the worker along.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field, type Response, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const THREADS = 3;
const CLIENTS = 12;
/** A runtime without handles of listeners serves with one thread. */
const ONE_THREAD = process.env.NODE_OPTIONS?.includes('no-listener-handles') === true;
const box = new Sandbox('proxyd-smoke-threads');
let origin: Origin;
let proxy: RunningProxy;
let clients: ClientConnection[];

beforeAll(async () => {
  const folder = box.path('extensions');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'which.mjs'),
    `import { threadId, isMainThread } from 'node:worker_threads';
export const extension = {
  abi: 1,
  name: 'which',
  functions: {
    thread: { signature: 'INT thread()', call: () => (isMainThread ? 0 : threadId) },
    leave: { signature: 'VOID leave()', call: () => process.exit(3) },
  },
};
`,
  );
  origin = await Origin.start();
  origin.on('*', (_request, n) => respond('200 OK', { 'Cache-Control': 'max-age=100000' }, `v${n}`));
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `import which;
sub vcl_recv {
  if (req.method == "PURGE") { return (purge); }
  if (req.url == "/leave") { which.leave(); }
}
sub vcl_deliver { set resp.http.thread = which.thread(); }
`,
    ),
    params: { worker_threads: String(THREADS), vmod_path: folder },
  });
  clients = await Promise.all(Array.from({ length: CLIENTS }, () => ClientConnection.open(proxy.port)));
});
afterAll(async () => {
  for (const client of clients) client.close();
  await box.dispose();
  await origin.close();
});

const ask = async (client: ClientConnection, path: string, method = 'GET'): Promise<Response> => {
  client.send(requestText(path, { method }));
  return client.response();
};
const all = (path: string): Promise<Response[]> => Promise.all(clients.map((client) => ask(client, path)));

describe.skipIf(ONE_THREAD)('threads', () => {
  it('share the clients, the store and the counters', async () => {
    await ask(clients[0] as ClientConnection, '/one');
    const answers = await all('/one');
    expect(answers.map((answer) => answer.body.toString())).toEqual(answers.map(() => 'v1'));
    expect(new Set(answers.map((answer) => field(answer, 'thread'))).size).toBe(THREADS);
    expect(origin.seen('/one')).toHaveLength(1);
    const counters = await proxy.counters();
    const requests = Array.from({ length: THREADS }, (_, i) => counters[`THR.${i}.requests`] ?? 0);
    expect(Math.min(...requests)).toBeGreaterThan(0);
    expect(requests.reduce((sum, n) => sum + n)).toBe(CLIENTS + 1);
    expect(counters).toMatchObject({ 'MAIN.cache_miss': 1, 'MAIN.cache_hit': CLIENTS });
  });

  it('are all free of an object once its purge is answered', async () => {
    await all('/purged');
    expect((await ask(clients[0] as ClientConnection, '/purged', 'PURGE')).status).toBe(200);
    const answers = await all('/purged');
    expect(answers.map((answer) => answer.body.toString())).toEqual(answers.map(() => 'v2'));
    expect(origin.seen('/purged')).toHaveLength(2);
  });

  it('end together, and begin again', async () => {
    const before = proxy.workerPid();
    const last = await Promise.all(
      clients.map(async (client) => [client, field(await ask(client, '/one'), 'thread')]),
    );
    const [client] = last.find(([, thread]) => thread !== '0') as [ClientConnection, string];
    client.send(requestText('/leave'));
    await until('another worker', () => ![before, null].includes(proxy.workerPid()));
    await proxy.serving();
    expect((await proxy.get('/one')).body.toString()).toBe('v2');
    await proxy.counterReaches('MGT.child_start', 2);
  });
});
