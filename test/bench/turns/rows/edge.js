// Commands on the queue of the edge connector, with very many entries in it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeRecord } from '../../../../dist/modules/daemon/edge/queue/journal.js';

/** Settings of a connector whose network is at this port. */
function settings(dir, port) {
  const path = join(dir, 'edge.conf');
  const fields = ['client_token', 'client_secret', 'access_token'].map((name) => `purge_${name} = x\n`);
  const network = `provider = fake\npurge_host = 127.0.0.1:${port}\ncalls = 10000\n${fields.join('')}`;
  writeFileSync(path, `${network}dir = ${join(dir, 'queue')}\nmax_entries = 1000000\n`, { mode: 0o600 });
  return path;
}

/** A connector whose network is unreachable, and a journal of this many entries in this state. */
function connector(dir, n, state) {
  const queue = join(dir, 'queue');
  mkdirSync(queue, { mode: 0o777, recursive: true });
  const entries = Array.from({ length: n }, (_, i) => ({
    put: {
      ...{ id: String(i + 1), kind: 'delete', type: 'url', network: 'staging', origin: 'vxid 1' },
      ...{ target: `https://www.example.com/some/page/${i}.html`, state, attempts: 9 },
      ...{ added: 0, due: 0, detail: '500 of the network; tried 9 times', poll: '' },
    },
  }));
  writeFileSync(join(queue, 'journal.0'), Buffer.concat(entries.map(encodeRecord)));
  return { EDGE_CONNECTOR_CONFIG: settings(dir, 1) };
}

const PROGRAM = (port) => `vcl 4.1; import edge; backend default { .host = "127.0.0.1:${port}"; }`;

/** Waits until nothing is left to be sent. */
async function sent(adm) {
  for (;;) {
    const { counters } = JSON.parse(await adm('edge.status -j'))[3];
    if (counters !== null && counters.queued + counters.inflight === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const SIZES = [1000, 10_000, 100_000];
const common = {
  sizes: SIZES,
  aim: 50,
  manager: true,
  // Cut replies cost less than whole ones.
  args: () => ['-p', 'cli_limit=99999999'],
  program: () => 'import edge; sub vcl_hit { }',
};

/** @type {import('../row.d.ts').Row[]} */
export default [
  ...['edge.dead', 'edge.dead -j', 'edge.retry all', 'edge.status -j'].map((line) => ({
    ...common,
    name: `${line}, entries`,
    env: (dir, n) => connector(dir, n, 'dead'),
    prepare: ({ adm }) => adm('edge.pause'),
    load: ({ adm }) => adm(line),
  })),
  ...['edge.queue', 'edge.queue -j'].map((line) => ({
    ...common,
    name: `${line}, entries`,
    env: (dir, n) => connector(dir, n, 'dead'),
    prepare: async ({ adm }) => {
      await adm('edge.pause');
      await adm('edge.retry all');
    },
    load: ({ adm }) => adm(line),
  })),
  {
    ...common,
    name: 'journal of the edge queue is read, entries',
    program: () => 'sub vcl_hit { }',
    env: (dir, n) => connector(dir, n, 'dead'),
    load: ({ adm, originPort }) => adm(`vcl.inline more ${JSON.stringify(PROGRAM(originPort))}`),
  },
  {
    ...common,
    name: 'edge queue is sent, entries',
    env: (dir, n) => connector(dir, n, 'dead'),
    origin: (request, response) => {
      request.resume();
      response.writeHead(201, { 'Content-Type': 'application/json' });
      response.end('{"httpStatus":201,"detail":"Request accepted","purgeId":"p"}');
    },
    prepare: async ({ adm, dir, originPort }) => {
      settings(dir, originPort);
      await adm(`vcl.inline more ${JSON.stringify(PROGRAM(originPort))}`);
    },
    load: async ({ adm }) => {
      await adm('edge.retry all');
      await sent(adm);
    },
  },
];
