// Commands on the queue of the edge connector, with very many entries in it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeRecord } from '../../../../dist/modules/daemon/edge/queue/journal-format.js';

/** A connector whose network cannot be reached, and a journal of so many entries in this state. */
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
  const settings = join(dir, 'edge.conf');
  const fields = ['client_token', 'client_secret', 'access_token'].map((name) => `purge_${name} = x\n`);
  writeFileSync(
    settings,
    `provider = fake\npurge_host = 127.0.0.1:1\n${fields.join('')}dir = ${queue}\nmax_entries = 1000000\n`,
    { mode: 0o600 },
  );
  return { EDGE_CONNECTOR_CONFIG: settings };
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
];
