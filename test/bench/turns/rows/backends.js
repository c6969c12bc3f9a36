// Many backends and large acls: programs that are loaded, used, cooled and discarded, directors that choose among thousands of
// members, the lists of backends, metrics and the counters of all.

import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { connect } from '../../../../dist/modules/console/client/client.js';
import { freePort } from '../../servers/start.js';

const BACKENDS = [100, 1000, 10_000];

function backends(n, port, more = '') {
  return Array.from(
    { length: n },
    (_, i) => `backend b${i} { .host = "127.0.0.1"; .port = "${port}"; ${more} }`,
  ).join('\n');
}

/** A program with a director of this many backends, to which everything but /page is passed. */
function directed(kind, n, port, more) {
  const weight = kind === 'random' || kind === 'hash' ? ', 1' : '';
  const adds = Array.from({ length: n }, (_, i) => `d.add_backend(b${i}${weight});`);
  const pick = kind === 'hash' ? 'd.backend(bereq.url)' : 'd.backend()';
  return `vcl 4.1;
import directors;
${backends(n, port, more)}
sub vcl_init {
  new d = directors.${kind}();
  ${adds.join('\n  ')}
  ${kind === 'shard' ? 'd.reconfigure();' : ''}
}
sub vcl_recv { if (req.url != "/page") { return (pass); } }
sub vcl_backend_fetch { set bereq.backend = ${pick}; }
`;
}

function acl(n) {
  const networks = Array.from(
    { length: n },
    (_, i) => `  "${10 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}.0"/24;`,
  );
  return `vcl 4.1;
backend none none;
acl many {
${networks.join('\n')}
}
sub vcl_recv { if (client.ip ~ many) { return (synth(403)); } }
`;
}

/** This many kilobytes of subs, a hundred statements each. */
function large(n) {
  const subs = [];
  for (let i = 0, size = 0; size < n * 1000; i++) {
    const lines = Array.from(
      { length: 100 },
      (_, j) => `  if (req.url ~ "^/p${i}/s${j}/") { set req.http.X-Part = "p${i}s${j}" + req.http.Host; }`,
    );
    subs.push(`sub part${i} {\n${lines.join('\n')}\n}\n`);
    size += subs[i].length;
  }
  const calls = subs.map((_, i) => `  if (req.http.X-Which == "${i}") { call part${i}; }`);
  return `vcl 4.1;\nbackend none none;\n${subs.join('')}sub vcl_recv {\n${calls.join('\n')}\n}\n`;
}

/** This many statements in one sub. */
function long(n) {
  const lines = Array.from(
    { length: n },
    (_, i) => `  if (req.url == "/${i}") { set req.http.X-Which = "${i}"; }`,
  );
  return `vcl 4.1;\nbackend none none;\nsub vcl_recv {\n${lines.join('\n')}\n}\n`;
}

async function loaded({ dir, adm }, text, state = 'auto') {
  const file = join(dir, 'many.vcl');
  writeFileSync(file, text, { mode: 0o644 });
  await adm(`vcl.load many ${file} ${state}`);
}

function page(port, path) {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
      response.resume();
      response.on('end', resolve);
    }).on('error', reject);
  });
}

const load = (name, text, sizes = BACKENDS, more = {}) => ({
  name: `load of ${name}`,
  sizes,
  aim: 50,
  args: () => ['-p', 'cli_timeout=600'],
  load: (played) => loaded(played, text(played)),
  ...more,
});

/** A thousand fetches, each of which chooses. */
const picks = (kind, isSick = false) => ({
  name: `1000 choices of a ${kind} director${isSick ? ', all but one of them sick' : ''}`,
  sizes: [50, 500, 5000],
  aim: 10,
  origin: (_request, response) => response.end('x'),
  prepare: async (played) => {
    await loaded(played, directed(kind, played.n, played.originPort));
    await played.adm('vcl.use many');
    if (!isSick) return;
    await played.adm('backend.set_health many.b* sick');
    await played.adm(`backend.set_health many.b${played.n - 1} auto`);
  },
  load: async ({ port }) => {
    for (let i = 0; i < 1000; i += 10)
      await Promise.all(Array.from({ length: 10 }, (_, j) => page(port, `/${i + j}`)));
  },
});

