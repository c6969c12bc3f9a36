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
${ports.map((_, i) => `  turns.add_backend(b${i});`).join('\n')}
}
sub vcl_recv {
  set req.backend_hint = turns.backend();
  if (req.url == "/which") { return (synth(200)); }
  if (req.url ~ "^/ban/") {
    std.ban("obj.http.x == " + req.url);
    return (synth(200));
  }
}
sub vcl_backend_response { set beresp.ttl = 1h; }
sub vcl_synth { set resp.http.thread = which.thread(); }
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
afterEach(() => {
  for (const connection of open.splice(0)) connection.close();
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
}, 60_000);
