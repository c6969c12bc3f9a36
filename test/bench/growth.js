// How the cost of a hit grows with what a program asks and with what a client sends, beside Varnish: CPU a request of the
// whole process tree, and what each row adds to the plain hit. Started by run.js --growth.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds } from './processes.js';
import { sleep, startProxyd, startScript, startVarnish } from './servers/start.js';

const SERVER_CPU = 0;
const LOAD_CPU = 1;
const many = (n, text) => Array.from({ length: n }, (_, i) => text(i)).join('\n');
const recv = (body) => `sub vcl_recv {\n${body}\n}`;

/** name, program, and what wrk sends besides. */
const ROWS = [
  ['plain', recv(''), []],
  [
    'acl of 10,000 networks',
    `acl big {\n${many(10_000, (i) => `"10.${i >> 8}.${i & 255}.0"/24;`)}\n}\n${recv('if (client.ip ~ big) { set req.http.x-in = "1"; }')}`,
    [],
  ],
  [
    '500 regexes with a literal start',
    recv(many(500, (i) => `if (req.url ~ "^/section${i}/") { set req.http.x-s = "${i}"; }`)),
    [],
  ],
  [
    '500 regexes without one',
    recv(many(500, (i) => `if (req.url ~ "[a-z]${i}(x|y)$") { set req.http.x-s = "${i}"; }`)),
    [],
  ],
  [
    '1,600 url ~ ... && header',
    recv(
      many(1600, (i) => `if (req.url ~ "^/s${i}/" && req.http.x-a${i % 20}) { set req.http.x-s = "${i}"; }`),
    ),
    [],
  ],
  ['50 request headers', recv(''), many(50, (i) => `x-header-${i}: value of ${i}`).split('\n')],
  ['Connection: close', recv(''), ['Connection: close']],
];

function wrk(port, seconds, headers) {
  const child = spawn(
    'taskset',
    [
      ...['-c', String(LOAD_CPU), 'wrk', '-t', '1', '-c', '64', '-d', `${seconds}s`],
      ...headers.flatMap((header) => ['-H', header]),
      `http://127.0.0.1:${port}/page`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let out = '';
  child.stdout.on('data', (d) => {
    out += d;
  });
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('exit', () => done(Number(/(\d+) requests in/.exec(out)?.[1] ?? 0)));
  });
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** Prints a line a row; `only` is part of the rows' names. */
export async function growth({ dir, seconds, rounds, only, say }) {
  const origin = await startScript(LOAD_CPU, 'origin', 'origin.js');
  const plain = {};
  // Each child that is started leaves one.
  process.setMaxListeners(100);
  say(
    `${'µs CPU a request, and added'.padEnd(34)} ${'proxyd'.padStart(16)} ${'varnishd'.padStart(16)}   ratio`,
  );
  try {
    for (const [i, [name, program, headers]] of ROWS.entries()) {
      if (i > 0 && only !== undefined && !name.includes(only)) continue;
      const home = join(dir, `row${i}`);
      mkdirSync(home);
      const servers = [
        ['proxyd', await startProxyd(SERVER_CPU, home, origin.port, program)],
        ['varnishd', await startVarnish(SERVER_CPU, home, origin.port, program)],
      ].filter(([, server]) => server !== null);
      const micros = Object.fromEntries(servers.map(([who]) => [who, []]));
      try {
        for (const [, server] of servers) await wrk(server.port, 2, headers);
        for (let round = 0; round < rounds; round++) {
          for (const [who, server] of servers) {
            const before = cpuSeconds(server.pid);
            const requests = await wrk(server.port, seconds, headers);
            await sleep(300);
            micros[who].push(((cpuSeconds(server.pid) - before) * 1e6) / requests);
          }
        }
      } finally {
        for (const [, server] of servers) await server.stop();
      }
      const figures = Object.entries(micros).map(([who, list]) => [who, median(list)]);
      if (i === 0) Object.assign(plain, Object.fromEntries(figures));
      const cells = figures.map(([who, value]) =>
        `${value.toFixed(1)} (+${Math.max(0, value - plain[who]).toFixed(1)})`.padStart(16),
      );
      const [ours, theirs] = figures.map(([, value]) => value);
      say(
        `${name.padEnd(34)} ${cells.join(' ')}   ${theirs === undefined ? '' : (ours / theirs).toFixed(2)}`,
      );
    }
  } finally {
    await origin.stop();
  }
}