const many = (kind) => async (played) => {
  await loaded(played, directed(kind, played.n, played.originPort));
  await played.adm('vcl.use many');
};

const command = (name, line, kind = 'random', sizes = BACKENDS) => ({
  name: `${name}, ${kind} director`,
  sizes,
  aim: 50,
  args: () => ['-p', 'cli_limit=99999999'],
  prepare: many(kind),
  load: ({ adm }) => adm(line),
});

/** Attaches to all counters, and leaves after their values have come so many times. */
async function attached(dir, times) {
  const client = await connect({ dir: join(dir, 'proxyd'), name: 'bench' });
  await new Promise((resolve, reject) => {
    let left = times;
    client.stat(
      { interval: 1 },
      {
        counters: () => undefined,
        values: () => --left === 0 && resolve(),
        end: (error) => reject(new Error(`no counters any more: ${error?.message}`)),
      },
    );
  });
  client.close();
}

let metricsPort = 0;

export default [
  load('a shard director', ({ n, originPort }) => directed('shard', n, originPort), [50, 500, 5000]),
  load('a random director', ({ n, originPort }) => directed('random', n, originPort)),
  load('a round_robin director, with probes', ({ n, originPort }) =>
    directed('round_robin', n, originPort, '.probe = { .interval = 1h; .initial = 3; }'),
  ),
  load('an acl', ({ n }) => acl(n), [1000, 10_000, 100_000], { manager: true }),
  load('a large program, in KB', ({ n }) => large(n), [50, 500, 5000], { manager: true }),
  load('a sub of many statements', ({ n }) => long(n), [300, 3000, 30_000], { manager: true }),
  {
    name: 'discard of a shard director',
    sizes: [50, 500, 5000],
    aim: 50,
    prepare: (played) => loaded(played, directed('shard', played.n, played.originPort)),
    load: ({ adm }) => adm('vcl.discard many'),
  },
  {
    name: 'cold and warm again',
    sizes: BACKENDS,
    aim: 50,
    prepare: (played) => loaded(played, directed('random', played.n, played.originPort)),
    load: async ({ adm }) => {
      await adm('vcl.state many cold');
      await adm('vcl.state many auto');
    },
  },
  command('backend.list', 'backend.list'),
  command('backend.list -p', 'backend.list -p'),
  command('backend.list -j -p', 'backend.list -j -p'),
  command('backend.list -p', 'backend.list -p', 'shard', [50, 500, 5000]),
  command('backend.set_health', 'backend.set_health b* sick'),
  ...['random', 'round_robin', 'fallback', 'hash', 'least_conn', 'shard'].map((kind) => picks(kind)),
  ...['random', 'round_robin', 'shard'].map((kind) => picks(kind, true)),
  {
    name: 'probes every five seconds, for ten seconds',
    sizes: BACKENDS,
    aim: 50,
    prepare: (played) => {
      const probe = '.probe = { .interval = 5s; .initial = 3; }';
      return loaded(played, directed('random', played.n, played.originPort, probe), 'cold');
    },
    load: async ({ adm }) => {
      await adm('vcl.state many warm');
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      // Otherwise it would never be quiet again.
      await adm('vcl.state many cold');
    },
  },
  {
    name: '/metrics of the manager',
    sizes: BACKENDS,
    aim: 50,
    manager: true,
    args: () => ['--metrics', `127.0.0.1:${metricsPort}`],
    program: () => 'sub vcl_hit { }',
    prepare: many('random'),
    load: () => page(metricsPort, '/metrics'),
  },
  {
    name: 'a console that attaches to all counters',
    sizes: BACKENDS,
    aim: 50,
    manager: true,
    program: () => 'sub vcl_hit { }',
    prepare: many('random'),
    load: ({ dir }) => attached(dir, 3),
  },
  {
    name: 'counters and their history, for ten seconds',
    sizes: BACKENDS,
    aim: 50,
    manager: true,
    prepare: many('random'),
    load: () => new Promise((resolve) => setTimeout(resolve, 10_000)),
  },
];

metricsPort = await freePort();
